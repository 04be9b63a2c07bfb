"""
Summaries by a language model, any that litellm can reach: the extra ``llm``.

What is asked is the same for ``LLMSummarizer`` and ``AsyncLLMSummarizer``: one generator says what to send and reads
the replies, and each class only carries the calls out.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, Final

import attrs

from gc_core.errors import SummaryError
from gc_core.summaries import litellm_client as model_library
from gc_core.summaries.litellm_client import Reply
from gc_core.summaries.llm_options import ModelOptions
from gc_core.summaries.llm_requests import ModelQuestion
from gc_core.values.loggers import logger
from gc_core.values.summary import SummaryRequest

PAUSE_SECONDS: Final = 0.5
"""Seconds before the first new attempt; twice as long before each further one."""

_log = logger("gc_core.summaries.llm")


@attrs.frozen(kw_only=True)
class _Ask:
    """One call of the model, after a pause of this many seconds."""

    arguments: dict[str, Any]
    pause: float


@attrs.frozen(kw_only=True)
class _AsksAModel(ModelOptions):
    """What both summarizers share: all but the call."""

    def _flow(self, request: SummaryRequest) -> Generator[_Ask, Any, str]:
        """Yields calls, receives litellm's response or error for each, and returns the summary."""
        question = ModelQuestion(options=self, request=request)
        texts = []
        for part in question.parts():
            text = yield from self._written(question.arguments(part), request)
            texts.append(f"{part.heading}\n{text}" if part.heading else text)
        return "\n\n".join(texts)

    def _written(self, arguments: dict[str, Any], request: SummaryRequest) -> Generator[_Ask, Any, str]:
        attempt, pause = 1, 0.0
        while True:
            began = time.monotonic() + pause
            response = yield _Ask(arguments=arguments, pause=pause)
            if not isinstance(response, Exception):
                request.spent(response.usage.prompt_tokens, response.usage.completion_tokens)
                return self._accepted(response, seconds=time.monotonic() - began)
            if not model_library.is_passing(response) or attempt > self.retries:
                told = model_library.told_error(response, attempts=attempt)
                raise SummaryError(f"{self.summarization_model}: {told}") from response
            _log.info("summary attempt failed", model=self.summarization_model, error=type(response).__name__)
            pause = PAUSE_SECONDS * 2 ** (attempt - 1)
            attempt += 1

    def _accepted(self, response: Any, *, seconds: float) -> str:
        reply = Reply.of(response)
        # Refused texts are told as well: they cost as much.
        _log.info(
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
        """Return the model's text; where the originals need several calls, the parts' texts below a heading each."""
        litellm = model_library.loaded()
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
            except model_library.failures() as error:
                answer = error


@attrs.frozen(kw_only=True)
class AsyncLLMSummarizer(_AsksAModel):
    """``LLMSummarizer`` for ``AsyncGCSession``, with the same options: the loop goes on while the model writes."""

    async def summarize(self, request: SummaryRequest) -> str:
        """Return the model's text; where the originals need several calls, the parts' texts below a heading each."""
        import asyncio

        litellm = await asyncio.to_thread(model_library.loaded)
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
            except model_library.failures() as error:
                answer = error
