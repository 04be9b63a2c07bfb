"""The session: wrap an agent's loop in three calls, and its window stays within its limit."""

from __future__ import annotations

from gc_core.ahead import Coming
from gc_core.answering import Answering, driven
from gc_core.border import started
from gc_core.errors import ConfigError
from gc_core.messages import Request
from gc_core.past import serialised
from gc_core.results import GCResult
from gc_core.session_base import SessionBase
from gc_core.summary import SummaryRequest


class GCSession(SessionBase):
    """
    One agent's window, kept within its limit.

    Call ``pre_send`` before every model call and send what it returns; call ``post_turn`` with the reply; ``append``
    whatever else is said. Nothing that was sent changes until a collection, and one collection is one break of the
    prefix. Calls from several threads wait for each other. An error leaves the session as it was.

    ``AsyncGCSession`` is the same for an event loop.

    Args:
        config: How to collect.
        format: ``"openai"`` (Chat Completions), ``"anthropic"`` (Messages), ``"responses"`` or ``"gemini"``.
        directory: Where the master log lies; without one it is temporary and ends with the session.
        model: The model's name, for counting and for what it does with thinking; see also ``switch``.
        strategy: Strategy objects or names instead of ``config.strategy``; an object needs no registration.
        summarizer: A summarizer object instead of ``config.summarizer``.
        validator: Says what is wrong with a summary; by default gc-core's own.
        plugins: The plugins to use; by default those that are installed.
        counter: Counts tokens; by default the one that suits model and format.
        on_event: Called with every event.

    Raises:
        ConfigError: The format, strategy, summarizer or one of their options is unknown or wrong.

    """

    # -- the loop ------------------------------------------------------------------------------------------------

    @serialised
    def pre_send(self) -> Request:
        """
        The request for the next model call; collects if it must. Call it before every model call.

        Raises ContextOverflowError, naming each owner and its tokens, when what may not be removed does not fit.
        """
        return driven(self._sending(), self._answering.ask)

    @serialised
    def post_turn(self, reply: object, usage: object | None = None) -> GCResult | None:
        """
        Take the model's reply (what the client returned, or a message) and the usage it reported.

        Returns the collection that followed, or None. Call it after every model call.

        Raises InconsistentReplyError when a plugin finds the reply inconsistent: it is not taken then; see
        ``GCConfig.recovery_strategy``.
        """
        return driven(self._turning(reply, usage), self._answering.ask)

    @serialised
    def collect_now(self, *, target_percent: float | None = None, focus: str = "") -> GCResult:
        """
        Collect down to the target (by default the configured one), whatever the usage.

        ``focus`` says in words what summaries are to keep above all. Raises ConfigError for a target that is no
        percentage.
        """
        return driven(self._collecting(self._asked_for(target_percent, focus)), self._answering.ask)

    @serialised
    def recover(self, error: BaseException) -> Request:
        """
        After the provider refused a request for its length: collect by the size that it names, and render again.

        An error that is not such a refusal is raised again. Raises ContextOverflowError when nothing more may go.
        """
        return driven(self._recovering(error), self._answering.ask)

    # -- inside --------------------------------------------------------------------------------------------------

    def _check_summarizer(self, answering: Answering) -> None:
        if answering.is_async:
            raise ConfigError(f"summarizer {answering.name} can only be awaited; use AsyncGCSession, or a sync one")

    def _begun(self, request: SummaryRequest) -> Coming:
        answering = self._answering
        return started(lambda: driven(answering.steps(request), answering.ask))
