"""
The doctor: every finding is provoked for real, is reported with its remedy, and hides no other; no
secret is shown.
"""

import hashlib
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from ctxgc.cli.app import app
from ctxgc.doctor import diagnose
from ctxgc.doctor.checks import Level
from ctxgc.doctor.file_checks import diagnosis_of, kind_of, mounts_of
from typer.testing import CliRunner

from gc_core import GCConfig, GCSession, Plugins
from tests.support.say import answer, user

ROOT = Path(__file__).parents[1]
KEY = "sk-never-shown-0123456789"
MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /data rw,relatime shared:2 - nfs4 server:/export rw
31 30 8:2 / /data/local\\040disk rw,relatime - xfs /dev/sdb1 rw
"""


@pytest.fixture
def directory(tmp_path):
    """A session that was closed."""
    with GCSession(
        GCConfig(strategy="gc_budget", context_limit=32_000), directory=tmp_path / "s", model="gpt-5"
    ) as made:
        made.append(user("Hello."))
        made.pre_send()
        made.post_turn(answer("Hello."))
        made.checkpoint()
    return tmp_path / "s"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution: a module and a dist-info directory with its entry point, on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def write(name, code, requires="", entry=None):
        (site / f"{name}.py").write_text(code)
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
        (info / "entry_points.txt").write_text(f"[gc_core]\n{entry or name} = {name}\n")

    return write


def toml(tmp_path, text):
    path = tmp_path / "gc.toml"
    path.write_text(textwrap.dedent(text))
    return path


def found(level, *arguments, environ=None, **options):
    """The findings of a level, each as subject, text and remedy."""
    findings = diagnose(*arguments, environ=environ or {}, **options)
    return [(each.subject, each.text, each.remedy) for each in findings if each.level is level]


def errors(*arguments, **options):
    return found(Level.ERROR, *arguments, **options)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


# --- all is well ----------------------------------------------------------------------------------------------------


def test_a_sound_installation_and_session_have_no_finding_to_act_on(directory):
    findings = diagnose(directory, environ={})
    assert {each.level for each in findings} == {Level.OK}
    subjects = {each.subject for each in findings}
    assert subjects >= {
        "python",
        "plugin",
        "tokenizer",
        "clock",
        "strategy",
        "extras",
        "model",
        "window",
        "lock",
        "files",
    }


def test_looking_changes_nothing(directory):
    def files():
        paths = sorted(path for path in directory.rglob("*") if path.is_file())
        return {path: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths}

    before = files()
    diagnose(directory, environ={})
    assert files() == before


# --- the installation -----------------------------------------------------------------------------------------------


def test_a_plugin_that_cannot_be_imported_is_named_with_the_cause(install):
    install("gc_aa_broken", "import there_is_no_such_module")
    install("gc_bb_broken", "raise RuntimeError('no luck')")
    (first, second) = errors()
    assert first[0] == second[0] == "plugin"
    assert "gc_aa_broken failed in loading: ModuleNotFoundError" in first[1]
    assert first[2] == "install what brings the module there_is_no_such_module, or pip uninstall gc_aa_broken"
    assert "RuntimeError: no luck" in second[1]
    assert second[2] == "pip install --upgrade gc_bb_broken, or pip uninstall gc_bb_broken"


@pytest.mark.parametrize("entry", ["squatter", "gc_budget"])
def test_a_distribution_that_takes_a_name_of_gc_core_is_reported(install, entry):
    code = """
        import gc_core as gc

        @gc.hookimpl
        def gc_register_strategies(register):
            register("gc_budget", gc.NoGC)
    """
    install("squatter", textwrap.dedent(code), entry=entry)
    ((subject, text, remedy),) = errors()
    assert (subject, text.partition(":")[0]) == ("plugin", "squatter")
    assert "budget" in text
    assert remedy == "pip install --upgrade squatter, or pip uninstall squatter"
    assert any("gc-budget" in each.text for each in diagnose(environ={}) if each.level is Level.OK)


def test_a_plugin_for_another_gc_core_is_reported(install):
    install("gc_later", "", requires="Requires-Dist: gc-core>=99\nRequires-Dist: attrs\n")
    ((subject, text, remedy),) = errors()
    assert (subject, remedy) == ("versions", 'pip install "gc-core>=99"')
    assert "gc_later asks for gc-core>=99; " in text


# --- the configuration ----------------------------------------------------------------------------------------------


def test_a_misspelt_key_is_reported_with_its_line_and_the_key_that_was_meant(tmp_path):
    path = toml(tmp_path, '# mine\n[gc]\nstrategy = "gc_budget"\ntreshold_percent = 75\n')
    ((subject, text, remedy),) = errors(config=path)
    assert subject == "configuration"
    assert text.startswith(f"{path}, line 4: unknown key 'treshold_percent' = 75")
    assert remedy == "did you mean threshold_percent?"


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("[gc]\nthreshold_percent = 170\n", 2, "threshold_percent = 170"),
        ("[other]\ntarget_percent = 1\n\n[gc]\ntarget_percent = -1\n", 5, "target_percent = -1"),
        ('[gc]\n\n[gc.tools]\nread = "eternal"\n', 4, "tools.read = 'eternal'"),
    ],
)
def test_a_bad_value_is_reported_with_its_line(body, line, said, tmp_path):
    path = toml(tmp_path, body)
    ((_, text, _),) = errors(config=path)
    assert text.startswith(f"{path}, line {line}: {said}")


def test_a_file_that_is_missing_or_not_toml_is_reported(tmp_path):
    ((_, text, _),) = errors(config=toml(tmp_path, "[gc]\nstrategy = \n"))
    assert "cannot be read" in text
    assert "line 2" in text
    ((_, text, remedy),) = errors(config=tmp_path / "nowhere.toml")
    assert "nowhere.toml cannot be read" in text
    assert remedy == "name the file that there is"


def test_a_misspelt_variable_is_reported():
    ((_, text, _),) = errors(environ={"GC_TRESHOLD_PERCENT": "75"})
    assert "GC_TRESHOLD_PERCENT" in text
    assert "GC_THRESHOLD_PERCENT" in text


def test_what_the_configuration_names_has_to_be_installed_and_take_its_options(tmp_path):
    path = toml(
        tmp_path,
        """\
        [gc]
        strategy = ["gc_budgt", "gc_truncate"]
        summarizer = "poet"
        memory_backend = "redis"
        compression_profile = "sailing"
        [gc.strategies.gc_truncate]
        spare = 3
        [gc.strategies.gc_hybird]
        """,
    )
    findings = {text.partition(";")[0]: subject for subject, text, _ in errors(config=path)}
    assert findings == {
        "no strategy 'gc_budgt'": "strategy",
        "strategy 'gc_truncate' has no option 'spare'": "strategy",
        "no summarizer 'poet'": "summarizer",
        "no memory backend 'redis'": "memory backend",
        "no compression profile 'sailing'": "profile",
        "strategies.gc_hybird: no such strategy": "strategy",
    }
    assert "did you mean gc_hybrid?" in str(errors(config=path))


def test_an_extra_that_a_setting_needs_is_reported(tmp_path):
    path = toml(tmp_path, '[gc]\nsummarizer = "llm"\nsummarization_model = "gpt-5-mini"\n')
    code = f"""
        import sys
        sys.modules["litellm"] = None
        from ctxgc.doctor import diagnose
        print(*(each.remedy for each in diagnose(config={str(path)!r}, environ={{}})), sep="\\n")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert 'pip install "gc-core[llm]"' in done.stdout.splitlines(), done.stderr


