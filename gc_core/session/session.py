"""The session: wrap an agent's loop in three calls, and its window stays within its limit."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from gc_core.collector.background_summaries import Coming
from gc_core.collector.summarizing import Answering, Steps, run_steps
from gc_core.errors import ConfigError
from gc_core.isolation import run_in_daemon_thread
from gc_core.session.facade import SessionFacade
from gc_core.session.runtime import synchronized
from gc_core.session.subtasks.handoff_texts import Filter, HandoffOptions
from gc_core.values.config import GCConfig
from gc_core.values.messages import Request
from gc_core.values.results import GCResult
from gc_core.values.summary import SummaryRequest

R = TypeVar("R")


class _Waiting:
    """A session's own thread waits for answers; what is asked ahead is asked in a thread of its own."""

    def check(self, answering: Answering) -> None:
        """Raise ConfigError for what can only be awaited."""
        if answering.is_async:
            raise ConfigError(f"summarizer {answering.name} can only be awaited; use AsyncGCSession, or a sync one")
        if answering.counter is not None and answering.counter.is_async:
            name = answering.counter.name
            raise ConfigError(f"request_counter: {name} can only be awaited; use AsyncGCSession, or a sync client")

    def begin(self, answering: Answering, request: SummaryRequest) -> Coming:
        """Ask for a summary in the background."""
        return run_in_daemon_thread(lambda: run_steps(answering.steps(request), answering.ask))


class GCSession(SessionFacade):
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
        request_counter: Counts whole requests exactly: a vendor's client, a function of request and model, or a
            ``RequestCounter``. Asked by ``pre_send`` alone, and only where the answer may decide something: when what
            no usage report has told of yet is 1 % of the window or more, and may lift the request to the threshold.
            The answer calibrates the session's own counts. Where it fails or takes more than 5 seconds, they go on
            standing; ``plugins.failures`` holds why, and after three failures in a row it is asked no more.
        on_event: Called with every event.

    Raises:
        ConfigError: The format, strategy, summarizer or one of their options is unknown or wrong.

    """

    _asks = _Waiting()

    # -- the loop ------------------------------------------------------------------------------------------------

    @synchronized
    def pre_send(self) -> Request:
        """
        Return the request for the next model call; collects if it must. Call it before every model call.

        Raises ContextOverflowError, naming each owner and its tokens, when what may not be removed does not fit, and
        SpendLimitError when the session has spent what ``max_total_tokens`` allows.
        """
        return self._run(self._core.sending())

    @synchronized
    def sync(
        self,
        messages: Iterable[object],
        *,
        system: str | Iterable[object] | None = None,
        tools: Iterable[object] | None = None,
        marks: bool = False,
    ) -> Request:
        """
        The request for the next model call, for callers who hold the whole list of messages and pass it each time.

        What is new at the end of the list is taken in; then it collects if it must, as ``pre_send`` does. What left
        once stays away, in the same words, and a list that needs no collection comes back object for object. The same
        list again is a retry and changes nothing. A list that departs from the known one (the caller went back, edited,
        forked, or compacted it itself) is continued from the point where it departs; the log keeps everything. Cache
        marks and null fields make no difference, nor does text as a string or as one block.

        Do not ``append`` beside it. ``post_turn`` may take the reply before the next list brings it; where it does not,
        ``report_usage`` takes the usage.

        Args:
            messages: The whole list, in the provider's own shape.
            system: The system text, or its blocks, where the provider takes it apart from the messages; None leaves it
                as it is. A change takes effect at once.
            tools: All tool schemas; None leaves them as they are. A change takes effect at once.
            marks: Set the session's own cache breakpoints in place of the caller's. Otherwise the caller's stay as they
                are, and one on a message that left moves to the nearest block before it.

        Raises:
            MessageError: A message is malformed; what came before it has been taken in.
            ContextOverflowError: What may not be removed does not fit.
            SpendLimitError: The session has spent what it may.

        """
        given = self._core.lists.read(messages, system, tools, marks=marks)
        return self._run(self._core.syncing(given))

    @synchronized
    def post_turn(self, reply: object, usage: object | None = None) -> GCResult | None:
        """
        Take the model's reply (what the client returned, or a message) and the usage it reported.

        Returns the collection that followed, or None. Call it after every model call.

        Raises InconsistentReplyError when a plugin finds the reply inconsistent: it is not taken then; see
        ``GCConfig.recovery_strategy``.
        """
        return self._run(self._core.turning(reply, usage))

    @synchronized
    def collect_now(self, *, target_percent: float | None = None, focus: str = "") -> GCResult:
        """
        Collect down to the target (by default the configured one), whatever the usage.

        ``focus`` says in words what summaries are to keep above all. Raises ConfigError for a target that is no
        percentage.
        """
        return self._run(self._core.collecting(target_percent, focus))

    @synchronized
    def count_now(self) -> int:
        """
        Return tokens of the request as it is, as ``request_counter`` counts them now; the estimate where that
        fails.

        Call it where ``pre_send`` could be called. Raises ConfigError when no ``request_counter`` was given.
        """
        return self._run(self._core.counting())

    @synchronized
    def recover(self, error: BaseException) -> Request:
        """
        After the provider refused a request for its length: collect by the size that it names, and render again.

        An error that is not such a refusal is raised again. Raises ContextOverflowError when nothing more may go, and
        SpendLimitError when the session has spent what it may.
        """
        return self._run(self._core.recovering(error))

    @synchronized
    def handoff(
        self,
        *,
        name: str = "handoff",
        filter: Filter = None,  # noqa: A002 - the word users know it by
        directory: str | Path | None = None,
        config: GCConfig | None = None,
        tokens: int | None = None,
        steps: int = 5,
        summary_tokens: int = 1_000,
        result_tokens: int = 1_000,
    ) -> GCSession:
        """
        Open a child: another session that begins with what it needs of this one, for a sub-task or in its place.

        It begins with the sources, the original request, one account of everything else written from originals, the
        state of the task, and the newest whole steps verbatim. ``child.hand_back(text)`` gives its result to this
        session as one note, for which room is kept free here; closing the child without it frees that room.

        Args:
            name: What the sub-task is called.
            filter: Which parts of the system text, tools and held memory blocks it needs: a function of source and name
                (of a tool: ``"plugin"`` and the tool's name), or names of sources; None: all.
            directory: Where its files lie; without one they are temporary and end with it.
            config: How it collects; by default as this one does.
            tokens: Tokens that its first request may have: fewer steps are handed on then, but one. By default what a
                collection of its own would go down to.
            steps: The newest steps that are handed on.
            summary_tokens: Tokens of the account, and again of the state of the task.
            result_tokens: Tokens that its result may have here; 0: nothing comes back.

        Raises:
            LeaseError: There is no room for the result.
            ConfigError: A number that cannot be, or a filter of unknown sources.
            LogError: The directory holds a session, or files cannot be read or written.

        """
        wish = HandoffOptions(
            name=name,
            filter=filter,
            config=config,
            tokens=tokens,
            steps=steps,
            summary_tokens=summary_tokens,
            result_tokens=result_tokens,
        )
        core = self._core
        opening = core.handoffs.hand_off(wish, functools.partial(core.open_child, directory))
        return self._of(self._run(opening))

    # -- inside --------------------------------------------------------------------------------------------------

    def _run(self, steps: Steps[R]) -> R:
        """Do the work, waiting wherever it stops."""
        return run_steps(steps, self._core.collections.answering.ask)
