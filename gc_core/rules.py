"""
What a provider accepts, as checks of a rendered request and of the change that a collection makes.

The rules are numbered as in the reference of provider rules: A for all formats, C for OpenAI Chat Completions, N for
Anthropic Messages. Calls and results pair by position, because real sessions repeat ids. Every check is O(window).
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from gc_core.errors import RuleError
from gc_core.messages import Payload, Request

MAX_MESSAGES = 100_000
"""N2: Anthropic takes no more messages in one request."""

MAX_CACHE_MARKS = 4
"""N5: Anthropic takes no more cache breakpoints in one request."""

FRAMES = (("<summary", "</summary>"), ("<context", "</context>"))
"""How texts of the framework open and close."""

_STUB = " left out: "
NOTE = "[gc:"
"""How a trace opens; it has no closing tag."""

_decode = json.JSONDecoder().raw_decode  # half the time of json.loads, which looks at its options on every call
_INSTRUCTIONS = frozenset({"system", "developer"})
_THINKING = frozenset({"thinking", "redacted_thinking"})
_NOT_IN_A_NOTE = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


@attrs.frozen(kw_only=True)
class Breach:
    """
    One place where a request breaks a rule.

    Attributes:
        rule: The rule's number, for instance ``"N1"``.
        index: Index of the message in the request, or -1 when no single message is to blame.
        text: What is wrong, with what, and what would be right.

    """

    rule: str
    index: int
    text: str

    def __str__(self) -> str:
        """The breach in one line, as an error names it."""
        return f"{self.rule} at message {self.index}: {self.text}" if self.index >= 0 else f"{self.rule}: {self.text}"


@attrs.frozen(kw_only=True)
class _Rendered:
    """A request under check, and whether its newest calls may still wait for their results."""

    request: Request
    pending: bool

    @property
    def messages(self) -> tuple[Payload, ...]:
        return self.request.messages

    def by(self, *roles: str) -> Iterator[tuple[int, Payload]]:
        """The messages of these roles, each with its index."""
        return ((index, message) for index, message in enumerate(self.messages) if message.get("role") in roles)


_Rule = Callable[[_Rendered], Iterable[Breach]]


def check_request(request: Request, *, pending: bool = False) -> tuple[Breach, ...]:
    """
    Every breach of the format's rules, in the order of the messages; empty when the provider would accept the request.

    With ``pending`` the calls of the last assistant message may lack results, as long as nothing but results stands
    behind it: the request as it is between a reply and its tools. It could not be sent like that.
    """
    rules = _RULES.get(request.format)
    if rules is None:
        raise RuleError(f"no rules for format {request.format!r}; known: {sorted(_RULES)}")
    rendered = _Rendered(request=request, pending=pending)
    return tuple(sorted((breach for rule in rules for breach in rule(rendered)), key=lambda breach: breach.index))


def check_collection(
    before: Request, after: Request, *, final_may_shrink: bool = False, thinking_bound: bool = False
) -> tuple[Breach, ...]:
    """
    Every breach of the rules about what a collection may do to a request.

    ``final_may_shrink`` is for the last resort, which may cut the newest message: it must still be there, with the same
    results, and not be empty. ``thinking_bound`` is for models that bind thinking to what stands before it: then all
    thinking behind the first change has to be gone, that of the latest reply included.
    """
    return (
        *_a3(before, after),
        *_a5(before, after, may_shrink=final_may_shrink),
        *_a7(before, after),
        *_kept_thinking(before, after),
        *(_bound_thinking(before, after) if thinking_bound else _latest_thinking(before, after)),
    )


def check_repeat(first_after: Request, second_after: Request) -> tuple[Breach, ...]:
    """A8: collecting again with the same goal and nothing appended changes nothing (cache marks aside)."""
    index = _first_change(first_after, second_after)
    if index is None:
        return ()
    return (Breach(rule="A8", index=index, text="a second pass changed the request; it has to leave it as it is"),)


def check_framed(text: str, closing: str) -> tuple[Breach, ...]:
    """
    A9: a framed text closes its frame once, at its very end.

    What it quotes is untrusted: a closing tag inside would let the rest pass for an instruction.
    """
    found = text.count(closing)
    if found == 1 and text.rstrip().endswith(closing):
        return ()
    return (Breach(rule="A9", index=-1, text=f"{closing!r} stands {found} times; right is once, at the end"),)


# ---------------------------------------------------------------- calls and results


class _Pairs:
    """
    Pairs calls with results while the messages go by.

    Only the calls of the newest assistant message are open. What is left open when another message comes in between is
    late: a result that still comes is in the wrong place, and where none comes the call has no result.
    """

    def __init__(self, orphan_rule: str) -> None:
        self.open: dict[str, int] = {}  # a Counter would cost half the time of the whole check
        self._orphan_rule = orphan_rule
        self._answered: set[str] = set()
        self._caller = -1
        self._late: dict[str, deque[tuple[int, str, str]]] = {}

    def call(self, index: int, ids: Iterable[str]) -> None:
        """The message calls; nothing may be open any more."""
        self._answered.clear()
        self._caller = index
        for call in ids:
            self.open[call] = self.open.get(call, 0) + 1

    def interrupt(self, rule: str, why: str) -> None:
        """Something else than a result comes while calls are open."""
        for call, waiting in self.open.items():
            self._late.setdefault(call, deque()).extend([(self._caller, rule, why)] * waiting)
        self.open.clear()

    def answer(self, index: int, call: str) -> Breach | None:
        """The message holds a result for this call."""
        if call in self.open:
            self._close(call)
            return None
        if call in self._answered:
            return Breach(rule="A1", index=index, text=f"a second result for call {call!r}; right is exactly one")
        if call in self._late:
            return self._answer_late(index, call)
        return Breach(
            rule=self._orphan_rule, index=index, text=f"a result for {call!r}, which the message before did not call"
        )

    def unanswered(self, *, pending: bool) -> Iterator[Breach]:
        """The calls that never got a result; the open ones only where they may not wait."""
        if not pending:
            self.interrupt("A1", "")
        for call, waiting in self._late.items():
            for caller, _, _ in waiting:
                yield Breach(
                    rule="A1", index=caller, text=f"call {call!r} has no result; right is one, directly behind"
                )

    def _close(self, call: str) -> None:
        self._answered.add(call)
        self.open[call] -= 1
        if not self.open[call]:
            del self.open[call]

    def _answer_late(self, index: int, call: str) -> Breach:
        caller, rule, why = self._late[call].popleft()
        if not self._late[call]:
            del self._late[call]
        return Breach(rule=rule, index=index, text=f"the result for call {call!r} of message {caller} is late: {why}")


# ---------------------------------------------------------------- OpenAI Chat Completions


def _openai_pairs(rendered: _Rendered) -> Iterator[Breach]:
    """A1, A2, C1, C4: each call has exactly one result, and nothing but results stands between."""
    pairs = _Pairs("C1")
    for index, message in enumerate(rendered.messages):
        role = message.get("role")
        if role == "tool":
            breach = pairs.answer(index, message.get("tool_call_id", ""))
            if breach is not None:
                yield breach
            continue
        if pairs.open:
            rule = "C4" if role in _INSTRUCTIONS else "A2"
            pairs.interrupt(rule, f"message {index} ({role}) stands between; results come directly behind their calls")
        if role == "assistant" and (calls := message.get("tool_calls")):
            pairs.call(index, [call.get("id", "") for call in calls])
    yield from pairs.unanswered(pending=rendered.pending)


def _openai_a4(rendered: _Rendered) -> Iterator[Breach]:
    """A4: no empty content and no empty text part. A tool result may be empty, but not null."""
    for index, message in enumerate(rendered.messages):
        content = message.get("content")
        if isinstance(content, str) and content:
            continue
        if isinstance(content, list) and content:
            if any(_is_empty_text(part) for part in content):
                yield Breach(rule="A4", index=index, text="an empty text part; leave it out or give it a text")
        elif _openai_needs_content(message.get("role"), content):
            yield Breach(rule="A4", index=index, text=f"the {message.get('role')} message is empty; it needs content")


def _openai_needs_content(role: object, content: object) -> bool:
    if role == "tool":
        return content is None
    return role != "assistant"  # an assistant message may be calls alone: C2


def _c2(rendered: _Rendered) -> Iterator[Breach]:
    """C2: an assistant message has content or calls, and a list of calls is never empty."""
    for index, message in rendered.by("assistant"):
        calls = message.get("tool_calls")
        if isinstance(calls, list) and not calls:
            yield Breach(rule="C2", index=index, text="tool_calls is an empty list; leave the key out")
        elif not (message.get("content") or calls or _says_otherwise(message)):
            yield Breach(rule="C2", index=index, text="the assistant message is empty; it needs content or tool_calls")


def _says_otherwise(message: Payload) -> bool:
    return any(message.get(key) for key in ("refusal", "audio", "function_call"))


def _c3(rendered: _Rendered) -> Iterator[Breach]:
    """C3: the arguments of a call are one JSON object, as text."""
    for index, message in rendered.by("assistant"):
        for call in message.get("tool_calls") or ():
            function = call.get("function")
            if function and not _is_json_object(function.get("arguments")):
                name = function.get("name", "")
                yield Breach(rule="C3", index=index, text=f"the arguments of {name!r} are not one JSON object as text")


def _is_json_object(text: object) -> bool:
    if not isinstance(text, str):
        return False
    bare = text.strip()
    try:
        value, end = _decode(bare)
    except (ValueError, RecursionError):  # nested too deep for us is too deep for a provider
        return False
    return isinstance(value, dict) and end == len(bare)


# ---------------------------------------------------------------- Anthropic Messages


def _anthropic_pairs(rendered: _Rendered) -> Iterator[Breach]:
    """A1, A2, N1: each call has exactly one result, and all results of a batch are in the next user message."""
    pairs = _Pairs("N1")
    batch = -1
    for index, message in enumerate(rendered.messages):
        role, blocks = message.get("role"), _blocks(message)
        results = [block.get("tool_use_id", "") for block in blocks if block.get("type") == "tool_result"]
        if pairs.open:
            _interrupt_anthropic(pairs, index, role, split=bool(results) and batch >= 0, results=bool(results))
        for call in results:
            breach = pairs.answer(index, call)
            if breach is not None:
                yield breach
        batch = index if results else -1
        if pairs.open and len(blocks) > len(results):
            pairs.interrupt("N1", f"message {index} went on with other content; a batch of results is in one message")
        calls = [block.get("id", "") for block in blocks if block.get("type") == "tool_use"]
        if calls:
            pairs.call(index, calls)
    yield from pairs.unanswered(pending=rendered.pending)


def _interrupt_anthropic(pairs: _Pairs, index: int, role: object, *, split: bool, results: bool) -> None:
    if split:
        pairs.interrupt("N1", f"the batch is split; all its results belong in message {index - 1}")
    elif not results:
        pairs.interrupt("A2", f"message {index} ({role}) stands between; results come directly behind their calls")


def _n1(rendered: _Rendered) -> Iterator[Breach]:
    """N1: results stand in user messages, before everything else in them; calls stand in assistant messages."""
    for index, message in enumerate(rendered.messages):
        types = [block.get("type") for block in _blocks(message)]
        if "tool_result" in types and message.get("role") != "user":
            yield Breach(
                rule="N1", index=index, text=f"a tool_result in a {message.get('role')} message; right is user"
            )
        elif types.count("tool_result") != _leading(types, "tool_result"):
            yield Breach(rule="N1", index=index, text="a tool_result behind other content; results come first")
        if "tool_use" in types and message.get("role") != "assistant":
            yield Breach(rule="N1", index=index, text=f"a tool_use in a {message.get('role')} message")


def _leading(types: Sequence[object], wanted: str) -> int:
    return next((position for position, kind in enumerate(types) if kind != wanted), len(types))


def _anthropic_a4(rendered: _Rendered) -> Iterator[Breach]:
    """
    A4: no empty message, no empty text block, no message of white space alone; the input of a call is an object.

    As the API was seen to do: white space beside other content passes, and so does an empty tool result.
    """
    last = len(rendered.messages) - 1
    for index, message in enumerate(rendered.messages):
        blocks = _blocks(message)
        if not blocks and not (index == last and message.get("role") == "assistant"):
            yield Breach(rule="A4", index=index, text="the message is empty; leave it out or give it content")
        yield from _empty_texts(index, blocks)
        for block in blocks:
            if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
                yield Breach(rule="A4", index=index, text=f"the input of {block.get('name')!r} is not a JSON object")
    yield from _empty_texts(-1, rendered.request.system)


def _empty_texts(index: int, blocks: Sequence[Payload]) -> Iterator[Breach]:
    if any(_is_empty_text(block) for block in blocks):
        yield Breach(rule="A4", index=index, text="an empty text block; leave it out or give it a text")
    elif blocks and all(block.get("type") == "text" and not str(block.get("text")).strip() for block in blocks):
        yield Breach(rule="A4", index=index, text="nothing but white space; leave it out or give it a text")


def _n2(rendered: _Rendered) -> Iterator[Breach]:
    """N2: a conversation starts with a user message and has at most 100,000 messages."""
    messages = rendered.messages
    if not messages:
        yield Breach(rule="N2", index=-1, text="no messages; at least one is needed, the first from the user")
    elif messages[0].get("role") != "user":
        yield Breach(rule="N2", index=0, text=f"the first message is {messages[0].get('role')}; it has to be user")
    if len(messages) > MAX_MESSAGES:
        yield Breach(rule="N2", index=MAX_MESSAGES, text=f"{len(messages):,} messages; at most {MAX_MESSAGES:,} pass")


def _n3(rendered: _Rendered) -> Iterator[Breach]:
    """N3: thinking stands in assistant messages, whole and sealed, and never last."""
    for index, message in enumerate(rendered.messages):
        blocks = _blocks(message)
        thinking = [block for block in blocks if block.get("type") in _THINKING]
        if not thinking:
            continue
        if message.get("role") != "assistant":
            yield Breach(rule="N3", index=index, text=f"thinking in a {message.get('role')} message")
        if not all(_is_sealed(block) for block in thinking):
            yield Breach(rule="N3", index=index, text="thinking without its text and signature, or without its data")
        if blocks[-1] is thinking[-1]:
            yield Breach(rule="N3", index=index, text="thinking is the last block; content has to follow it")


def _is_sealed(block: Payload) -> bool:
    """An empty thinking text is valid: newer models send the signature alone."""
    if block.get("type") == "redacted_thinking":
        return _is_filled(block.get("data"))
    return isinstance(block.get("thinking"), str) and _is_filled(block.get("signature"))


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _n4(rendered: _Rendered) -> Iterator[Breach]:
    """
    N4: system text is top level; a system message inside the conversation has a narrow place.

    It follows a user message (or a reply that ends in a server tool) and is last or followed by a reply: the vendor's
    placement rules of mid-conversation system messages.
    """
    messages = rendered.messages
    for index, _ in rendered.by("system"):
        if index == 0 or not _may_precede_system(messages[index - 1]):
            yield Breach(rule="N4", index=index, text="a system message has to stand directly behind a user message")
        if index + 1 < len(messages) and messages[index + 1].get("role") != "assistant":
            yield Breach(rule="N4", index=index, text="a system message has to be last or followed by a reply")


def _may_precede_system(message: Payload) -> bool:
    blocks = _blocks(message)
    ends_in_server_tool = bool(blocks) and blocks[-1].get("type", "") not in {"text", "tool_use", *_THINKING}
    return message.get("role") == "user" or (message.get("role") == "assistant" and ends_in_server_tool)


def _n5(rendered: _Rendered) -> Iterator[Breach]:
    """N5: at most four cache marks in tools, system and messages; none on thinking or on empty text."""
    request = rendered.request
    marks = sum("cache_control" in payload for payload in (*request.tools, *request.system))
    for index, message in enumerate(rendered.messages):
        for block in _marked(message):
            marks += 1
            if block.get("type") in _THINKING:
                yield Breach(rule="N5", index=index, text="a cache mark on thinking; mark the content behind it")
            elif _is_empty_text(block):
                yield Breach(rule="N5", index=index, text="a cache mark on empty text")
    if marks > MAX_CACHE_MARKS:
        yield Breach(rule="N5", index=-1, text=f"{marks} cache marks; at most {MAX_CACHE_MARKS} pass")


def _marked(message: Payload) -> Iterator[Payload]:
    for block in _blocks(message):
        if "cache_control" in block:
            yield block
        inner = block.get("content")
        if isinstance(inner, list):
            yield from (part for part in inner if "cache_control" in part)


# ---------------------------------------------------------------- texts of the framework


def _a6(rendered: _Rendered) -> Iterator[Breach]:
    """A6: a message that the framework wrote is text: no calls, no results, no reasoning."""
    for index, message in rendered.by("user"):
        if not _opens_like_ours(_opening(message)):
            continue
        inside = {block.get("type") for block in _blocks(message)} & _NOT_IN_A_NOTE
        if inside or "tool_calls" in message or "reasoning_content" in message:
            yield Breach(rule="A6", index=index, text="a summary or trace with calls, results or reasoning in it")


def _a9(rendered: _Rendered) -> Iterator[Breach]:
    """A9: in a framed message nothing stands outside a frame, so nothing quoted in it can pass for an instruction."""
    for index, message in rendered.by("user"):
        text = _opening(message)
        for opening, closing in FRAMES:
            if _is_frame(text, opening, closing) and not _is_closed_once(text, opening, closing):
                yield Breach(rule="A9", index=index, text=f"{closing!r} inside the frame; escape what is quoted")


def _opens_like_ours(text: str) -> bool:
    return text.startswith(NOTE) or any(_is_frame(text, opening, closing) for opening, closing in FRAMES)


def _is_frame(text: str, opening: str, closing: str) -> bool:
    """A user may open a text with such a tag too; the framework's ends with the closing tag and has nothing behind."""
    return text.startswith(opening) and text.rstrip().endswith(closing)


