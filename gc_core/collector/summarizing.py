"""
Asks foreign code: a summary is validated, requested once more, and replaced by the extract if that fails; a count of a
whole request is used or ignored.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar, cast

import attrs

from gc_core.collector.request_counts import SECONDS as COUNT_SECONDS
from gc_core.collector.request_counts import CountQuestion, RequestCounter
from gc_core.collector.waiting import awaited_in_time, in_time, in_time_async
from gc_core.errors import PluginError, SummaryError
from gc_core.isolation import Attempt
from gc_core.observer import UNWATCHED, Watch
from gc_core.plugins.manager import COUNT, SUMMARIZE, Plugins
from gc_core.values.escaping import escaped
from gc_core.values.loggers import logger
from gc_core.values.protocols import AsyncSummarizer, SummarizationValidator, Summarizer
from gc_core.values.summary import SummaryForm, SummaryRequest

EXTRACTIVE, NONE = "extractive", "none"
"""gc-core's own summarizer, and the name for none."""

_log = logger("gc_core.summaries")

_ATTEMPTS = 2
_COMPLAINT_CHARS = 300

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Answer:
    """The result of a request: the returned value, or how it failed, in words."""

    text: object = None
    failure: str = ""


Question = SummaryRequest | CountQuestion
"""A question that may take time: to a summarizer, or to a vendor's counting endpoint."""

Steps = Generator[Question, Answer, T]
"""Work that yields its questions, and continues with the answers: sync and async drive the same."""


@attrs.frozen(kw_only=True)
class Written:
    """
    A summary's text, and how it was written.

    Attributes:
        text: The summarizer's text, escaped, with the facts that it lacked.
        by: Name of the summarizer that wrote it.
        attempts: Requests to the session's summarizer.
        complaints: Faults of its earlier texts, or how it failed.

    """

    text: str = attrs.field(repr=False)
    by: str
    attempts: int = 0
    complaints: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Answering:
    """
    The session's summarizer with its checks.

    Attributes:
        plugins: Isolates summarizer and validator.
        name: The summarizer's name in reports; "none" if there is none.
        summarizer: The summarizer; None for the extract, which needs no waiting.
        validator: Checks texts.
        seconds: How long one answer may take.
        spent: Called with the usage of a summarizer's calls; see ``SummaryRequest.spent``.
        watch: Observes each request.
        counter: Counts whole requests, or None.

    """

    plugins: Plugins
    name: str
    summarizer: Summarizer | AsyncSummarizer | None
    validator: SummarizationValidator
    seconds: float
    spent: Callable[[int, int], None] | None = None
    watch: Watch = UNWATCHED
    counter: RequestCounter | None = None

    @property
    def model(self) -> str | None:
        """The summarizer's model, if it names one; otherwise None."""
        named = getattr(self.summarizer, "summarization_model", None)
        return named if isinstance(named, str) else None

    @property
    def offline(self) -> Answering:
        """The same with the extract: for a dry run, which asks no model."""
        return self if self.name == NONE else attrs.evolve(self, name=EXTRACTIVE, summarizer=None)

    def steps(self, request: SummaryRequest) -> Steps[Written]:
        """
        Obtain a text that may replace the originals.

        A text that is not acceptable is requested once more, with its faults; a summarizer that fails is not asked
        again, so that no one waits twice. Then the extract takes its place. Of a digest only what is new is requested.
        """
        from gc_core.summaries.digests import digest_text

        if request.form is SummaryForm.DIGEST:
            new = (yield from self._asking(request)) if request.items else Written(text="", by=EXTRACTIVE)
            return attrs.evolve(new, text=digest_text(request, new.text))
        return (yield from self._asking(request))

    def _asking(self, request: SummaryRequest) -> Steps[Written]:
        from gc_core.summaries.extractive import ExtractiveSummarizer

        attempts, complaints = 0, list[str]()
        if self.summarizer is not None and self.plugins.is_quarantined(self.name, SUMMARIZE):
            complaints.append(f"{self.name} is quarantined after repeated failures")
        elif self.summarizer is not None:
            for attempts in range(1, _ATTEMPTS + 1):
                answer = yield request
                if answer.failure:
                    complaints.append(answer.failure)
                    break
                text, wrong = self._checked(request, answer.text)
                if not wrong:
                    self.plugins.forgive(self.name, SUMMARIZE)
                    return Written(text=text, by=self.name, attempts=attempts, complaints=tuple(complaints))
                _log.warning(
                    "summary refused", by=self.name, attempt=attempts, complaints=len(wrong), why=_kind(wrong[0])
                )
                complaints += wrong
                request = attrs.evolve(request, complaints=tuple(wrong))
        request = attrs.evolve(request, complaints=())
        text, wrong = self._checked(request, ExtractiveSummarizer().summarize(request))
        return Written(text=text, by=EXTRACTIVE, attempts=attempts, complaints=(*complaints, *wrong))

    def _checked(self, request: SummaryRequest, answered: object) -> tuple[str, tuple[str, ...]]:
        """Return the text as it may be in the window, and what is wrong with it."""
        from gc_core.summaries.validation import with_facts

        if not isinstance(answered, str):
            return "", (f"answered {type(answered).__name__}; expected a text",)
        text = _printable(str.__str__(answered))  # of a subclass, only the text
        whole = with_facts(request, escaped(text)) if text.strip() else ""
        wrong: tuple[str, ...] = ()
        with self.plugins.guarded(type(self.validator).__name__, "validate") as attempt:
            wrong = _complaints(self.validator.validate(request, whole))
        return whole, wrong if attempt.failure is None else (str(attempt.failure),)

    # -- questions --------------------------------------------------------------------------------------------------

    def ask(self, question: Question) -> Answer:
        """Return the answer of the summarizer, or of the counter, within this many seconds."""
        if isinstance(question, CountQuestion):
            return self._count(question)
        text: object = None
        with self.plugins.guarded(self.name, SUMMARIZE) as attempt, self._watched(question) as watched:
            text = in_time(lambda: self._asked(watched), self.seconds, _no_summary)
        return _answer(text, attempt)

    async def ask_async(self, question: Question) -> Answer:
        """Return the answer of the summarizer, or of the counter, within this many seconds, while other tasks run."""
        if isinstance(question, CountQuestion):
            return await self._count_async(question)
        text: object = None
        with self.plugins.guarded(self.name, SUMMARIZE) as attempt, self._watched(question) as watched:
            text = await self._waited(watched)
        return _answer(text, attempt)

    async def _waited(self, request: SummaryRequest) -> object:
        if not self.is_async:
            return await in_time_async(lambda: self._asked(request), self.seconds, _no_summary)
        return await awaited_in_time(lambda: cast(Awaitable[object], self._asked(request)), self.seconds, _no_summary)

    def _watched(self, request: SummaryRequest) -> contextlib.AbstractContextManager[SummaryRequest]:
        return self.watch.asking(self.name, self.model, request)

    def _count(self, question: CountQuestion) -> Answer:
        counter, tokens = self.counter, None
        assert counter is not None  # noqa: S101 - else no one asks
        if (known := counter.known(question)) is not None:
            return Answer(text=known)
        with self.plugins.guarded(counter.name, COUNT) as attempt:
            tokens = in_time(lambda: counter.count(question), COUNT_SECONDS, _no_count)
        return self._forgiven(counter.name, _answer(tokens, attempt))

    async def _count_async(self, question: CountQuestion) -> Answer:
        counter, tokens = self.counter, None
        assert counter is not None  # noqa: S101 - else no one asks
        if (known := counter.known(question)) is not None:
            return Answer(text=known)
        with self.plugins.guarded(counter.name, COUNT) as attempt:
            if counter.awaitable():
                tokens = await awaited_in_time(lambda: counter.count_async(question), COUNT_SECONDS, _no_count)
            else:
                tokens = await in_time_async(lambda: counter.count(question), COUNT_SECONDS, _no_count)
        return self._forgiven(counter.name, _answer(tokens, attempt))

    def _forgiven(self, name: str, answer: Answer) -> Answer:
        if not answer.failure:
            self.plugins.forgive(name, COUNT)
        return answer

    @property
    def counts(self) -> bool:
        """True if a counter can be asked: there is one, and it is not quarantined."""
        return self.counter is not None and not self.plugins.is_quarantined(self.counter.name, COUNT)

    @property
    def is_async(self) -> bool:
        """True if the summarizer can only be awaited."""
        return inspect.iscoroutinefunction(getattr(self.summarizer, "summarize", None))

    def _asked(self, request: SummaryRequest) -> object:
        assert self.summarizer is not None  # noqa: S101 - the extract is never asked for
        if self.spent is not None:
            request = attrs.evolve(request, spent=_both(request.spent, self.spent))
        return self.summarizer.summarize(request)


