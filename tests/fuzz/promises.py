"""
What gc-core promises, checked from outside: on requests, on what can be read back, and on the errors that it raises.

Each breach has a class, in which examples that look alike are counted together, and words for the one at hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

import gc_core as gc
from tests.fuzz.counting import allowed, least_tokens
from tests.fuzz.plain import JSON, canonical, deep, strings, without
from tests.fuzz.validity import as_blocks, complaints, field

CLOSING_FRAME = re.compile(r"<(\s*/\s*context)", re.IGNORECASE)
MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})


@attrs.frozen
class Breach:
    """A promise that did not hold: what kind, and what was seen."""

    kind: str
    text: str


def normalised(text: str) -> str:
    """The words of an error without what differs from case to case."""
    text = re.sub(r"the (collected )?request would break \d+ rules: ", "would break: ", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|«[^»]*»", "'…'", text.split("\n", 1)[0][:300])
    text = re.sub(r"/\S+", "PATH", text)
    text = re.sub(r"\b[0-9a-f]{16,}\b", "HEX", text)
    return re.sub(r"\b[a-z]{0,4}[_.]?\d[\d,.:-]*\b", "#", text)[:70]


def error_breach(error: BaseException, call: str) -> Breach:
    """An error that no page tells of for this call."""
    words = normalised(str(error)) if isinstance(error, gc.GCError) else ""
    kind = f"error: {type(error).__name__} from {call}" + (f": {words}" if words else "")
    return Breach(kind, f"{type(error).__name__}: {str(error)[:400]}")


# -- requests


def request_breaches(session: gc.GCSession, request: gc.Request, usable: int) -> Iterator[Breach]:
    """Valid, and not above the window."""
    arguments = request.kwargs()
    for complaint in complaints(session.format, arguments):
        yield Breach(f"valid: {session.format}: {complaint}", complaint)
    count = least_tokens(session.format, arguments)
    if count > allowed(usable):
        yield Breach(f"fits: {session.format}", f"{count} tokens in a window with room for {usable}")
    if count > allowed(request.tokens):
        text = f"{count} tokens, of which the session counted {request.tokens}"
        yield Breach(f"counted: {session.format}: less than what is read", text)
    if request.tokens != session.budget.total:
        yield Breach("counted: the budget is not the request's", f"{session.budget.total}, {request.tokens}")


def flat(session_format: str, request: gc.Request) -> list[str]:
    """The request in the order in which it is read, in pieces: a request may only go on where the last one ended."""
    return [piece for message in request.messages for piece in PIECES[session_format](message)]


def chat_pieces(message: JSON) -> Iterator[str]:
    plain = without(message, MARKS)
    content = as_blocks(plain.pop("content", None))
    yield canonical(plain)
    yield from map(canonical, content)


def anthropic_pieces(message: JSON) -> Iterator[str]:
    yield message["role"]
    for block in as_blocks(message["content"]):
        yield canonical(unmarked(block))


def unmarked(block: JSON) -> JSON:
    plain = {key: value for key, value in block.items() if key not in MARKS}
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        plain["content"] = [
            {key: value for key, value in part.items() if key not in MARKS} for part in plain["content"]
        ]
    return plain


def responses_pieces(item: JSON) -> Iterator[str]:
    plain = {key: value for key, value in item.items() if key not in MARKS}
    if isinstance(plain.get("content"), str):
        kind = "output_text" if plain.get("role") == "assistant" else "input_text"
        plain["content"] = [{"type": kind, "text": plain["content"]}]
    if isinstance(plain.get("content"), list):
        plain["content"] = [
            {key: value for key, value in part.items() if key not in MARKS} for part in plain["content"]
        ]
    yield canonical(plain)


def gemini_pieces(content: JSON) -> Iterator[str]:
    yield content["role"]
    yield from map(canonical, content["parts"])


PIECES = {
    "openai": chat_pieces,
    "anthropic": anthropic_pieces,
    "responses": responses_pieces,
    "gemini": gemini_pieces,
}


def head(request: gc.Request) -> str:
    """What stands before the conversation, without marks."""
    return canonical([[unmarked(part) for part in request.system], [unmarked(tool) for tool in request.tools]])


def difference(before: list[str], now: list[str]) -> str:
    """Where two flat requests part."""
    for place, (one, other) in enumerate(zip(before, now, strict=False)):
        if one != other:
            return f"piece {place} of {len(before)}: {one[:150]} became {other[:150]}"
    return f"{len(before)} pieces became {len(now)}: {(before + now)[min(len(before), len(now))][:150]}"


# -- what is held


@attrs.define
class Held:
    """
    Texts that have to stand in every request, by what they are.

    A text that waits for a break has an alternative: the one that stood before.
    """

    texts: dict[str, set[str]] = attrs.Factory(dict)

    def hold(self, name: str, text: str) -> None:
        """From now on this text has to be there."""
        if text.strip() and not has_surrogate(text):
            self.texts[name] = {text}

    def change(self, name: str, text: str, *, waits: bool) -> None:
        """A named text becomes another one, now or at the next break; an empty one leaves."""
        before = self.texts.get(name, {""}) if waits else set()
        self.texts[name] = {*before, text} if text.strip() and not has_surrogate(text) else {""}

    def let_go(self, prefix: str) -> None:
        """What has such a name need not be there any more."""
        for name in [name for name in self.texts if name.startswith(prefix)]:
            del self.texts[name]

    def let_go_of_text(self, text: str) -> None:
        """What this text contains may leave: the host has said so of an item, whatever its source's policy."""
        for name in [name for name, texts in self.texts.items() if any(each and each in text for each in texts)]:
            del self.texts[name]

    def breaches(self, request: gc.Request) -> Iterator[Breach]:
        """What is not there, byte for byte."""
        if not self.texts:
            return
        sent = list(strings([request.system, request.messages]))
        for name, texts in self.texts.items():
            ways = texts | {CLOSING_FRAME.sub(r"<\\\1", text) for text in texts}  # as a frame around it has it (A9)
            if "" not in texts and not any(text in one for text in ways for one in sent):
                kind = name.split(" ", 1)[0]
                yield Breach(f"held: {kind} is not in the request", f"{name}: {min(texts, key=len)[:200]!r}")