def _is_closed_once(text: str, opening: str, closing: str) -> bool:
    """Several whole frames in a row are fine."""
    return all(not rest.strip() or rest.lstrip().startswith(opening) for rest in text.split(closing))


def _opening(message: Payload) -> str:
    """The text with which a message opens, or ""."""
    content = message.get("content")
    if isinstance(content, list) and content and content[0].get("type") == "text":
        content = content[0].get("text")
    return content if isinstance(content, str) else ""


# ---------------------------------------------------------------- the change that a collection makes


def _a3(before: Request, after: Request) -> Iterator[Breach]:
    """A3: a call that waits for its result stays as it is, with the results that are already there."""
    waiting = _waiting(before)
    if waiting is None:
        return
    kept = _latest_reply(after)
    if kept is None or _calls(after.messages[kept]) != _calls(before.messages[waiting]):
        yield Breach(rule="A3", index=-1 if kept is None else kept, text="the newest calls wait for results; keep them")
    elif _answers(before.messages[waiting + 1 :]) != _answers(after.messages[kept + 1 :]):
        yield Breach(rule="A3", index=kept, text="a result behind the waiting calls is gone; keep the batch together")


def _a5(before: Request, after: Request, *, may_shrink: bool) -> Iterator[Breach]:
    """A5: the newest user message, or the newest batch of results, stays as it is."""
    was, now = _final(before), _final(after)
    if len(was) == len(now) and all(_same(old, new) for old, new in zip(was, now, strict=True)):
        return
    if may_shrink and _is_cut(was, now):
        return
    allowed = "be cut but not emptied or taken away" if may_shrink else "stay untouched"
    yield Breach(rule="A5", index=len(after.messages) - 1, text=f"the newest input changed; it has to {allowed}")


