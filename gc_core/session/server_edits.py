"""Read what the provider itself cleared from a request: see ``gc_core.providers.server_edits``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gc_core.providers import provider_named
from gc_core.providers.server_edits import ServerConfig, ServerEdits, ServerSide, left_out
from gc_core.session.inbox import HostCalls
from gc_core.session.timeline import synchronized
from gc_core.storage.ledger import Cleared
from gc_core.values.policy import GCPolicy


class ConsumedContent(HostCalls):
    """What the provider left out of the last request counts as it counts it."""

    _raw_sent: int
    _told_edits: Mapping[str, Any] | None = None
    _cleared_tokens = 0

    @property
    def _server_side(self) -> ServerSide:
        return provider_named(self.format).server_side

    @property
    def _provider_options(self) -> Mapping[str, Any]:
        """What requests carry of ``GCConfig.provider_edits``."""
        config = self._config
        spared = [name for name, policy in config.tool_policies().items() if policy is not GCPolicy.EPHEMERAL]
        return self._server_side.options(config.at_provider, config.usable, spared)

    @property
    def _clears(self) -> ServerConfig:
        """Which tools the provider leaves alone: as the host told, else as the configuration has it."""
        return self._server_side.config(self._provider_options, self._told_edits)

    @synchronized
    def provider_edits(self, context_management: Mapping[str, Any]) -> None:
        """
        Tell the ``context_management`` that you send to the provider, so that the tools that it excludes count in full.

        Without it the oldest results are taken for those that the provider cleared. Remembered by this object alone.
        Raises SourceError when it is none.
        """
        self._server_side.config({}, context_management)
        self._told_edits = context_management

    def _note_served(self, edits: ServerEdits | None) -> None:
        """Before the reply is taken: of the request that it answers, the provider left so much out."""
        if edits is None:
            return
        was, self._cleared_tokens = self._state.cleared, edits.tokens
        if not was and edits.is_empty:
            return
        now = left_out(edits, self._context.messages, self._clears)
        if now == was:
            return
        before = self._context.budget.total
        with self.plugins.guarded("ledger", "cleared by the provider"):  # without it the items count in full
            record = Cleared(gone=tuple(sorted(now - was)), back=tuple(sorted(was - now)), tokens=edits.tokens)
            self._recorder.clear(record)
        if self._raw_sent:
            self._raw_sent += self._context.budget.total - before  # the report is about what was left
        self._tell_budget()

    def _served_lines(self) -> list[str]:
        """What ``explain`` says of it."""
        cleared = len(self._state.cleared)
        if not cleared:
            return []
        tokens = f" ({self._cleared_tokens:,} tokens by its own count)" if self._cleared_tokens else ""
        return [f"the provider itself leaves {cleared} items out{tokens}: they cost what it leaves of them"]
