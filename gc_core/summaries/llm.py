"""
Summaries by a language model, any that litellm can reach: the extra ``llm``.

What is asked is the same for ``LLMSummarizer`` and ``AsyncLLMSummarizer``: one generator says what to send and reads
the replies, and each class only carries the calls out. litellm is imported when the first summary is asked for, which
takes some seconds; it is told to read its table of models from its own files, so that only the model is asked over the
network.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
import os
import time
from collections.abc import Generator, Sequence
from types import ModuleType
from typing import Any, Final

import attrs

from gc_core.errors import ConfigError, SummaryError
from gc_core.items import Item
from gc_core.logs import logger
from gc_core.summaries.prompt import (
    DEFAULT_PROMPT,
    TRANSCRIPT,
    fenced,
    filled,
    told_item,
    told_names,
)
from gc_core.summary import SummaryRequest

UNKNOWN_WINDOW: Final = 16_000
"""Input tokens that a model is taken to hold of which litellm knows nothing: what local models are often run with."""

MARGIN: Final = 0.9
"""Share of the model's input that is filled: the session counts its own model's tokens, not those of this one."""

OUTPUT_MARGIN: Final = 1.25
"""Output tokens that the model may take for a token of the summary, for the same reason; the prompt names the limit."""

LEAST_SHARE: Final = 64
"""Tokens that the summary of one part has at least; a record of a part that is shorter would tell nothing."""

LEAST_ROOM: Final = 256
"""Tokens of transcript that a request must be able to hold beside its prompt."""

PAUSE_SECONDS: Final = 0.5
"""Seconds before the first new attempt; twice as long before each further one."""

HOTTEST: Final = 2
"""The highest temperature that any provider takes."""

_PASSING: Final = frozenset({408, 409, 429})
_SERVER_ERRORS: Final = 500
_LONGEST_MESSAGE: Final = 300

_LOG = logger(__name__)


@attrs.frozen(kw_only=True)
class _Ask:
    """One call of the model, after a pause of so many seconds."""

    arguments: dict[str, Any]
    pause: float


@attrs.frozen(kw_only=True)
class _Reply:
    """What is read of the model's reply."""

    text: str
    tool: str
    finish: str

    @classmethod
    def of(cls, response: Any) -> _Reply:
        """Read litellm's response, which has OpenAI's shape whatever the provider is."""
        if not response.choices:
            return cls(text="", tool="", finish="no choice")
        choice = response.choices[0]
        calls = choice.message.tool_calls or ()
        return cls(
            text=(choice.message.content or "").strip(),
            tool=calls[0].function.name or "?" if calls else "",
            finish=choice.finish_reason or "",
        )

    @property
    def fault(self) -> str:
        """Why it is not a whole text, or ""."""
        if self.finish == "length":
            return f"was cut off at the limit of its output, behind {self.text[-60:]!r}"
        if self.tool:
            return f"called the tool {self.tool!r} instead of writing a text"
        if self.finish == "content_filter":
            return "was stopped by the provider's content filter"
        return "" if self.text else f"wrote no text (finish reason {self.finish!r})"


@attrs.frozen(kw_only=True)
class _Part:
    """The items that one call summarises, and the tokens that its text may have."""

    items: tuple[Item, ...]
    told: str
    max_tokens: int
    heading: str = ""


@attrs.frozen(kw_only=True)
class _ModelFacts:
    """What litellm knows of a model; 0 where it knows nothing."""

    input_tokens: int = 0
    output_tokens: int = 0
    reasons: bool = False


