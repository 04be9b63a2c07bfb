"""
Takes away from this process what Windows lacks, and refuses what Windows refuses: run before anything else is imported.

It stands for a machine that is not here. What it cannot fake: Windows' own paths, locks and rights.
"""

import os
import sys
from pathlib import Path

MODULES = ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty")
NAMES = (
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"),
    *("fchdir", "fchown", "fork", "forkpty", "killpg", "lockf", "mkfifo", "posix_fadvise", "posix_fallocate"),
    *("pread", "preadv", "pwrite", "pwritev", "register_at_fork", "sysconf"),
    *("geteuid", "getgid", "getgroups", "getuid"),
)
LISTED = Path("/proc/self/fd")


def take_away() -> None:
    """Modules and names go; a directory cannot be opened, nor a file removed or replaced that is open."""
    for name in MODULES:
        sys.modules[name] = None
    for name in NAMES:
        if hasattr(os, name):
            delattr(os, name)
    os.open = _refusing_directories(os.open)
    os.unlink, os.remove = _refusing_open_files(os.unlink), _refusing_open_files(os.remove)
    os.replace, os.rename = _refusing_open_files(os.replace), _refusing_open_files(os.rename)


def _refusing_directories(call):
    def opened(path, *arguments, **options):
        if os.path.isdir(path):  # noqa: PTH112 - pathlib asks this module
            raise PermissionError(13, "Permission denied", path)
        return call(path, *arguments, **options)

    return opened


def _refusing_open_files(call):
    def done(*paths, **options):
        for path in paths:
            if isinstance(path, (str, os.PathLike)) and os.path.realpath(path) in _open_files():
                raise PermissionError(13, "The process cannot access the file: it is being used", os.fspath(path))
        return call(*paths, **options)

    return done


def _open_files() -> set[str]:
    found = set()
    for name in os.listdir(LISTED) if LISTED.exists() else ():  # noqa: PTH208
        try:
            found.add(os.readlink(LISTED / name))  # noqa: PTH115
        except OSError:
            continue
    return found