def has_surrogate(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def texts_of(message: JSON) -> list[str]:
    """The texts of a user's or system message, in any format."""
    if "parts" in message:
        return [part["text"] for part in message["parts"] if part.get("text")]
    return [block["text"] for block in as_blocks(message.get("content")) if block.get("text")]


# -- what is sealed

SEALED = ("signature", "encrypted_content", "thoughtSignature", "thought_signature")


@attrs.define
class Sealed:
    """Blocks that the provider takes back only as they came (N3, N6, R4, G3)."""

    known: dict[str, str] = attrs.Factory(dict)

    def take(self, message: JSON) -> None:
        for block in sealed_blocks([message]):
            self.known[seal_of(block)] = canonical(unmarked(block))

    def breaches(self, request: gc.Request) -> Iterator[Breach]:
        for block in sealed_blocks(request.messages):
            if self.known.get(seal_of(block)) != canonical(unmarked(block)):
                text = f"{self.known.get(seal_of(block), 'never seen')[:200]} became {canonical(block)[:200]}"
                yield Breach(f"valid: sealed {block.get('type', 'part')} is not as it came", text)


def sealed_blocks(messages: Iterable[JSON]) -> Iterator[JSON]:
    for message in messages:
        blocks = [message, *as_list(message.get("content")), *as_list(message.get("parts"))]
        blocks += as_list(message.get("output")) if message.get("role") == "assistant" else []
        yield from (block for block in blocks if seal_of(block))


def as_list(value: Any) -> list[JSON]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def seal_of(block: JSON) -> str:
    """What makes a block sealed, or ""."""
    if block.get("type") == "redacted_thinking":
        return str(block["data"])
    return str(next((block[name] for name in SEALED if block.get(name)), ""))


def last_thinking_breaches(request: gc.Request, reply: JSON | None) -> Iterator[Breach]:
    """N3: a reply whose results are the newest message keeps its thinking."""
    if request.format != "anthropic" or reply is None or not request.messages:
        return
    answered = {block.get("tool_use_id") for block in as_blocks(request.messages[-1]["content"])}
    calls = {block["id"] for block in as_blocks(reply.get("content")) if block["type"] == "tool_use"}
    wanted = [canonical(block) for block in as_blocks(reply.get("content")) if "thinking" in block["type"]]
    for message in reversed(request.messages):
        blocks = as_blocks(message["content"])
        if calls & answered and calls & {block.get("id") for block in blocks}:
            there = [canonical(unmarked(block)) for block in blocks if "thinking" in block["type"]]
            if there != wanted:
                yield Breach("valid: anthropic: N3: the newest reply lost thinking", f"{wanted} became {there}"[:400])
            return


def bare_id_breaches(request: gc.Request, led_to: dict[str, str]) -> Iterator[Breach]:
    """R3: an item keeps its id only behind the reasoning that led to it."""
    if request.format != "responses":
        return
    before = ""
    for item in request.messages:
        wanted = led_to.get(item.get("id", ""))
        if wanted and before != wanted:
            yield Breach("valid: responses: R3: an id without its reasoning", f"{item.get('id')} needs {wanted}")
        before = item.get("id", "") if item.get("type") == "reasoning" else ""


def reasoning_before(reply: JSON) -> dict[str, str]:
    """By the id of an item of a reply the id of the reasoning directly before it."""
    output = as_list(reply.get("output"))
    pairs = pairwise(output)
    return {
        after["id"]: before["id"]
        for before, after in pairs
        if before.get("type") == "reasoning"
        and after.get("type") != "reasoning"
        and after.get("id")
        and before.get("id")
    }


# -- what can be read back


def log_breaches(directory: Path, appended: list[str]) -> Iterator[Breach]:
    """Every message that was acknowledged is a line of the log, as it came and in its order."""
    lines = (directory / "master.jsonl").read_text(encoding="utf-8", errors="surrogatepass").split("\n")
    logged = (canonical(parsed_line(line)["payload"]) for line in lines if line)
    for place, message in enumerate(appended):
        if message not in logged:
            yield Breach("lost: a message is not in the log as it came", f"message {place}: {message[:300]}")
            return


def parsed_line(line: str) -> JSON:
    with deep():
        return json.loads(line)


def recall_breaches(session: gc.GCSession, taken: dict[tuple[str, ...], JSON]) -> Iterator[Breach]:
    """Every text of a message comes back by the ids that append gave for it."""
    for ids, message in taken.items():
        recalled = "\n".join(map(session.recall, ids))
        for text in message_texts(session.format, message):
            if text.strip() and text not in recalled:  # a blank text is left out on arrival
                yield Breach(
                    "lost: recall does not tell the text of a message", f"{ids}: {text[:200]!r}; {recalled[:200]!r}"
                )
                return


def message_texts(provider: str, message: JSON) -> list[str]:
    """Texts of a user's message or of plain results, which recall tells word for word."""
    if provider == "responses" and isinstance(message.get("output"), str):
        return [message["output"]]
    if provider == "anthropic":
        texts = []
        for block in as_blocks(message.get("content")):
            inner = as_blocks(block.get("content")) if block["type"] == "tool_result" else [block]
            texts += [part["text"] for part in inner if part["type"] == "text"]
        return texts
    if provider == "gemini":
        responses = [field(part, "functionResponse") for part in message["parts"]]
        given = [one["response"] for one in responses if one and len(one.get("response") or ()) == 1]
        plain = [item for response in given for item in response.items()]
        # Under any other key the provider reads the whole response as JSON, and that is what recall tells.
        single = [text for key, text in plain if key in ("output", "error", "result") and isinstance(text, str)]
        return single + [part["text"] for part in message["parts"] if part.get("text")]
    return texts_of(message)


def window_of(session: gc.GCSession) -> list[str]:
    """The items of a window, as far as opening again has to bring them back: what waits to be sent is in no file."""
    kinds = (gc.ItemKind.ENRICHMENT, gc.ItemKind.MEMORY_BLOCK)
    return [
        f"{item.id} {item.kind.name} {item.policy.name} {item.form.name} {item.tokens} {item.pinned} {item.text}"
        for item in session.items()
        if item.kind not in kinds
    ]