def _a7(before: Request, after: Request) -> Iterator[Breach]:
    """A7: a request that changed is smaller."""
    index = _first_change(before, after)
    if index is not None and after.tokens >= before.tokens:
        text = f"changed, and {after.tokens:,} tokens are no fewer than {before.tokens:,}; a change has to free some"
        yield Breach(rule="A7", index=index, text=text)


def _kept_thinking(before: Request, after: Request) -> Iterator[Breach]:
    """N3: thinking that stays is byte-identical, in order, and a run of thinking blocks stays or goes together."""
    places: dict[str, deque[int]] = {}
    for place, (_, run) in enumerate(_thinking(before.messages)):
        places.setdefault(run, deque()).append(place)
    reached = -1
    for index, run in _thinking(after.messages):
        candidates = places.get(run, deque())
        while candidates and candidates[0] <= reached:
            candidates.popleft()
        if candidates:
            reached = candidates.popleft()
        else:
            yield Breach(rule="N3", index=index, text="thinking that was edited, split or moved; keep a run or drop it")


def _latest_thinking(before: Request, after: Request) -> Iterator[Breach]:
    """N3: the latest reply keeps its thinking."""
    was, now = _latest_reply(before), _latest_reply(after)
    if was is None or now is None or _said(before.messages[was]) != _said(after.messages[now]):
        return  # another reply is the latest now: nothing here says what its thinking was
    if list(_thinking(before.messages[was : was + 1])) != list(_thinking(after.messages[now : now + 1])):
        yield Breach(
            rule="N3", index=now, text="the thinking of the latest reply was modified; it has to stay verbatim"
        )


