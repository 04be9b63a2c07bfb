"""
Summaries by any language model that litellm can reach: the extra ``llm``.

``LLMSummarizer`` and ``AsyncLLMSummarizer`` share one generator, which decides what to send and reads the replies; the
classes only make the calls.
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
"""Seconds before the first retry; doubled for each further one."""

_log = logger("gc_core.summaries.llm")


@attrs.frozen(kw_only=True)
class _Ask:
    """One call of the model, after a pause of this many seconds."""

    arguments: dict[str, Any]
    pause: float


@attrs.frozen(kw_only=True)
class _AsksAModel(ModelOptions):
    """The part that both summarizers share: everything except the call."""

    def _flow(self, request: SummaryRequest) -> Generator[_Ask, Any, str]:
        """Yield calls, receive litellm's response or error for each, and return the summary."""
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
                reason = model_library.error_text(response, attempts=attempt)
                raise SummaryError(f"{self.summarization_model}: {reason}") from response
            _log.info("summary attempt failed", model=self.summarization_model, error=type(response).__name__)
            pause = PAUSE_SECONDS * 2 ** (attempt - 1)
            attempt += 1

    def _accepted(self, response: Any, *, seconds: float) -> str:
        reply = Reply.of(response)
        # Refused texts are reported too: they cost as much.
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
    Asks a model for the summary over HTTP, and waits for it. The originals are sent to that model's provider.

    Raises SummaryError when there is no complete text: the provider failed or refused, or the reply was empty, cut off
    or a tool call. Raises ConfigError on creation if litellm is not installed. The core decides whether the text is
    acceptable.

    Attributes:
        summarization_model: litellm's name of the model, for example "anthropic/claude-haiku-4-5".
        summarization_prompt: The prompt before the transcript; see ``DEFAULT_PROMPT`` for the placeholders.
        tool_output_tokens: Tokens to which each tool output, and each call's arguments, is cut, head and tail.
        input_tokens: The most input tokens for the model. By default litellm's value for the model, less the output;
            16,000 for an unknown model. Originals that need more are summarised in parts.
        reasoning_tokens: Additional output tokens if litellm knows that the model may think before it writes; otherwise
            its thinking would leave no room for the text.
        timeout_seconds: Seconds for which the provider may be silent in one request. All requests and attempts together
            have the session's ``summarizer_timeout``.
        retries: Further attempts after a timeout, a lost connection, HTTP 408, 409, 429 and 5xx; never after another
            refusal. The first comes after half a second, each further one after twice as long.
        api_base: Base URL of the provider; by default the provider's own.
        api_key: Its key; by default litellm reads it from the environment (``ANTHROPIC_API_KEY``, ...).
        temperature: Sampling temperature; left out for models that do not accept one.

    """

    def summarize(self, request: SummaryRequest) -> str:
        """Return the model's text; if several calls were needed, the parts' texts below a heading each."""
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
    """``LLMSummarizer`` for ``AsyncGCSession``, with the same options: the event loop runs while the model writes."""

    async def summarize(self, request: SummaryRequest) -> str:
        """Return the model's text; if several calls were needed, the parts' texts below a heading each."""
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
