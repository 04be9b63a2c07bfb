"""Short words for the messages that tests say, and a session that is small enough to fill with them."""

import json

from gc_core import GCConfig, GCSession, Plugins
from tests.support.inside import window_of


def user(text, **more):
    return {"role": "user", "content": text, **more}


def answer(text):
    return {"role": "assistant", "content": text}


def call(*named, text=None):
    """An OpenAI reply that calls tools: ``call(("c1", "read", {"path": "a"}))``."""
    calls = [
        {
            "id": key,
            "type": "function",
            "function": {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)},
        }
        for key, name, arguments in named
    ]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def result(key, text):
    return {"role": "tool", "tool_call_id": key, "content": text}


def use(*named, text=None, thinking=None):
    """An Anthropic reply that calls tools."""
    blocks = [] if thinking is None else [{"type": "thinking", "thinking": thinking, "signature": "c2VhbA=="}]
    blocks += [] if text is None else [{"type": "text", "text": text}]
    return {
        "role": "assistant",
        "content": blocks
        + [{"type": "tool_use", "id": key, "name": name, "input": value} for key, name, value in named],
    }


def results(*answers, text=None):
    """An Anthropic user message with results, and the user's text after them."""
    blocks = [{"type": "tool_result", "tool_use_id": key, "content": content} for key, content in answers]
    return {"role": "user", "content": blocks + ([] if text is None else [{"type": "text", "text": text}])}


def lines(number, word="line"):
    """A text of numbered lines, about five tokens each."""
    return "\n".join(f"{word} {place} of the text" for place in range(number))


def schema(name, format_name="openai", description="Does it."):
    parameters = {"type": "object", "properties": {"where": {"type": "string"}}}
    if format_name == "anthropic":
        return {"name": name, "description": description, "input_schema": parameters}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def small(window=4_000, *, plugins=None, **more):
    """
    A session with a small window; keywords go to the configuration or, where it knows them, the session.

    A collection begins at 80 % and PRESERVABLE content may go at 90 %, unless it says otherwise. Nobody watches for
    circles: what is made here repeats itself.
    """
    levels = {"threshold_percent": 80.0, "pressure_percent": 90.0}
    own = {key: more.pop(key) for key in ("format", "directory", "model", "counter", "on_event") if key in more}
    strategy = more.pop("strategy", "gc_truncate")
    config = GCConfig(context_limit=window, **{"output_reservation": 0, "reread_guard": "off", **levels, **more})
    return GCSession(config, strategy=strategy, plugins=plugins or Plugins.discover(), **own)


def rounds(session, number, *, size=40, first=0, task="Do it."):
    """One user message and rounds of call and result, through the loop; returns the requests."""
    requests = []
    if task is not None:
        session.append(user(task))
    for place in range(first, first + number):
        requests.append(session.pre_send())
        session.post_turn(call((f"c{place}", "read", {"path": f"f{place}"})))
        session.append(result(f"c{place}", lines(size, f"f{place}")))
    return requests


def rendered(session):
    """The request that would be sent now, without the closing, collecting and rendering that ``pre_send`` does."""
    request = window_of(session).render()
    return json.dumps([request.system, request.tools, request.messages], sort_keys=True)


def text_of(request):
    return json.dumps([*request.system, *request.messages], ensure_ascii=False)


class Letters:
    """A counter for exact sums: a token a character, no framing."""

    name = "letters"
    exact = True
    per_message = 0
    per_request = 0

    def count(self, text):
        return len(text)

    def count_image(self, image):  # noqa: ARG002 - the protocol
        return 10

    def count_thinking(self, part):
        return len(part.text)
