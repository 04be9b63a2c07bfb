"""
Anthropic's memory tool (``memory_20250818``) over a session, for the tool runner of its package: extra ``anthropic``.

``files`` carries the commands out; these classes connect it to the package's own base classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from gc_core.errors import MemoryFileError
from gc_core.integrations.anthropic_memory.files import MemoryFiles
from gc_core.plugins.contract import MemoryBackend
from gc_core.session.facade import SessionFacade
from gc_core.storage.facts import FactStore


class MemoryTool(BetaAbstractMemoryTool):
    """
    The memory tool for ``client.beta.messages.tool_runner(tools=[...])``, or for a loop of your own through ``call``.

    Raises the package's ToolError, whose text is for the model, when a command cannot be carried out; ``call`` raises
    it too.

    Args:
        session: The model's session.
        backend: The storage of the files; see ``MemoryFiles``.
        facts: Facts that are files too, or None.

    """

    def __init__(self, session: SessionFacade, backend: MemoryBackend, *, facts: FactStore | None = None) -> None:
        super().__init__()
        self._files = MemoryFiles(session, backend, facts)

    def view(self, command: Any) -> str:
        """Return a file with its line numbers, or what is in a directory."""
        return self._run(command)

    def create(self, command: Any) -> str:
        """Create a file."""
        return self._run(command)

    def str_replace(self, command: Any) -> str:
        """Replace a text that occurs exactly once in the file."""
        return self._run(command)

    def insert(self, command: Any) -> str:
        """Insert a text after a line; 0 is the beginning."""
        return self._run(command)

    def delete(self, command: Any) -> str:
        """Delete a file, or a directory with everything in it."""
        return self._run(command)

    def rename(self, command: Any) -> str:
        """Rename a file or directory."""
        return self._run(command)

    def clear_all_memory(self) -> str:
        """Delete all files; facts stay."""
        self._files.clear()
        return "All memory cleared"

    def _run(self, command: Any) -> str:
        return _as_tool_result(lambda: self._files.run(**_arguments(command)))


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """``MemoryTool`` for an async client; files are read and written in a thread."""

    def __init__(self, session: SessionFacade, backend: MemoryBackend, *, facts: FactStore | None = None) -> None:
        super().__init__()
        self._files = MemoryFiles(session, backend, facts)

    async def view(self, command: Any) -> str:
        """Return a file with its line numbers, or what is in a directory."""
        return await self._run(command)

    async def create(self, command: Any) -> str:
        """Create a file."""
        return await self._run(command)

    async def str_replace(self, command: Any) -> str:
        """Replace a text that occurs exactly once in the file."""
        return await self._run(command)

    async def insert(self, command: Any) -> str:
        """Insert a text after a line; 0 is the beginning."""
        return await self._run(command)

    async def delete(self, command: Any) -> str:
        """Delete a file, or a directory with everything in it."""
        return await self._run(command)

    async def rename(self, command: Any) -> str:
        """Rename a file or directory."""
        return await self._run(command)

    async def clear_all_memory(self) -> str:
        """Delete all files; facts stay."""
        await anyio.to_thread.run_sync(self._files.clear)
        return "All memory cleared"

    async def _run(self, command: Any) -> str:
        return await anyio.to_thread.run_sync(lambda: _as_tool_result(lambda: self._files.run(**_arguments(command))))


def _arguments(command: Any) -> dict[str, Any]:
    """Return the model's arguments, which the package does not check."""
    given: dict[str, Any] = command.model_dump(exclude_unset=True, warnings=False)
    return given


def _as_tool_result(run: Callable[[], str]) -> str:
    try:
        return run()
    except MemoryFileError as error:
        raise ToolError(str(error)) from error