def _bound_thinking(before: Request, after: Request) -> Iterator[Breach]:
    """N3b: behind the first change no thinking is valid any more."""
    index = _first_change(before, after)
    if index is None:
        return
    start = max(index, 0)
    for offset, message in enumerate(after.messages[start:]):
        untouched = _common(before, after, start) if offset == 0 and index >= 0 else 0
        if any(block.get("type") in _THINKING for block in _blocks(message)[untouched:]):
            yield Breach(rule="N3b", index=start + offset, text="thinking bound to what changed before it; strip it")


def _common(before: Request, after: Request, index: int) -> int:
    """How many blocks at the head of this message are as they were."""
    if index >= len(before.messages):
        return 0
    pairs = list(zip(_blocks(before.messages[index]), _blocks(after.messages[index]), strict=False))
    return next((count for count, (old, new) in enumerate(pairs) if not _same(old, new)), len(pairs))


def _first_change(before: Request, after: Request) -> int | None:
    """Index of the first message that is another one, -1 when system or tools are, None when nothing is."""
    if not (_all_same(before.system, after.system) and _all_same(before.tools, after.tools)):
        return -1
    for index, (old, new) in enumerate(zip(before.messages, after.messages, strict=False)):
        if not _same(old, new):
            return index
    shorter = min(len(before.messages), len(after.messages))
    return None if len(before.messages) == len(after.messages) else shorter


