"""The contract of memory backends."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

from gc_core.plugins.contract import MemoryBackend
from gc_core.testing.contract import Contract, rule

_KEY = "000000000012345-000000000000678.json"
_KEYS = (_KEY, "a", "Z", "0", "a-b_c.d", "aa", "-", "_", "x" * 200)
_DATA = (b"", b"\0", bytes(range(256)) * 3, "a letter \u4e2d".encode(), b"\r\n\x1a\xff", b"12", b"y" * 1_000_000)
_LONG = 300_000
"""The size of a value that is not written in one piece by chance."""
_ROUNDS = 25


class MemoryBackendContract(Contract):
    """
    The rules for memory backends. Subclass it as ``class TestMine(MemoryBackendContract)``.

    Attributes:
        backend: The class, created with a session's directory; or override ``make``.
        lasting: What it stores outlives the object: another one for the same directory reads it.

    """

    backend: ClassVar[Callable[[Path], MemoryBackend] | None] = None
    lasting: ClassVar[bool] = True

    def make(self, directory: Path) -> MemoryBackend:
        """Return a backend for the session in this directory."""
        backend = type(self).backend
        assert backend is not None, f"{type(self).__name__} names no backend: set `backend` or override make()"
        return backend(directory)

    @rule
    def test_is_a_backend(self) -> None:
        """It has write, read, delete and keys, and is created with a directory."""
        with self._made() as backend:
            assert isinstance(backend, MemoryBackend), f"{backend!r:.100} lacks write, read, delete or keys"

    @rule
    def test_reads_what_was_written(self) -> None:
        """Every byte is read back, for any value and under any key."""
        with self._made() as backend:
            for key in _KEYS:
                for data in _DATA:
                    backend.write(key, data)
                    found: object = backend.read(key)
                    assert isinstance(found, bytes), f"reads {found!r:.60} for {key[:40]!r}; expected bytes"
                    assert found == data, f"{len(data):,} bytes under {key[:40]!r} come back as {found!r:.60}"

    @rule
    def test_knows_nothing_of_other_keys(self) -> None:
        """A key that was never written is None, and deleting it is not an error."""
        with self._made() as backend:
            backend.write("a", b"1")
            found = backend.read("b")
            assert found is None, f"reads {found!r:.60} where nothing was written; expected None"
            backend.delete("b")
            assert backend.read("a") == b"1", "deleting another key has changed this one"

    @rule
    def test_overwrites_as_a_whole(self) -> None:
        """The newest value replaces the old one completely, also if it is shorter."""
        with self._made() as backend:
            for data in (b"long " * 1_000, b"short", b""):
                backend.write(_KEY, data)
                assert backend.read(_KEY) == data, f"{len(data)} bytes over longer ones come back otherwise"
            keys = list(backend.keys())
            assert keys == [_KEY], f"has the keys {keys} after writing one three times; expected it once"

    @rule
    def test_deletes(self) -> None:
        """Deleted keys are gone, and no others."""
        with self._made() as backend:
            for key in ("a", "b", "c"):
                backend.write(key, key.encode())
            backend.delete("b")
            backend.delete("b")
            assert backend.read("b") is None, "reads a deleted key"
            assert list(backend.keys()) == ["a", "c"], f"has the keys {list(backend.keys())}; expected ['a', 'c']"

    @rule
    def test_tells_its_keys_in_order(self) -> None:
        """The keys are sorted, all of them or those with a prefix; a new backend has none."""
        with self._made() as backend:
            assert list(backend.keys()) == [], f"has the keys {list(backend.keys())} before anything was written"
            for key in _KEYS[::-1]:
                backend.write(key, b"1")
            for prefix in ("", "a", "a-", "0", "nothing"):
                expected = sorted(key for key in _KEYS if key.startswith(prefix))
                found = list(backend.keys(prefix))
                assert found == expected, f"keys({prefix!r}) = {found}; expected {expected}"

    @rule
    def test_lasts(self) -> None:
        """Another object for the same directory reads it: a session is opened again."""
        if not self.lasting:
            raise unittest.SkipTest("it is not declared as lasting")
        with tempfile.TemporaryDirectory() as directory:
            self.make(Path(directory)).write(_KEY, b"kept")
            found = self.make(Path(directory)).read(_KEY)
            assert found == b"kept", f"another object for the same directory reads {found!r:.60}; expected b'kept'"
            self.make(Path(directory)).delete(_KEY)
            left = list(self.make(Path(directory)).keys())
            assert left == [], f"{left} are there after they were deleted by another object"

    @rule
    def test_keeps_directories_apart(self) -> None:
        """Two sessions have nothing in common."""
        with self._made() as one, self._made() as other:
            one.write(_KEY, b"one")
            other.write(_KEY, b"other")
            other.delete(_KEY)
            assert one.read(_KEY) == b"one", (
                "another session's deletion reaches this one; each directory is a separate store"
            )

    @rule
    def test_a_reader_finds_whole_values(self) -> None:
        """Reading while another process writes returns the old bytes or the new ones, never a part."""
        with self._made() as backend:
            values = (b"a" * _LONG, b"b" * (2 * _LONG))
            backend.write(_KEY, values[0])
            found, ended = list[object](), threading.Event()
            reader = threading.Thread(target=_read_on, args=(backend, found, ended))
            reader.start()
            try:
                for number in range(_ROUNDS):
                    backend.write(_KEY, values[number % 2])
            finally:
                ended.set()
                reader.join()
            torn = [each for each in found if each not in values]
            assert not torn, f"{len(torn)} of {len(found)} reads found {torn[0]!r:.60}; write aside, then put it there"

    # -- inside --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _made(self) -> Iterator[MemoryBackend]:
        with tempfile.TemporaryDirectory() as directory:
            yield self.make(Path(directory))


def _read_on(backend: MemoryBackend, found: list[object], ended: threading.Event) -> None:
    while not ended.is_set():
        found.append(backend.read(_KEY))
