"""The session: three calls around an agent's loop keep its window within the limit."""

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
    """Waits for answers in the caller's thread; summaries prepared ahead are requested in a separate thread."""

    def check(self, answering: Answering) -> None:
        """Raise ConfigError for a summarizer or counter that can only be awaited."""
        if answering.is_async:
            raise ConfigError(f"summarizer {answering.name} can only be awaited; use AsyncGCSession, or a sync one")
        if answering.counter is not None and answering.counter.is_async:
            name = answering.counter.name
            raise ConfigError(f"request_counter: {name} can only be awaited; use AsyncGCSession, or a sync client")

    def begin(self, answering: Answering, request: SummaryRequest) -> Coming:
        """Request a summary in the background."""
        return run_in_daemon_thread(lambda: run_steps(answering.steps(request), answering.ask))


class GCSession(SessionFacade):
    """
    One agent's window, kept within its limit.

    Call ``pre_send`` before every model call and send what it returns; call ``post_turn`` with the reply; ``append``
    everything else. What was sent does not change until a collection, and one collection is one break of the prefix.
    Calls from several threads wait for each other. An error leaves the session as it was.

    ``AsyncGCSession`` is the same for an event loop.

    Args:
        config: The configuration.
        format: ``"openai"`` (Chat Completions), ``"anthropic"`` (Messages), ``"responses"`` or ``"gemini"``.
        directory: The directory of the master log; without one it is temporary and deleted with the session.
        model: The model's name, which determines counting and the treatment of thinking; see also ``switch``.
        strategy: Strategy objects or names instead of ``config.strategy``; an object needs no registration.
        summarizer: A summarizer object instead of ``config.summarizer``.
        validator: Checks summaries; by default gc-core's own.
        plugins: The plugins to use; by default the installed ones.
        counter: Counts tokens; by default chosen by model and format.
        request_counter: Counts whole requests exactly: a vendor's client, a function of request and model, or a
            ``RequestCounter``. Only ``pre_send`` asks it, and only if the answer may decide something: when content
            that no usage report has covered yet is 1 % of the window or more, and may lift the request to the
            threshold. The answer calibrates the session's own counts. If it fails or takes more than 5 seconds, they
            stay as they are; ``plugins.failures`` has the reason, and after three failures in a row it is not asked
            again.
        on_event: Called with every event.

    Raises:
        ConfigError: The format, strategy, summarizer or one of their options is unknown or wrong.

    """

    _asks = _Waiting()

    # -- the loop ------------------------------------------------------------------------------------------------

    @synchronized
    def pre_send(self) -> Request:
        """
        Return the request for the next model call, after a collection if one is due. Call it before every model call.

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
        Return the request for the next model call, for callers who hold the whole list of messages and pass it each
        time.

        What is new at the end of the list is taken in; then it collects if it must, as ``pre_send`` does. What left
        once stays away, in the same words, and a list that needs no collection comes back object for object. The same
        list again is a retry and changes nothing. A list that departs from the known one (the caller went back, edited,
        forked, or compacted it itself) is continued from the point where it departs; the log keeps everything. Cache
        marks and null fields make no difference, nor does text as a string or as one block.

        The output of OpenAI's ``responses.compact`` at the beginning of the list is sent as it is. A compaction item
        directly after the whole known list is of the reply to it, and replaces everything before it.

        The next list may begin with the messages of the last request, in place of those that it was made from.
        ``post_turn`` may take the reply, and ``append`` a message, before the next list brings it; where ``post_turn``
        does not, ``report_usage`` takes the usage.

        Args:
            messages: The whole list, in the provider's own shape.
            system: The system text, or its blocks, where the provider takes it apart from the messages; None leaves it
                as it is. A change takes effect at once.
            tools: All tool schemas; None leaves them as they are. A change takes effect at once.
            marks: Set the session's own cache breakpoints in place of the caller's. Otherwise the caller's stay as they
                are, and one on a message that left moves to the nearest block before it.

        Raises:
            MessageError: A message is malformed; what came before it has been taken in. Or ``append`` took a message of
                the first list, which would be there twice.
            ContextOverflowError: What may not be removed does not fit.
            SpendLimitError: The session has spent what it may.

        """
        given = self._core.lists.read(messages, system, tools, marks=marks)
        return self._run(self._core.syncing(given))

    @synchronized
    def post_turn(self, reply: object, usage: object | None = None) -> GCResult | None:
        """
        Append the model's reply (what the client returned, or a message) and record the usage it reported.

        Return the collection that followed, or None. Call it after every model call.

        Raises InconsistentReplyError when a plugin finds the reply inconsistent: it is not appended then; see
        ``GCConfig.recovery_strategy``.
        """
        return self._run(self._core.turning(reply, usage))

    @synchronized
    def collect_now(self, *, target_percent: float | None = None, focus: str = "") -> GCResult:
        """
        Collect down to the target (by default the configured one), whatever the usage.

        ``focus`` describes what summaries should keep above all. Raises ConfigError for a target that is not a
        percentage.
        """
        return self._run(self._core.collecting(target_percent, focus))

    @synchronized
    def count_now(self) -> int:
        """
        Return the tokens of the current request as ``request_counter`` counts them; the estimate if that fails.

        Call it where ``pre_send`` could be called. Raises ConfigError when no ``request_counter`` was given.
        """
        return self._run(self._core.counting())

    @synchronized
    def recover(self, error: BaseException) -> Request:
        """
        Collect after the provider refused a request for its length, to the size that it names, and render again.

        Any other error is raised again. Raises ContextOverflowError when nothing more may be removed, and
        SpendLimitError when the session has reached its limit.
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
        Open a child: another session that starts with what it needs of this one, for a sub-task or in its place.

        It starts with the sources, the original request, a summary of everything else written from originals, the task
        state, and the newest whole steps verbatim. ``child.hand_back(text)`` returns its result to this session as one
        note, for which tokens are reserved here; closing the child without it releases them.

        Args:
            name: The name of the sub-task.
            filter: The parts of the system text, tools and protected memory blocks that it needs: a function of source
                and name (for a tool ``"plugin"`` and the tool's name), or names of sources; None: all.
            directory: The directory of its files; without one they are temporary and deleted with it.
            config: Its configuration; by default that of this session.
            tokens: The most tokens of its first request: fewer steps are handed on then, but at least one. By default
                the target of a separate collection.
            steps: How many of the newest steps are handed on.
            summary_tokens: Tokens of the summary, and again of the task state.
            result_tokens: Tokens of its result in this session; 0: nothing is returned.

        Raises:
            LeaseError: The result does not fit.
            ConfigError: A number is invalid, or a filter names unknown sources.
            LogError: The directory already holds a session, or files cannot be read or written.

        """
        options = HandoffOptions(
            name=name,
            filter=filter,
            config=config,
            tokens=tokens,
            steps=steps,
            summary_tokens=summary_tokens,
            result_tokens=result_tokens,
        )
        core = self._core
        opening = core.handoffs.hand_off(options, functools.partial(core.open_child, directory))
        return self._of(self._run(opening))

    # -- inside --------------------------------------------------------------------------------------------------

    def _run(self, steps: Steps[R]) -> R:
        """Run the steps, waiting at each question."""
        return run_steps(steps, self._core.collections.answering.ask)
