"""What can be plugged in around a session's files and messages: memory backends and middleware."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class MemoryBackend(Protocol):
    """
    Keeps bytes by key: the checkpoints of one session.

    Keys are up to 200 ASCII letters, digits, ".", "_" and "-", with no "." first. One process writes, others may read
    at the same time. It may raise whatever it likes: what it held is told by log and ledger too, only more slowly.
    """

    def write(self, key: str, data: bytes) -> None:
        """Keep the bytes under a key, wholly or not at all: whoever reads finds the old ones or these."""

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None."""

    def delete(self, key: str) -> None:
        """Forget a key; one that is not there is no error."""

    def keys(self, prefix: str = "") -> Iterable[str]:
        """Return the keys that begin so, sorted."""


class RegisterMemoryBackend(Protocol):
    """What ``gc_register_memory_backends`` receives: call it once for each backend class on offer."""

    def __call__(self, name: str, backend: Callable[[Path], MemoryBackend]) -> None:
        """Offer a backend under a name that a configuration can use; it is made with the session's directory."""


@runtime_checkable
class ContextMiddleware(Protocol):
    """
    Looks at each message of the conversation before it is logged, and may change it.

    Mark the method ``@hookimpl(specname="gc_process_message")``, and register the object: see that hook.
    """

    def process(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the message, in the provider's shape, as it is to be logged and sent; None leaves it as it is."""