def _all_same(before: Sequence[Payload], after: Sequence[Payload]) -> bool:
    return len(before) == len(after) and all(_same(old, new) for old, new in zip(before, after, strict=True))


def _same(old: Payload, new: Payload) -> bool:
    """Whether both are one in cacheable form: a string is one text block, and cache marks do not count."""
    return old is new or old == new or _cacheable(old) == _cacheable(new)


def _cacheable(payload: Payload) -> dict[str, object]:
    plain = {key: value for key, value in payload.items() if key != "cache_control"}
    content = plain.get("content")
    if isinstance(content, str):
        plain["content"] = [{"type": "text", "text": content}]
    elif isinstance(content, list):
        plain["content"] = [_cacheable(block) for block in content]
    return plain


# ---------------------------------------------------------------- reading payloads of either format


def _blocks(message: Payload) -> Sequence[Payload]:
    """The content blocks of a message; a string is one text block, nothing is none."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []


def _is_empty_text(block: Payload) -> bool:
    return block.get("type") == "text" and not block.get("text")


def _calls(message: Payload) -> list[Payload]:
    """The calls of an assistant message, whole."""
    return [*(message.get("tool_calls") or ()), *(b for b in _blocks(message) if b.get("type") == "tool_use")]


def _answers(messages: Sequence[Payload]) -> list[str]:
    """The ids that results in these messages answer, in order."""
    answers: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            answers.append(message.get("tool_call_id", ""))
        answers += [b.get("tool_use_id", "") for b in _blocks(message) if b.get("type") == "tool_result"]
    return answers


def _latest_reply(request: Request) -> int | None:
    """Index of the last assistant message."""
    backwards = range(len(request.messages) - 1, -1, -1)
    return next((index for index in backwards if request.messages[index].get("role") == "assistant"), None)


def _waiting(request: Request) -> int | None:
    """Index of the last assistant message when not all of its calls are answered."""
    index = _latest_reply(request)
    if index is None:
        return None
    calls = Counter(call.get("id", "") for call in _calls(request.messages[index]))
    return index if calls - Counter(_answers(request.messages[index + 1 :])) else None


def _said(message: Payload) -> tuple[list[object], list[object]]:
    """What tells one reply from another, thinking and arguments left aside."""
    texts: list[object] = [block.get("text") for block in _blocks(message) if block.get("type") == "text"]
    return texts, [call.get("id") for call in _calls(message)]


def _thinking(messages: Sequence[Payload]) -> Iterator[tuple[int, str]]:
    """Each run of thinking blocks as canonical JSON, with the index of its message."""
    for index, message in enumerate(messages):
        run: list[Payload] = []
        for block in (*_blocks(message), {}):
            if block.get("type") in _THINKING:
                run.append(block)
            elif run:
                yield index, json.dumps(run, sort_keys=True)
                run = []


def _final(request: Request) -> list[Payload]:
    """The newest input: the last user message that is not the framework's own, or the last batch of results."""
    final: list[Payload] = []
    for message in reversed(request.messages):
        role = message.get("role")
        if role == "tool":
            final.append(message)
        elif final:
            break
        elif role == "user" and (_is_stub(message) or not _opens_like_ours(_opening(message))):
            return [message]
    return final[::-1]