def _text(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{attribute.name} = {value!r}: expected a text that is not empty")


def _whole(least: int) -> Any:
    def check(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{attribute.name} = {value!r}: expected a whole number of at least {least}")

    return check


def _seconds(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number of seconds above 0")


def _temperature(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= HOTTEST:
        raise ConfigError(f"{attribute.name} = {value!r}: expected a number from 0 to {HOTTEST}")


@attrs.frozen(kw_only=True)
class _AsksAModel:
    """What both summarizers share: all but the call."""

    summarization_model: str = attrs.field(validator=_text)
    summarization_prompt: str = attrs.field(default=DEFAULT_PROMPT, validator=_text, repr=False)
    tool_output_tokens: int = attrs.field(default=500, validator=_whole(20))
    input_tokens: int | None = attrs.field(default=None, validator=attrs.validators.optional(_whole(1_000)))
    reasoning_tokens: int = attrs.field(default=4_000, validator=_whole(0))
    timeout_seconds: float = attrs.field(default=30, validator=_seconds)
    retries: int = attrs.field(default=2, validator=_whole(0))
    api_base: str | None = attrs.field(default=None, validator=attrs.validators.optional(_text))
    api_key: str | None = attrs.field(default=None, repr=False)
    temperature: float = attrs.field(default=0, validator=_temperature)

    def __attrs_post_init__(self) -> None:
        # Only looked for: a session that never summarises need not wait for the import.
        if importlib.util.find_spec("litellm") is None:
            raise _missing()

    def _flow(self, request: SummaryRequest) -> Generator[_Ask, Any, str]:
        """Yields calls, receives litellm's response or error for each, and returns the summary."""
        parts = self._parts(request)
        texts = []
        for part in parts:
            text = yield from self._written(request, part)
            texts.append(f"{part.heading}\n{text}" if part.heading else text)
        return "\n\n".join(texts)

    def _written(self, request: SummaryRequest, part: _Part) -> Generator[_Ask, Any, str]:
        arguments = self._arguments(request, part)
        attempt, pause = 1, 0.0
        while True:
            began = time.monotonic() + pause
            response = yield _Ask(arguments=arguments, pause=pause)
            if not isinstance(response, Exception):
                return self._accepted(response, seconds=time.monotonic() - began)
            if not _is_passing(response) or attempt > self.retries:
                raise SummaryError(f"{self.summarization_model}: {_told_error(response, attempt)}") from response
            _LOG.info("summary attempt failed", model=self.summarization_model, error=type(response).__name__)
            pause = PAUSE_SECONDS * 2 ** (attempt - 1)
            attempt += 1

    def _accepted(self, response: Any, *, seconds: float) -> str:
        reply = _Reply.of(response)
        # Refused texts are told as well: they cost as much.
        _LOG.info(
            "summary written",
            model=self.summarization_model,
            input_tokens=response.usage.prompt_tokens,
            output_tokens=response.usage.completion_tokens,
            seconds=round(seconds, 3),
            fault=reply.fault,
        )
        if reply.fault:
            raise SummaryError(f"{self.summarization_model} {reply.fault}")
        return reply.text

    # ------------------------------------------------------------------ what is sent

    def _arguments(self, request: SummaryRequest, part: _Part) -> dict[str, Any]:
        given = {"api_base": self.api_base, "api_key": self.api_key}
        return {
            "model": self.summarization_model,
            "messages": [
                {"role": "system", "content": self._instructions(request, part.max_tokens)},
                {"role": "user", "content": self._data(request, part)},
            ],
            "max_tokens": self._output_tokens(part.max_tokens),
            "temperature": self.temperature,
            "timeout": self.timeout_seconds,
            # Attempts are counted here; the provider's client would add its own.
            "max_retries": 0,
            "num_retries": 0,
            # Models that think take no temperature.
            "drop_params": True,
            **{name: value for name, value in given.items() if value is not None},
        }

    def _instructions(self, request: SummaryRequest, max_tokens: int) -> str:
        return filled(
            self.summarization_prompt, max_tokens=max_tokens, focus=request.focus, complaints=request.complaints
        )

    def _data(self, request: SummaryRequest, part: _Part) -> str:
        names = [name for name in request.names if any(name in item.text for item in part.items)]
        pieces = (
            fenced(TRANSCRIPT, part.told),
            told_names(names, count=request.count, tokens=_tokens_of_names(part.max_tokens)),
            f"The transcript has ended. Write its record now, in at most {part.max_tokens} tokens.",
        )
        return "\n\n".join(piece for piece in pieces if piece)

    def _output_tokens(self, max_tokens: int) -> int:
        facts = _facts(self.summarization_model)
        wanted = int(max_tokens * OUTPUT_MARGIN) + (self.reasoning_tokens if facts.reasons else 0)
        return min(wanted, facts.output_tokens or wanted)

    # ------------------------------------------------------------------ in how many parts

    def _parts(self, request: SummaryRequest) -> tuple[_Part, ...]:
        """All items in order, each in one part, and ``max_tokens`` shared out over the parts."""
        room = self._room(request)
        groups = self._groups(request, room)
        if len(groups) == 1:
            return (_part(groups[0], request.max_tokens),)
        headings = [f"Part {at} of {len(groups)} ({_turns(group)}):" for at, group in enumerate(groups, 1)]
        # Each heading and what joins the parts: two line ends, and one.
        shared = request.max_tokens - sum(request.count(heading) + 2 for heading in headings)
        if shared < LEAST_SHARE * len(groups):
            raise SummaryError(
                f"{self.summarization_model} can be sent {room:,} tokens of transcript at a time, which makes "
                f"{len(groups)} parts, and {request.max_tokens:,} tokens are too few to tell of each; "
                "a model with a larger window is needed, or a smaller tool_output_tokens"
            )
        sizes = [sum(tokens for _, _, tokens in group) for group in groups]
        return tuple(
            _part(group, share, heading)
            for group, share, heading in zip(groups, _shares(shared, sizes), headings, strict=True)
        )

    def _groups(self, request: SummaryRequest, room: int) -> list[list[tuple[Item, str, int]]]:
        groups: list[list[tuple[Item, str, int]]] = [[]]
        filled_to = 0
        for item in request.items:
            text = self._told(item, request, room)
            tokens = request.count(text) + 2
            if groups[-1] and filled_to + tokens > room:
                groups.append([])
                filled_to = 0
            groups[-1].append((item, text, tokens))
            filled_to += tokens
        return groups

    def _told(self, item: Item, request: SummaryRequest, room: int) -> str:
        # A heading and the mark of a cut need some of the room of an item that fills a part alone.
        return told_item(item, count=request.count, tool_output_tokens=self.tool_output_tokens, most=room - LEAST_SHARE)

    def _room(self, request: SummaryRequest) -> int:
        """Tokens of transcript that one call may hold."""
        facts = _facts(self.summarization_model)
        known = facts.input_tokens - self._output_tokens(request.max_tokens) if facts.input_tokens else UNKNOWN_WINDOW
        around = request.count(self._instructions(request, request.max_tokens)) + LEAST_SHARE
        whole = int((self.input_tokens or known) * MARGIN)
        room = whole - around - _tokens_of_names(request.max_tokens)
        if room < LEAST_ROOM:
            raise SummaryError(
                f"{self.summarization_model} can be sent {whole:,} tokens, of which the prompt leaves {room:,} "
                f"for the transcript; input_tokens must be larger"
            )
        return room


@attrs.frozen(kw_only=True)
class LLMSummarizer(_AsksAModel):
    """
    Asks a model for the summary, by HTTP, and waits for it. What the originals say goes to that model's provider.

    Raises SummaryError when no whole text came: the provider failed or refused, or the reply was empty, cut off or a
    tool call. Raises ConfigError, when it is made, where litellm is not installed. Whether the text is acceptable is
    for the core to judge.

    Attributes:
        summarization_model: litellm's name of the model, "anthropic/claude-haiku-4-5" for instance.
        summarization_prompt: What the model is told before the transcript; see ``DEFAULT_PROMPT`` for the placeholders.
        tool_output_tokens: Tokens to which each tool output, and each call's arguments, is cut, head and tail.
        input_tokens: Tokens of input that the model may be sent. By default what litellm's table says of the model,
            less the output; 16,000 for a model that is not in it. Originals that need more are summarised in parts.
        reasoning_tokens: Output tokens that are allowed on top where litellm knows that the model may think before it
            writes; else its thinking would leave no room for the text.
        timeout_seconds: Seconds for which the provider may be silent in one request. All requests and attempts
            together have the session's ``summarizer_timeout``.
        retries: Further attempts after a timeout, a lost connection, HTTP 408, 409, 429 and 5xx; never after another
            refusal. The first comes after half a second, each further one after twice as long.
        api_base: Base URL of the provider; by default the provider's own.
        api_key: Its key; by default litellm takes it from the environment (``ANTHROPIC_API_KEY``, ...).
        temperature: Sampling temperature; left out for a model that does not take one.

    """

    def summarize(self, request: SummaryRequest) -> str:
        """The model's text; where the originals need several calls, the parts' texts below a heading each."""
        litellm = _litellm()
        flow = self._flow(request)
        answer: Any = None
        while True:
            try:
                ask = flow.send(answer)
            except StopIteration as done:
                return str(done.value)
            time.sleep(ask.pause)
            try:
                answer = litellm.completion(**ask.arguments)
            except _failures(litellm) as error:
                answer = error


@attrs.frozen(kw_only=True)
class AsyncLLMSummarizer(_AsksAModel):
    """``LLMSummarizer`` for ``AsyncGCSession``, with the same options: the loop goes on while the model writes."""

    async def summarize(self, request: SummaryRequest) -> str:
        """The model's text; where the originals need several calls, the parts' texts below a heading each."""
        litellm = await asyncio.to_thread(_litellm)
        flow = self._flow(request)
        answer: Any = None
        while True:
            try:
                ask = flow.send(answer)
            except StopIteration as done:
                return str(done.value)
            await asyncio.sleep(ask.pause)
            try:
                answer = await litellm.acompletion(**ask.arguments)
            except _failures(litellm) as error:
                answer = error


# ---------------------------------------------------------------------- parts


def _part(group: Sequence[tuple[Item, str, int]], max_tokens: int, heading: str = "") -> _Part:
    return _Part(
        items=tuple(item for item, _, _ in group),
        told="\n\n".join(text for _, text, _ in group),
        max_tokens=max_tokens,
        heading=heading,
    )


def _shares(tokens: int, sizes: Sequence[int]) -> list[int]:
    """The tokens shared out by size, each share of at least LEAST_SHARE."""
    spare = tokens - LEAST_SHARE * len(sizes)
    return [LEAST_SHARE + spare * size // sum(sizes) for size in sizes]


def _turns(group: Sequence[tuple[Item, str, int]]) -> str:
    first, last = group[0][0].turn, group[-1][0].turn
    return f"turn {first}" if first == last else f"turns {first} to {last}"


def _tokens_of_names(max_tokens: int) -> int:
    # A summary of names alone would tell nothing.
    return max_tokens // 3


# ---------------------------------------------------------------------- litellm


@functools.cache
def _litellm() -> ModuleType:
    """litellm, quiet. Raises ConfigError where it is not installed."""
    # Else it would download its table of models at import, and read a .env file of the working directory into the
    # environment of the whole process.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    try:
        module = importlib.import_module("litellm")
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise _missing() from error
    vars(module).update(telemetry=False, suppress_debug_info=True)
    return module


def _missing() -> ConfigError:
    return ConfigError('summaries by a model need litellm: pip install "gc-core[llm]"')


def _failures(litellm: ModuleType) -> tuple[type[Exception], ...]:
    """Everything that litellm says that it raises."""
    return (*litellm.exceptions.LITELLM_EXCEPTION_TYPES, litellm.exceptions.BudgetExceededError)


def _facts(model: str) -> _ModelFacts:
    """
    What litellm's table says of a model, under its whole name or without the provider.

    The table is read, not ``litellm.get_model_info`` called: that one asks some local servers over HTTP.
    """
    table = _litellm().model_cost
    known = table.get(model) or table.get(model.partition("/")[2]) or {}
    return _ModelFacts(
        input_tokens=known.get("max_input_tokens") or 0,
        output_tokens=known.get("max_output_tokens") or 0,
        reasons=bool(known.get("supports_reasoning")),
    )


def _is_passing(error: Exception) -> bool:
    """Whether the same request may succeed later. litellm gives timeouts 408 and lost connections 500."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status in _PASSING or status >= _SERVER_ERRORS)


def _told_error(error: Exception, attempts: int) -> str:
    status = getattr(error, "status_code", "none")
    message = " ".join(str(error).split())[:_LONGEST_MESSAGE]
    return f"{type(error).__name__} (status {status}) after {attempts} attempt{'s'[: attempts > 1]}: {message}"