def test_keys_are_checked_and_never_shown(tmp_path):
    path = toml(tmp_path, '[gc]\nsummarizer = "llm"\nsummarization_model = "claude-sonnet-4-5"\n')
    ((subject, _, remedy),) = found(Level.WARNING, config=path)
    assert (subject, remedy.split(";")[0]) == ("key", "set ANTHROPIC_API_KEY")
    findings = found(Level.OK, config=path, environ={"ANTHROPIC_API_KEY": KEY})
    assert ("key", "ANTHROPIC_API_KEY is set (not shown)", "") in findings
    wrong = toml(tmp_path, f'[gc]\nsummarizer = "llm"\nsummarizers = {{ api_key = "{KEY}" }}\n')
    assert "[not shown]" in errors(config=wrong)[0][1]
    for environ, file in (({"ANTHROPIC_API_KEY": KEY}, wrong), ({"GC_STRATEGY": KEY, "OTHER_TOKEN": KEY}, None)):
        assert KEY not in str(diagnose(config=file, environ=environ))


def test_the_directory_where_the_doctor_is_called_is_no_password(directory):
    shell = {"PWD": str(directory), "OLDPWD": str(directory.parent)}
    assert str(directory) in str(diagnose(directory, environ=shell))
    assert KEY not in str(diagnose(environ={"GC_STRATEGY": KEY, "DATABASE_PWD": KEY}))


# --- the model ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "level", "subject", "said"),
    [
        ("llama-of-mine", Level.WARNING, "model", "is not listed"),
        ("claude-opus-5", Level.NOTE, "model", "estimated"),
        ("gpt-4o", Level.WARNING, "window", "is listed with 128,000 tokens"),
    ],
)
def test_a_models_counts_and_window_are_reported(model, level, subject, said, tmp_path):
    GCSession(GCConfig(context_limit=1_000_000), directory=tmp_path / "s", model=model).close()
    findings = [(named, text) for named, text, remedy in found(level, tmp_path / "s") if remedy]
    assert [text for named, text in findings if named == subject and said in text]


# --- a session's files ----------------------------------------------------------------------------------------------


def test_a_directory_without_a_session_is_reported(tmp_path):
    ((subject, text, _),) = errors(tmp_path)
    assert subject == "session"
    assert "holds no session" in text


