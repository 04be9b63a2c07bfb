"""Checks that gc-core is installed and configured correctly: findings, each with its remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from ctxgc.doctor.agent_checks import check_agents
from ctxgc.doctor.checks import (
    Check,
    Diagnosis,
    Level,
    Patient,
    check_clock,
    check_extras,
    check_keys,
    check_model,
    check_names,
    check_plugins,
    check_python,
    check_tokenizers,
    check_versions,
    masked,
    secrets_of,
)
from ctxgc.doctor.file_checks import (
    check_directory,
    check_file_system,
    check_files,
    check_lock,
    check_space,
    check_times,
)
from gc_core.errors import ConfigError, GCError, LogError
from gc_core.plugins.manager import Plugins
from gc_core.session.config_loading import load_config
from gc_core.storage.ledger import Opened
from gc_core.storage.master_log import FILE_NAME
from gc_core.storage.state import Settings
from gc_core.storage.store import Store
from gc_core.values.config import GCConfig
from gc_core.values.nearest import nearest

CHECKS: tuple[Check, ...] = (
    check_python,
    check_plugins,
    check_versions,
    check_tokenizers,
    check_clock,
    check_names,
    check_extras,
    check_keys,
    check_model,
    check_directory,
    check_lock,
    check_space,
    check_file_system,
    check_files,
    check_times,
    check_agents,
)
"""The checks in order; the configuration comes before them."""

_NAMES = tuple(field.name for field in attrs.fields(GCConfig))
_KEY = re.compile(r"unknown key '([^']+)'|([A-Za-z_][\w.]*) =")
_TABLE = re.compile(r"\s*\[([^\]]+)\]")


def diagnose(
    directory: str | Path | None = None,
    *,
    config: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    plugins: Plugins | None = None,
) -> tuple[Diagnosis, ...]:
    """
    Return all findings on the installation, the configuration and, if one is named, a session.

    Changes nothing, takes no lock and opens no connection. The configuration is that of the file and of the ``GC_*``
    variables; without a file, the one with which the session was last opened. A check that cannot run, because of a
    GCError or because the system refuses, is a separate error finding, and the other checks continue. No value of a
    key is in any finding.

    Args:
        directory: A session's, or None.
        config: A TOML file with a ``[gc]`` table, or None.
        environ: The environment's variables; by default those of the process.
        plugins: The installed plugins; by default found again.

    """
    variables = os.environ if environ is None else environ
    patient = Patient(
        directory=None if directory is None else Path(directory).absolute(),
        environ=variables,
        plugins=plugins or Plugins.discover(),
    )
    file = None if config is None else Path(config)
    patient, found = _configured(patient, file)
    for check in CHECKS:
        found += _run(check, patient)
    secrets = secrets_of(variables, file, patient.config)
    return tuple(
        attrs.evolve(each, text=masked(each.text, secrets), remedy=masked(each.remedy, secrets)) for each in found
    )


def _run(check: Check, patient: Patient) -> list[Diagnosis]:
    """Return the findings of a check; one that cannot run is a finding too, and hides no other."""
    try:
        return list(check(patient))
    except (GCError, OSError) as error:
        subject = check.__name__.removeprefix("check_").replace("_", " ")
        return [Diagnosis(level=Level.ERROR, subject=subject, text=str(error), remedy="mend what the text names")]


# -- the configuration -----------------------------------------------------------------------------------------------


def _configured(patient: Patient, file: Path | None) -> tuple[Patient, list[Diagnosis]]:
    """Return the patient with the configuration to check, and the session's model."""
    found: list[Diagnosis] = []
    opened = None
    try:
        opened = None if patient.directory is None else _opened(patient.directory)
        if opened is not None:
            patient = attrs.evolve(patient, model=opened.model, format=opened.format)
            patient = attrs.evolve(patient, config=Settings.of(opened, None, None).config)
    except (LogError, OSError) as error:
        remedy = "give a configuration with --config, or restore the directory"
        found.append(Diagnosis(level=Level.ERROR, subject="session", text=str(error), remedy=remedy))
    if file is None and patient.config is not None:
        text = "that with which the session was opened last"
        return patient, [*found, Diagnosis(level=Level.OK, subject="configuration", text=text)]
    try:
        patient = attrs.evolve(patient, config=load_config(file, environ=patient.environ))
    except ConfigError as error:
        return patient, [*found, _refused(file, error)]
    text = "defaults and GC_* variables; no file was named" if file is None else f"{file} is valid"
    return patient, [*found, Diagnosis(level=Level.OK, subject="configuration", text=text)]


def _opened(directory: Path) -> Opened | None:
    """Return how a session was last opened; None if there is none, which another check reports. Raises LogError."""
    if not (directory / FILE_NAME).is_file():
        return None
    store = Store(directory, writable=False)
    try:
        return store.settings()
    finally:
        store.close()


def _refused(file: Path | None, error: ConfigError) -> Diagnosis:
    """Return what is wrong, with the line of the file that contains it, and the key that was probably meant."""
    text, remedy = (
        str(error).removeprefix(f"configuration {file}: "),
        "correct it; docs/reference/configuration.md has every key",
    )
    named = _KEY.match(text)
    key = "" if named is None else named.group(1) or named.group(2)
    near = nearest(key, _NAMES) if key and key not in _NAMES else ""
    if near:
        remedy = f"did you mean {near}?"
    line = 0 if file is None or not key else _line_of(file, key)
    where = f"{file}, line {line}: " if line else "" if file is None or str(file) in text else f"{file}: "
    if file is not None and not os.access(file, os.R_OK):
        remedy = "name the file that there is"
    return Diagnosis(level=Level.ERROR, subject="configuration", text=where + text, remedy=remedy)


def _line_of(file: Path, key: str) -> int:
    """Return the line, from 1, of a key of ``[gc]``, or of its table; 0 if it is not in the file."""
    table = ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        header = _TABLE.match(line)
        if header is not None:
            table = header.group(1).strip()
            if table == f"gc.{key}":
                return number
        else:
            prefix = f"{table}.".removeprefix("gc.") if table.startswith("gc.") else ""
            if table.partition(".")[0] == "gc" and re.match(rf"\s*{re.escape(key.removeprefix(prefix))}\s*=", line):
                return number
    return 0