def _no_summary(seconds: float) -> SummaryError:
    return SummaryError(f"no summary within {seconds:g} seconds")


def _no_count(seconds: float) -> PluginError:
    return PluginError(f"no count within {seconds:g} seconds")


def _kind(complaint: str) -> str:
    """Return the subject of a complaint, without its quotations."""
    return complaint[: _COMPLAINT_CHARS // 2].partition(" (")[0].partition(": ")[0]


def _printable(text: str) -> str:
    """Return the text without unpaired surrogates, which no request can carry, and without control characters."""
    return _CONTROL.sub("", text.encode("utf-8", "replace").decode())


def _complaints(answer: object) -> tuple[str, ...]:
    complaints = [answer] if isinstance(answer, str) else list(answer)  # type: ignore[call-overload]  # else it raises
    if not all(isinstance(each, str) for each in complaints):
        raise PluginError(f"answered {complaints!r:.100}; expected complaints, a text each")
    return tuple(each[:_COMPLAINT_CHARS] for each in complaints)


def _both(one: Callable[[int, int], None], other: Callable[[int, int], None]) -> Callable[[int, int], None]:
    def both(input_tokens: int, output_tokens: int) -> None:
        one(input_tokens, output_tokens)
        other(input_tokens, output_tokens)

    return both


def _answer(text: object, attempt: Attempt) -> Answer:
    return Answer(text=text) if attempt.failure is None else Answer(failure=str(attempt.failure))


def run_steps(steps: Steps[T], ask: Callable[[Question], Answer]) -> T:
    """Run the steps, asking at each question."""
    answer: Answer | None = None
    while True:
        try:
            request = next(steps) if answer is None else steps.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # what the generator returns
        answer = ask(request)


async def driven_async(
    steps: Steps[T],
    ask: Callable[[Question], Awaitable[Answer]],
    inside: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> T:
    """Run the steps, awaiting each question; every part of it runs in its own context from ``inside``."""
    answer: Answer | None = None
    try:
        while True:
            with inside():
                try:
                    request = next(steps) if answer is None else steps.send(answer)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]  # what the generator returns
            answer = await ask(request)
    finally:
        steps.close()
