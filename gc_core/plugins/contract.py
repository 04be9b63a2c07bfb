"""The contracts around a session's files and messages: memory backends and middleware."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class MemoryBackend(Protocol):
    """
    Keeps bytes by key: the checkpoints of one session.

    Keys are up to 200 ASCII letters, digits, ".", "_" and "-", not starting with ".". One process writes, others may
    read at the same time. It may raise anything: log and ledger contain the same, but take longer to read.
    """

    def write(self, key: str, data: bytes) -> None:
        """Store the bytes under a key, completely or not at all: readers find the old ones or these."""

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None."""

    def delete(self, key: str) -> None:
        """Delete a key; a missing one is not an error."""

    def keys(self, prefix: str = "") -> Iterable[str]:
        """Return the keys with this prefix, sorted."""


class RegisterMemoryBackend(Protocol):
    """The argument of ``gc_register_memory_backends``: call it once for each backend class that you offer."""

    def __call__(self, name: str, backend: Callable[[Path], MemoryBackend]) -> None:
        """Offer a backend under a name that a configuration can use; it is created with the session's directory."""


@runtime_checkable
class ContextMiddleware(Protocol):
    """
    Sees each message of the conversation before it is logged, and may change it.

    Mark the method ``@hookimpl(specname="gc_process_message")``, and register the object: see that hook.
    """

    def process(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the message, in the provider's shape, as it should be logged and sent; None leaves it unchanged."""
