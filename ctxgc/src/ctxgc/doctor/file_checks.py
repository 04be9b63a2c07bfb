"""The doctor's checks of a session's directory: read-only, without a lock, also while it is written."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from ctxgc.doctor.checks import Diagnosis, Level, Patient
from gc_core.storage.audit import Finding, verify
from gc_core.storage.master_log import FILE_NAME
from gc_core.values.folders import OTHERS

LOCK_NAME = "lock"
"""The file in a session's directory that its writer locks; see docs/reference/memory.md."""

LITTLE_SPACE, NO_SPACE = 1 << 30, 50 << 20
"""Free bytes below which a session will soon, or probably already, fail to write."""

_AHEAD_SECONDS = 120.0
"""The tolerated difference between two machines' clocks."""

_MENDED_BY_OPENING = ("torn bytes after the last whole line", "which the next GCSession.open takes back")

_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
     "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs"}
)  # fmt: skip
"""Types of file systems, in Linux's terms, whose locks or writes may not be reliable between machines."""


@attrs.frozen(kw_only=True)
class Mount:
    """The mount point of a file system, and its type."""

    point: Path
    kind: str


def check_directory(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether there is a session, and whether it may be written."""
    directory = patient.directory
    if directory is None:
        return
    if not (directory / FILE_NAME).is_file():
        text = f"{directory} holds no session: there is no {FILE_NAME}"
        yield Diagnosis(level=Level.ERROR, subject="session", text=text, remedy="name a directory that holds one")
        return
    shut = [path.name for path in (directory, *sorted(directory.glob("*.jsonl"))) if not _may_write(path)]
    if shut:
        text = f"{', '.join(shut)} cannot be written by this user"
        remedy = f"chown or chmod u+rwX {directory}; reading works as it is"
        yield Diagnosis(level=Level.ERROR, subject="session", text=text, remedy=remedy)
    elif (mode := stat.S_IMODE(directory.stat().st_mode)) & OTHERS:
        text = f"others than its owner may enter {directory}, or change what is in it (mode {mode:o})"
        remedy = f"chmod 700 {directory}; opening the session does it where the directory is this user's"
        yield Diagnosis(level=Level.WARNING, subject="session", text=text, remedy=remedy)
    else:
        yield Diagnosis(level=Level.OK, subject="session", text=f"{directory} can be written")


def check_lock(patient: Patient) -> Iterator[Diagnosis]:
    """Who holds the lock. The system gives it back when its process ends, so only a soft lock can be stale."""
    path = (patient.directory or Path()) / LOCK_NAME
    if patient.directory is None or not path.is_file():
        return
    soft = _soft_holder(path)
    if soft and not _lives(soft):
        text = f"{path} was left behind by process {soft}, which has ended"
        yield Diagnosis(level=Level.ERROR, subject="lock", text=text, remedy=f"rm {path}")
        return
    holders = (soft,) if soft else lock_holders(path)
    if holders is None:
        text = "cannot tell who holds the lock on this system"
        yield Diagnosis(level=Level.NOTE, subject="lock", text=text)
    for holder in holders or ():
        yield _held_by(holder)
    if holders == ():
        yield Diagnosis(level=Level.OK, subject="lock", text="no process is writing the session")


def check_space(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether there is room on the disk: a message that cannot be written is refused."""
    if patient.directory is None or not patient.directory.is_dir():
        return
    free = shutil.disk_usage(patient.directory).free
    text = f"{free / (1 << 30):,.1f} GiB free where {patient.directory.name} lies"
    level = Level.ERROR if free < NO_SPACE else Level.WARNING if free < LITTLE_SPACE else Level.OK
    remedy = "" if level is Level.OK else "make room, or move the session"
    yield Diagnosis(level=level, subject="disk", text=text, remedy=remedy)


def check_file_system(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether the directory is on a network, where a lock may only apply to this machine."""
    table = Path("/proc/self/mountinfo")
    if patient.directory is None or not table.is_file() or not patient.directory.is_dir():
        return
    kind = kind_of(patient.directory, mounts_of(table.read_text(encoding="utf-8", errors="replace")))
    yield diagnosis_of(kind)


def check_files(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether log, ledger, checkpoints and index agree; reads all of them."""
    directory = patient.directory
    if directory is None or not (directory / FILE_NAME).is_file():
        return
    findings = verify(directory)
    for finding in findings:
        yield _disagreement(finding)
    if not findings:
        yield Diagnosis(level=Level.OK, subject="files", text="log, index, ledger, digests agree")


def check_times(patient: Patient) -> Iterator[Diagnosis]:
    """Yield whether the log was last written in the past: otherwise the clock was set back since."""
    path = (patient.directory or Path()) / FILE_NAME
    if patient.directory is None or not path.is_file():
        return
    ahead = path.stat().st_mtime - time.time()
    if ahead > _AHEAD_SECONDS:
        text = f"the log was last written {ahead:,.0f} seconds in the future: the clock was set back since"
        remedy = "set the clock; ages of the prompt cache are wrong until then"
        yield Diagnosis(level=Level.WARNING, subject="clock", text=text, remedy=remedy)


# -- locks -----------------------------------------------------------------------------------------------------------


def lock_holders(path: Path, table: Path = Path("/proc/locks")) -> tuple[int, ...] | None:
    """
    Return ids of the processes that hold the lock, as the kernel lists them (Linux); None where it does not.

    Trying the lock would show it too, but a session that is opened at that moment would be refused.
    """
    if not table.is_file():
        return None
    found = path.stat()
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    lines = (line.split() for line in table.read_text(encoding="utf-8").splitlines())
    return tuple(int(words[4]) for words in lines if "FLOCK" in words and "->" not in words and words[5] == device)


def _held_by(holder: int) -> Diagnosis:
    state = _state_of(holder)
    name = f"process {holder}" + (f" ({state[0]})" if state[0] else "")
    if state[1] in {"T", "t", "Z"}:
        text = f"held by {name}, which is stopped"
        remedy = f"kill -CONT {holder}, or end it: the lock is free then"
        return Diagnosis(level=Level.WARNING, subject="lock", text=text, remedy=remedy)
    text = f"held by {name}: it writes the session"
    return Diagnosis(level=Level.NOTE, subject="lock", text=text, remedy="commands that only read work meanwhile")


def _state_of(process: int) -> tuple[str, str]:
    """Return name and state letter of a process, as Linux has them; "" if unknown."""
    try:
        name, _, rest = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")
    except OSError:
        return "", ""
    return name.partition("(")[2], rest.split()[0]


def _soft_holder(path: Path) -> int:
    """Return the process that a lock file names if the system has no locks; 0 if it names none."""
    try:
        first = path.read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()
    except OSError:
        return 0
    return int(first) if first.isascii() and first.isdigit() else 0


def _lives(process: int) -> bool:
    if os.name == "nt":  # a signal ends the process there, whichever it is
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


# -- file systems ----------------------------------------------------------------------------------------------------


def mounts_of(table: str) -> tuple[Mount, ...]:
    """Return the mounts of a ``/proc/self/mountinfo`` (proc(5): the type comes after a lone hyphen)."""
    found = []
    for line in table.splitlines():
        front, _, rest = line.partition(" - ")
        words, kind = front.split(), rest.split()
        if len(words) > 4 and kind:  # noqa: PLR2004 - the fifth word is the place
            found.append(Mount(point=Path(words[4].encode().decode("unicode_escape")), kind=kind[0]))
    return tuple(found)


def kind_of(directory: Path, mounts: Sequence[Mount]) -> str:
    """Type of the file system that a directory lies on, or "": of the deepest mount above it, the last there."""
    place = directory.resolve()
    above = [mount for mount in mounts if place.is_relative_to(mount.point)]
    deepest = max((len(mount.point.parts) for mount in above), default=0)
    return next((mount.kind for mount in reversed(above) if len(mount.point.parts) == deepest), "")


def diagnosis_of(kind: str) -> Diagnosis:
    """Return the diagnosis of a type of file system."""
    if kind in _NETWORK:
        text = f"the directory is on {kind}: another machine may not see the lock, and writes may come late"
        remedy = "keep a session on a local disk, or make sure that only one machine writes it"
        return Diagnosis(level=Level.WARNING, subject="file system", text=text, remedy=remedy)
    return Diagnosis(level=Level.OK, subject="file system", text=f"{kind or 'of no known type'}, local")


# -- files -----------------------------------------------------------------------------------------------------------


def _disagreement(finding: Finding) -> Diagnosis:
    if finding.text.endswith(_MENDED_BY_OPENING):
        remedy = "nothing, where a session is being written; else the next GCSession.open mends it"
        return Diagnosis(level=Level.WARNING, subject="files", text=str(finding), remedy=remedy)
    remedy = "restore the directory from a backup; ctxgc export --whole exports the readable part"
    return Diagnosis(level=Level.ERROR, subject="files", text=str(finding), remedy=remedy)


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK | (os.X_OK if path.is_dir() else 0))
