"""What hosts and models say, in each provider's own shape."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import attrs

from tests.fuzz.plain import JSON
from tests.fuzz.texts import mapping, nested, nested_json, text

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@attrs.frozen
class Chance:
    """
    What a history is like: its source of chance, how hostile its texts are, how large they may be.

    Attributes:
        random: The seeded source.
        hostility: From 0 to 1: how many of the texts are hostile.
        oddity: From 0 to 1: how many of the shapes are such as a provider would refuse, or as few hosts write.
        window: Tokens of the session's window.
    """

    random: Random
    hostility: float
    oddity: float
    window: int

    def tokens(self) -> int:
        """So long is the next text: mostly a few per cent of the window, sometimes more than all of it."""
        share = self.random.choices((0.005, 0.02, 0.06, 0.15, 0.4, 1.3), weights=(5, 6, 6, 4, 2, 0.4))[0]
        return max(1, min(int(self.window * share * self.random.uniform(0.5, 1.5)), 9_000))

    def text(self) -> str:
        return text(self.random, self.tokens(), hostility=self.hostility)

    def short(self) -> str:
        return text(self.random, self.random.randint(3, 40), hostility=self.hostility)

    def mapping(self) -> JSON:
        return mapping(self.random, self.tokens(), hostility=self.hostility)

    def depth(self) -> int:
        return self.random.choice((5, 40, 150, 400, 700, 990, 1_200, 3_000))

    def odd(self) -> bool:
        return self.random.random() < self.oddity

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0


@attrs.frozen
class Call:
    """One call of a tool. ``arguments`` is its JSON text, ``parsed`` the object where a provider takes that."""

    key: str
    name: str
    arguments: str
    parsed: Any
    kind: str = "function_call"


def make_call(chance: Chance, key: str) -> tuple[Call, bool]:
    """A call, and whether few providers would take it."""
    name = chance.random.choice(("read", "bash", "search", "edit"))
    if chance.odd():
        depth = chance.depth()
        odd = chance.random.choice(
            (
                Call(key, name, nested_json(depth, "x"), nested(depth, "x")),
                Call(key, name, '{"a": NaN}', {"a": float("nan")}),
                Call(key, name, "", {}),
                Call(key, name, "{broken", {}),
                Call(key, name, "[]", {}),
                Call(key, name, "null", {}),
            )
        )
        return attrs.evolve(odd, parsed=odd.parsed if isinstance(odd.parsed, dict) else {"a": odd.parsed}), True
    path = chance.random.choice(("src/login.py", "src/parser.py", "README.md"))
    parsed: JSON = {"path": path}
    if chance.one_in(4):
        parsed["content"] = chance.text()
    if chance.one_in(8):
        parsed |= chance.mapping()
    if chance.one_in(10):
        parsed["deep"] = nested(chance.random.choice((3, 20, 60)), "x")
    return Call(key, name, json.dumps(parsed), parsed), False


@attrs.frozen
class Made:
    """A payload, and whether it has something that a provider refuses or few hosts write."""

    payload: JSON
    odd: bool = False


class Shape:
    """One provider's shapes. ``results`` is what answers a batch, as one host would send it."""

    def user(self, chance: Chance, words: str) -> Made:
        raise NotImplementedError

    def reply(self, chance: Chance, words: str, calls: list[Call]) -> Made:
        raise NotImplementedError

    def results(self, chance: Chance, calls: list[Call]) -> list[Made]:
        raise NotImplementedError

    def system(self, words: str) -> Made:
        raise NotImplementedError

    def schema(self, name: str, words: str) -> JSON:
        raise NotImplementedError

    def usage(self, tokens: int) -> JSON:
        raise NotImplementedError