def test_a_damaged_log_is_reported_and_hides_nothing_else(directory):
    log = directory / "master.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b'"role"', b'"rule"', 1)
    log.write_bytes(b"".join(lines))
    findings = errors(directory)
    assert any(
        subject == "files" and "master.jsonl" in text and "backup" in remedy for subject, text, remedy in findings
    )
    assert found(Level.OK, directory)[-1][0] == "file system"


def test_a_torn_line_is_a_warning_that_the_next_open_mends(directory):
    with (directory / "master.jsonl").open("ab") as log:
        log.write(b'{"at":3,"items":["i')
    ((subject, text, remedy),) = found(Level.WARNING, directory)
    assert subject == "files"
    assert "torn bytes" in text
    assert "GCSession.open mends it" in remedy
    assert errors(directory) == []


HOLDER = """
import sys
from gc_core import GCSession
session = GCSession.open(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/locks").is_file(), reason="who holds a lock is known on Linux alone")
def test_who_holds_the_lock_is_named_and_a_stopped_one_is_a_warning(directory):
    command = [sys.executable, "-c", HOLDER, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:  # noqa: S603 - ours
        try:
            assert holder.stdout.readline() == "held\n"
            ((subject, text, _),) = found(Level.NOTE, directory)
            assert subject == "lock"
            assert f"held by process {holder.pid} (" in text
            os.kill(holder.pid, signal.SIGSTOP)
            os.waitpid(holder.pid, os.WUNTRACED)
            ((_, text, remedy),) = found(Level.WARNING, directory)
            assert f"process {holder.pid}" in text
            assert remedy.startswith(f"kill -CONT {holder.pid}")
        finally:
            holder.kill()
    assert ("lock", "no process is writing the session", "") in found(Level.OK, directory)


def test_a_lock_that_a_dead_process_left_behind_is_reported(directory):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    (directory / "lock").write_text(f"{gone.pid}\nhere\n")
    ((subject, text, remedy),) = errors(directory)
    assert subject == "lock"
    assert f"process {gone.pid}, which has ended" in text
    assert remedy == f"rm {directory / 'lock'}"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_directory_that_may_not_be_written_is_reported(directory):
    directory.chmod(0o500)
    ((subject, _, remedy),) = errors(directory)
    directory.chmod(0o700)
    assert subject == "session"
    assert "chmod" in remedy


def test_a_directory_that_others_may_enter_is_reported(directory):
    directory.chmod(0o777)
    ((subject, text, remedy),) = found(Level.WARNING, directory)
    assert (subject, "mode 777" in text, remedy.startswith(f"chmod 700 {directory}")) == ("session", True, True)


def test_a_clock_that_was_set_back_is_reported(directory):
    later = time.time() + 3_600
    os.utime(directory / "master.jsonl", (later, later))
    ((subject, text, _),) = found(Level.WARNING, directory)
    assert subject == "clock"
    assert "in the future" in text


@pytest.mark.parametrize(
    ("place", "kind", "level"),
    [("/data/x", "nfs4", Level.WARNING), ("/data/local disk/x", "xfs", Level.OK), ("/elsewhere", "ext4", Level.OK)],
)
def test_a_network_file_system_is_reported(place, kind, level):
    assert kind_of(Path(place), mounts_of(MOUNTS)) == kind
    assert diagnosis_of(kind).level is level


# --- as a command ---------------------------------------------------------------------------------------------------


def test_the_command_exits_with_1_after_an_error_and_states_the_remedy(tmp_path, directory):
    path = toml(tmp_path, '[gc]\nmemory_backnd = "files"\n')
    done = run("doctor", "--config", path)
    assert done.exit_code == 1
    assert "-> did you mean memory_backend?" in done.stdout
    done = run("doctor", directory, "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["healthy"]) == (0, True)
    assert {"level", "subject", "text", "remedy"} == set(document["findings"][0])


def test_a_session_with_unreadable_settings_is_reported_and_the_rest_continues(directory):
    shutil.rmtree(directory / "checkpoints")
    ledger = directory / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"context_limit":32000', '"context_limit":-5'))
    findings = errors(directory, plugins=Plugins.discover())
    assert any("stored configuration is no longer valid" in text for _, text, _ in findings)
    assert ("tokenizer", "o200k_base loads without a network", "") in found(Level.OK, directory)


def test_what_the_system_refuses_is_a_finding_and_ends_nothing(tmp_path):
    ((subject, text, _),) = errors(config=tmp_path / ("n" * 300))
    assert (subject, "File name too long" in text) == ("configuration", True)
    findings = found(Level.OK, tmp_path / ("n" * 300))
    assert "clock" in [subject for subject, _, _ in findings]


def test_every_extra_for_users_is_checked():
    (text,) = [text for subject, text, _ in found(Level.OK) if subject == "extras"]
    found_in = (importlib.metadata.metadata(name) for name in ("gc-core", "ctxgc"))
    extras = {extra for metadata in found_in for extra in metadata.get_all("Provides-Extra")}
    assert all(extra in text for extra in extras - {"cli", "dev", "docs"})