def _is_stub(message: Payload) -> bool:
    """Whether it is what is left of somebody's message, unlike a trace, which stands for others."""
    return _STUB in _opening(message).partition("\n")[0]


def _is_cut(was: Sequence[Payload], now: Sequence[Payload]) -> bool:
    """Whether the same messages are there and none is emptied; that they are smaller together is A7."""
    if len(was) != len(now) or _answers(was) != _answers(now):
        return False
    return all(_is_filled_still(old, new) for old, new in zip(was, now, strict=True))


def _is_filled_still(old: Payload, new: Payload) -> bool:
    """No text is emptied; where an image stood, a note may stand. That all is smaller in tokens is A7."""
    if old.get("role") != new.get("role"):
        return False
    pairs = zip(_texts(old), _texts(new), strict=False)
    return all(now.strip() or not was.strip() for was, now in pairs)


def _texts(message: Payload) -> list[str]:
    """The text of each block, that of a result being all it holds; "" where a block has none."""
    return [_text(block) for block in _blocks(message)] or [""]


def _text(block: Payload) -> str:
    inner = block.get("content") if block.get("type") == "tool_result" else block.get("text")
    if isinstance(inner, list):
        return "".join(part.get("text", "") for part in inner)
    return inner if isinstance(inner, str) else ""


_RULES: dict[str, tuple[_Rule, ...]] = {
    "openai": (_openai_pairs, _openai_a4, _c2, _c3, _a6, _a9),
    "anthropic": (_anthropic_pairs, _n1, _anthropic_a4, _n2, _n3, _n4, _n5, _a6, _a9),
}