class Chat(Shape):
    """OpenAI's Chat Completions."""

    def user(self, chance: Chance, words: str) -> Made:
        if chance.odd():
            return Made({"role": "user", "content": chance.random.choice(("", [], None))}, odd=True)
        if chance.one_in(8):
            image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
            return Made({"role": "user", "content": [{"type": "text", "text": words}, image]})
        if chance.one_in(6):
            return Made({"role": "user", "content": [{"type": "text", "text": part} for part in (words, "And?")]})
        return Made({"role": "user", "content": words})

    def reply(self, chance: Chance, words: str, calls: list[Call]) -> Made:
        made: JSON = {"role": "assistant", "content": words}
        odd = False
        if calls:
            made["content"] = chance.random.choice((None, "", words, [{"type": "text", "text": words}]))
            made["tool_calls"] = [
                {"id": call.key, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in calls
            ]
        if chance.one_in(6):
            made["reasoning_content"] = chance.text()
        if chance.odd():
            made["content"], odd = chance.random.choice(("", None, [])), True
        if made["content"] is None and chance.one_in(3):
            del made["content"]
        return Made(made, odd)

    def results(self, chance: Chance, calls: list[Call]) -> list[Made]:
        return [self.result(chance, call) for call in calls]

    def result(self, chance: Chance, call: Call) -> Made:
        content, odd = chat_content(chance)
        return Made({"role": "tool", "tool_call_id": call.key, "content": content}, odd)

    def system(self, words: str) -> Made:
        return Made({"role": "system", "content": words})

    def schema(self, name: str, words: str) -> JSON:
        parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
        return {"type": "function", "function": {"name": name, "description": words, "parameters": parameters}}

    def usage(self, tokens: int) -> JSON:
        return {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}


def chat_content(chance: Chance) -> tuple[Any, bool]:
    """The content of a result as text or as parts of text."""
    if chance.odd():
        return chance.random.choice((None, [], [{"type": "text", "text": ""}], nested_json(chance.depth(), "x"))), True
    kind = chance.random.randrange(8)
    if kind == 0:
        return "", False
    if kind == 1:
        return [{"type": "text", "text": chance.text()}, {"type": "text", "text": chance.short()}], False
    if kind == 2:
        return json.dumps(chance.mapping()), False
    return chance.text(), False


class Anthropic(Shape):
    """Anthropic's Messages."""

    def user(self, chance: Chance, words: str) -> Made:
        if chance.odd():
            blank = chance.random.choice(("", [], [{"type": "text", "text": ""}], "  "))
            return Made({"role": "user", "content": blank}, odd=True)
        if chance.one_in(8):
            return Made({"role": "user", "content": [{"type": "text", "text": words}, anthropic_media(chance)]})
        if chance.one_in(5):
            return Made({"role": "user", "content": [{"type": "text", "text": words}]})
        return Made({"role": "user", "content": words})

    def reply(self, chance: Chance, words: str, calls: list[Call]) -> Made:
        blocks: list[JSON] = []
        if chance.one_in(3):
            blocks += [anthropic_thinking(chance) for _ in range(chance.random.choice((1, 1, 2)))]
        if not calls or chance.one_in(2):
            blocks.append({"type": "text", "text": words})
        for call in calls:
            if chance.one_in(12):
                blocks.append(anthropic_thinking(chance))
            blocks.append({"type": "tool_use", "id": call.key, "name": call.name, "input": call.parsed})
        if chance.odd():
            alone = [anthropic_thinking(chance)]
            blank = [{"type": "text", "text": ""}]
            return Made({"role": "assistant", "content": chance.random.choice((alone, blank, [], ""))}, odd=True)
        if [block["type"] for block in blocks] == ["text"] and chance.one_in(2):
            return Made({"role": "assistant", "content": words})
        return Made({"role": "assistant", "content": blocks})

    def results(self, chance: Chance, calls: list[Call]) -> list[Made]:
        made = [self.result(chance, call) for call in calls]
        blocks = [each.payload for each in made]
        odd = any(each.odd for each in made)
        if chance.one_in(12):
            blocks.append({"type": "text", "text": chance.short() or "-"})
        if len(blocks) > 1 and chance.one_in(8):
            return [Made({"role": "user", "content": [block]}, odd) for block in blocks]
        return [Made({"role": "user", "content": blocks}, odd)]

    def result(self, chance: Chance, call: Call) -> Made:
        made: JSON = {"type": "tool_result", "tool_use_id": call.key}
        if chance.odd():
            odd = (None, [{"type": "text", "text": ""}], nested_json(chance.depth(), "x"))
            return Made({**made, "content": chance.random.choice(odd)}, odd=True)
        shapes: tuple[Callable[[], JSON], ...] = (
            dict,
            lambda: {"content": "", "is_error": chance.one_in(2)},
            lambda: {"content": [], "is_error": False},
            lambda: {"content": [{"type": "text", "text": chance.text()}, anthropic_media(chance)]},
            lambda: {"content": json.dumps(chance.mapping())},
            *[lambda: {"content": chance.text(), "is_error": chance.one_in(6)}] * 4,
        )
        return Made({**made, **chance.random.choice(shapes)()})

    def system(self, words: str) -> Made:
        return Made({"role": "system", "content": words})

    def schema(self, name: str, words: str) -> JSON:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        return {"name": name, "description": words, "input_schema": schema}

    def usage(self, tokens: int) -> JSON:
        return {"input_tokens": tokens, "output_tokens": 20}


def anthropic_media(chance: Chance) -> JSON:
    image = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    document = {"type": "text", "media_type": "text/plain", "data": chance.text()}
    found = {"type": "search_result", "source": "https://example.org/a", "title": "A"}
    return chance.random.choice(
        (
            {"type": "image", "source": image},
            {"type": "document", "source": document},
            {**found, "content": [{"type": "text", "text": chance.text()}]},
        )
    )


def anthropic_thinking(chance: Chance) -> JSON:
    signature = f"sig{chance.random.randrange(10**9)}" + "A" * 40
    if chance.one_in(6):
        return {"type": "redacted_thinking", "data": signature}
    return {"type": "thinking", "thinking": chance.random.choice((chance.text(), "")), "signature": signature}


class Responses(Shape):
    """OpenAI's Responses."""

    def user(self, chance: Chance, words: str) -> Made:
        if chance.odd():
            blank = chance.random.choice(("", [], [{"type": "input_text", "text": ""}]))
            return Made({"role": "user", "content": blank}, odd=True)
        if chance.one_in(8):
            image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
            return Made({"role": "user", "content": [{"type": "input_text", "text": words}, image]})
        if chance.one_in(5):
            return Made({"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]})
        return Made({"role": "user", "content": words})

    def reply(self, chance: Chance, words: str, calls: list[Call]) -> Made:
        output: list[JSON] = []
        number = chance.random.randrange(10**9)
        if chance.one_in(2):
            output += [responses_reasoning(chance)]
        if chance.one_in(10):
            output.append(responses_own(chance))
        if not calls or chance.one_in(2):
            message = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
            output.append({**message, "content": [{"type": "output_text", "text": words, "annotations": []}]})
        for call in calls:
            if chance.one_in(8):
                output.append(responses_reasoning(chance))
            output.append(responses_call(chance, call))
        if chance.odd():
            output.append(responses_reasoning(chance))
            return Made({"role": "assistant", "output": output[-chance.random.randint(1, 3) :]}, odd=True)
        if chance.one_in(3):
            output = [{key: value for key, value in item.items() if key != "id"} for item in output]
        return Made({"role": "assistant", "output": output})

    def results(self, chance: Chance, calls: list[Call]) -> list[Made]:
        return [self.result(chance, call) for call in calls]

    def result(self, chance: Chance, call: Call) -> Made:
        made: JSON = {"type": f"{call.kind}_output", "call_id": call.key}
        if chance.odd():
            odd = (None, [], [{"type": "input_text", "text": ""}], nested_json(chance.depth(), "x"))
            return Made({**made, "output": chance.random.choice(odd)}, odd=True)
        kind = chance.random.randrange(8)
        if kind == 0:
            return Made({**made, "output": ""})
        if kind == 1:
            image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
            return Made({**made, "output": [{"type": "input_text", "text": chance.text()}, image]})
        if kind == 2:
            return Made({**made, "output": json.dumps(chance.mapping())})
        if kind == 3:
            return Made({**made, "output": f"data:text/plain;base64,{chance.text()}"})
        return Made({**made, "output": chance.text()})

    def system(self, words: str) -> Made:
        return Made({"role": "developer", "content": words})

    def schema(self, name: str, words: str) -> JSON:
        parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
        return {"type": "function", "name": name, "description": words, "parameters": parameters}

    def usage(self, tokens: int) -> JSON:
        return {"input_tokens": tokens, "output_tokens": 20, "total_tokens": tokens + 20}


def compaction(chance: Chance, provider: str) -> JSON | None:
    """A reply that begins with the provider's own compaction, where the provider has one."""
    number = chance.random.randrange(10**9)
    if provider == "anthropic":
        block = {"type": "compaction", "content": chance.random.choice((chance.short() or "-", None))}
        return {"role": "assistant", "content": [block, {"type": "text", "text": chance.short() or "-"}]}
    if provider == "responses":
        item = {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": f"gAAAA{number}" + "B" * 300}
        text = [{"type": "output_text", "text": chance.short() or "-", "annotations": []}]
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": text}
        return {"role": "assistant", "output": [item, message]}
    return None


def responses_reasoning(chance: Chance) -> JSON:
    made: JSON = {"type": "reasoning", "id": f"rs_{chance.random.randrange(10**9)}", "summary": []}
    if chance.one_in(2):
        made["summary"] = [{"type": "summary_text", "text": chance.short()}]
    if not chance.one_in(4):
        seal = f"gAAAA{chance.random.randrange(10**9)}"
        made["encrypted_content"] = seal + "B" * chance.random.choice((20, 400, 3_000))
    return made


def responses_call(chance: Chance, call: Call) -> JSON:
    made = {"type": call.kind, "id": f"fc_{chance.random.randrange(10**9)}", "call_id": call.key, "name": call.name}
    return {**made, ("input" if call.kind == "custom_tool_call" else "arguments"): call.arguments}


def responses_own(chance: Chance) -> JSON:
    """What the provider runs itself."""
    number = chance.random.randrange(10**9)
    output = chance.random.choice((chance.text(), f"data:text/plain;base64,{chance.text()}"))
    served = {"type": "mcp_call", "id": f"mcp_{number}", "server_label": "docs", "name": "ask", "arguments": "{}"}
    searched = {"type": "web_search_call", "id": f"ws_{number}", "status": "completed"}
    return chance.random.choice(
        ({**served, "output": output}, {**searched, "action": {"type": "search", "query": chance.short()}})
    )


# Gemini's fields as the REST API spells them, and as the Python SDK does.
SPELLINGS = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "mimeType": "mime_type",
    "thoughtSignature": "thought_signature",
}


def in_snake_case(part: JSON) -> JSON:
    """A part as the SDK spells it; what a caller's own keys are called stays."""
    made = {SPELLINGS.get(key, key): value for key, value in part.items()}
    if "inline_data" in made:
        made["inline_data"] = {SPELLINGS.get(key, key): value for key, value in made["inline_data"].items()}
    return made


class Gemini(Shape):
    """Gemini's contents."""

    def spelled(self, chance: Chance, parts: list[JSON]) -> list[JSON]:
        return [in_snake_case(part) for part in parts] if chance.one_in(5) else parts

    def user(self, chance: Chance, words: str) -> Made:
        if chance.odd():
            return Made({"role": "user", "parts": chance.random.choice(([], [{"text": ""}]))}, odd=True)
        if chance.one_in(8):
            media = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
            return Made({"role": "user", "parts": [{"text": words}, media]})
        return Made({"role": "user", "parts": [{"text": part} for part in (words, "And?")[: 1 + chance.one_in(6)]]})

    def reply(self, chance: Chance, words: str, calls: list[Call]) -> Made:
        parts: list[JSON] = []
        if chance.one_in(3):
            parts.append({"text": chance.short() or "-", "thought": True})
        if not calls or chance.one_in(2):
            parts.append({"text": words})
        signed = chance.one_in(2)
        for place, call in enumerate(calls):
            part: JSON = {"functionCall": {"name": call.name, "args": call.parsed}}
            if not chance.one_in(4):
                part["functionCall"]["id"] = call.key
            if signed and place == 0:
                part["thoughtSignature"] = gemini_signature(chance)
            parts.append(part)
        if not calls and chance.one_in(6):
            parts.append({"text": "", "thoughtSignature": gemini_signature(chance)})
        if chance.odd():
            blank = {"text": "", "thought": True}
            parts = chance.random.choice(([blank], [*parts, blank], [{"text": ""}], [{"text": "hm", "thought": True}]))
            return Made({"role": "model", "parts": parts}, odd=True)
        return Made({"role": "model", "parts": self.spelled(chance, parts)})

    def results(self, chance: Chance, calls: list[Call]) -> list[Made]:
        made = [self.result(chance, call) for call in calls]
        parts = [each.payload for each in made]
        odd = any(each.odd for each in made)
        if chance.one_in(12):
            parts.append({"text": chance.short() or "-"})
        if len(parts) > 1 and chance.one_in(8):
            return [Made({"role": "user", "parts": [part]}, odd) for part in parts]
        return [Made({"role": "user", "parts": self.spelled(chance, parts)}, odd)]

    def result(self, chance: Chance, call: Call) -> Made:
        response, odd = gemini_response(chance)
        answer: JSON = {"name": call.name, "response": response}
        if not chance.one_in(4):
            answer["id"] = call.key
        if chance.one_in(10):
            answer["parts"] = [{"inlineData": {"mimeType": "image/png", "data": PIXEL}}]
        return Made({"functionResponse": answer}, odd)

    def system(self, words: str) -> Made:
        return Made({"role": "user", "parts": [{"text": words}]})

    def schema(self, name: str, words: str) -> JSON:
        return {"name": name, "description": words, "parameters": {"type": "OBJECT"}}

    def usage(self, tokens: int) -> JSON:
        return {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20}


def gemini_signature(chance: Chance) -> str:
    return f"sig{chance.random.randrange(10**9)}" + "A" * 40


def gemini_response(chance: Chance) -> tuple[JSON, bool]:
    if chance.odd():
        odd = ({"output": None}, {"output": ""}, {"a": float("nan")}, {"a": nested(chance.depth(), "x")}, None)
        return chance.random.choice(odd), True
    key = chance.random.choice(("output", "result", "error"))
    kind = chance.random.randrange(6)
    if kind == 0:
        return {}, False
    if kind == 1:
        return {key: chance.mapping()}, False
    if kind == 2:
        return chance.mapping(), False
    return {key: chance.text()}, False


SHAPES: dict[str, Callable[[], Shape]] = {
    "openai": Chat,
    "anthropic": Anthropic,
    "responses": Responses,
    "gemini": Gemini,
}
