"""Tracks the provider's side of the history: whether it stores it, and what it cleared from a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gc_core.providers import provider_named
from gc_core.providers.server_edits import ServerConfig, ServerEdits, ServerSide, left_out
from gc_core.session.runtime import Runtime
from gc_core.session.window_meter import WindowMeter
from gc_core.storage.ledger import Cleared
from gc_core.values.policy import GCPolicy
from gc_core.values.results import GCResult, Goal


class ProviderState:
    """
    Follows what replies and the host say about the history at the provider. Kept by this object only.

    Content that the provider left out of the last request is counted as the provider counts it. If the provider stores
    the history, nothing is collected here (R5).

    Attributes:
        kept_at: Where the provider stores the history; "" if it does not.

    """

    def __init__(self, runtime: Runtime, meter: WindowMeter) -> None:
        self._runtime = runtime
        self._meter = meter
        self._host_edits: Mapping[str, Any] | None = None
        self._cleared_tokens = 0
        self.kept_at = ""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that requests carry for ``GCConfig.provider_edits``."""
        config = self._runtime.config
        spared = [name for name, policy in config.tool_policies().items() if policy is not GCPolicy.EPHEMERAL]
        return self._server_side.options(config.at_provider, config.usable, spared)

    def set_edits(self, context_management: Mapping[str, Any]) -> None:
        """Set the ``context_management`` that the host sends; see ``GCSession.provider_edits``."""
        self._server_side.config({}, context_management)
        self._host_edits = context_management

    def note_reply(self, reply: object) -> None:
        """Read, before the reply is taken, what it says about its request and about where the history is stored."""
        self._note_cleared(self._runtime.format.server_edits(reply))
        kept_at = self._runtime.format.history_elsewhere(reply)
        self.kept_at = self.kept_at if kept_at is None else kept_at

    def cannot_collect(self, goal: Goal) -> GCResult:
        """Return the result of a collection that is not attempted."""
        tokens = self._runtime.context.budget.total
        return GCResult(
            reason=goal.reason,
            tokens_before=tokens,
            tokens_after=tokens,
            target_tokens=goal.target_tokens,
            note=self._kept_text(),
        )

    def cleared_lines(self) -> list[str]:
        """Return the line of ``explain`` on cleared content."""
        cleared = len(self._runtime.state.cleared)
        if not cleared:
            return []
        tokens = f" ({self._cleared_tokens:,} tokens by its own count)" if self._cleared_tokens else ""
        return [f"the provider itself leaves {cleared} items out{tokens}: they cost what it leaves of them"]

    def kept_lines(self) -> list[str]:
        """Return what ``explain`` says of where the history lives."""
        return [self._kept_text()] if self.kept_at else []

    # -- inside --------------------------------------------------------------------------------------------------

    def _kept_text(self) -> str:
        return f"the history is kept by the provider ({self.kept_at}): nothing can be collected here"

    @property
    def _clears(self) -> ServerConfig:
        """The tools whose results the provider does not clear: as the host set them, otherwise as configured."""
        return self._server_side.config(self.options, self._host_edits)

    @property
    def _server_side(self) -> ServerSide:
        return provider_named(self._runtime.format.name).server_side

    def _note_cleared(self, edits: ServerEdits | None) -> None:
        if edits is None:
            return
        runtime = self._runtime
        was, self._cleared_tokens = runtime.state.cleared, edits.tokens
        if not was and edits.is_empty:
            return
        now = left_out(edits, runtime.context.messages, self._clears)
        if now == was:
            return
        before = runtime.context.budget.total
        with runtime.plugins.guarded("ledger", "cleared by the provider"):  # without it the items count in full
            record = Cleared(gone=tuple(sorted(now - was)), back=tuple(sorted(was - now)), tokens=edits.tokens)
            runtime.recorder.clear(record)
        if self._meter.raw_sent:
            self._meter.raw_sent += runtime.context.budget.total - before  # the report is about the remaining content
        runtime.budget_changed()
