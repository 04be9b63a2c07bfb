"""
The Agent Development Kit's event compaction by tokens: before a model call whose last prompt reached the threshold, a
summary takes the place of all events but the newest.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

from google.adk.agents import LlmAgent
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.compaction import _run_compaction_for_token_threshold_config
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.events.event import Event
from google.adk.flows.llm_flows.context._contents import _get_contents
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.sessions import InMemorySessionService
from google.genai.types import (
    Content,
    FunctionCall,
    FunctionResponse,
    GenerateContentResponseUsageMetadata,
    Part,
)
from wire import Call, Loop, Message, Opening, calls_of, said, serve, summary_of, tokens_of

KEPT_EVENTS = 10
"""Events that a compaction leaves; the kit has no default."""

AGENT = "agent"


class StubLlm(BaseLlm):
    """Writes the stub's summaries."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002 - the kit's signature
    ) -> AsyncIterator[LlmResponse]:
        """Summarise what is asked."""
        text = "\n".join(part.text or "" for content in llm_request.contents for part in content.parts)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=summary_of([text]))]))


class Compaction:
    """A session of the kit, compacted as the request processor of its flow does it."""

    def __init__(self, opening: Opening) -> None:
        self._loop = Loop()
        self._service = InMemorySessionService()
        self._session = self._loop.run(self._service.create_session(app_name="files", user_id="one"))
        self._agent = LlmAgent(name=AGENT, model=StubLlm(model="stub"))
        self._config = EventsCompactionConfig(
            summarizer=LlmEventSummarizer(llm=StubLlm(model="stub")),
            token_threshold=opening.trigger,
            event_retention_size=KEPT_EVENTS,
        )
        self._times = itertools.count(1)
        self._names: dict[str, str] = {}
        self._prompt = 0

    def hear(self, messages: Sequence[Message]) -> None:
        """Append to the session; a reply's event has the tokens of its prompt."""
        for message in messages:
            self._loop.run(self._service.append_event(self._session, self._event(message)))

    def collect(self) -> None:
        """What the flow does before a model call."""
        self._loop.run(
            _run_compaction_for_token_threshold_config(
                config=self._config,
                session=self._session,
                session_service=self._service,
                agent=self._agent,
                agent_name=AGENT,
            )
        )

    def messages(self) -> Iterable[Message]:
        """The contents that the flow would send."""
        contents = _get_contents(None, self._session.events, AGENT, preserve_function_call_ids=True)
        sent = [message for content in contents for message in from_content(content)]
        self._prompt = sum(map(tokens_of, sent))
        return sent

    def _event(self, message: Message) -> Event:
        replies = message["role"] == "assistant"
        usage = GenerateContentResponseUsageMetadata(prompt_token_count=self._prompt) if replies else None
        return Event(
            invocation_id="invocation",
            author=AGENT if message["role"] != "user" else "user",
            content=self._content(message),
            usage_metadata=usage,
            timestamp=float(next(self._times)),
        )

    def _content(self, message: Message) -> Content:
        text = message.get("content") or ""
        if message["role"] == "tool":
            key = message["tool_call_id"]
            response = FunctionResponse(id=key, name=self._names[key], response={"result": text})
            return Content(role="user", parts=[Part(function_response=response)])
        parts = [Part(text=text)] if text else []
        for call in calls_of(message):
            self._names[call.id] = call.name
            parts.append(Part(function_call=FunctionCall(id=call.id, name=call.name, args=call.arguments)))
        return Content(role="model" if message["role"] == "assistant" else "user", parts=parts)


def from_content(content: Content) -> Iterator[Message]:
    """OpenAI's messages."""
    responses = [part.function_response for part in content.parts if part.function_response]
    for each in responses:
        yield {"role": "tool", "tool_call_id": each.id, "content": each.response["result"]}
    text = "".join(part.text or "" for part in content.parts)
    calls = [part.function_call for part in content.parts if part.function_call]
    if content.role == "model":
        yield said(text, [Call(each.id, each.name, each.args or {}) for each in calls])
    elif text:
        yield {"role": "user", "content": text}


if __name__ == "__main__":
    serve(Compaction)
