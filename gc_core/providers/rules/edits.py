"""The rules for the change that a collection makes to a request (A3, A5, A7, A8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from gc_core.providers.registry import provider_named
from gc_core.providers.rules.blocks import answers_in, calls_of, latest_reply, texts_of, waiting_reply
from gc_core.providers.rules.prefix import first_change, same
from gc_core.providers.rules.thinking import bound_thinking, kept_thinking, latest_thinking
from gc_core.providers.rules.violations import Violation
from gc_core.values.messages import Payload, Request


def check_collection(
    before: Request,
    after: Request,
    *,
    final_may_shrink: bool = False,
    thinking_bound: bool = False,
    reply_left: bool = False,
) -> tuple[Violation, ...]:
    """
    Return every violation of the rules for what a collection may do to a request.

    ``final_may_shrink`` is for the last resort, which may shorten the newest message: it must still exist, with the
    same results, and not be empty. ``thinking_bound`` is for models that bind thinking to what precedes it: then all
    thinking after the first change must be removed, including that of the latest reply. ``reply_left`` says that the
    latest reply was removed, however similar the reply that is now the latest.
    """
    rules = provider_named(before.format).edit_rules
    own = tuple(breach for check in rules.checks for breach in check(before, after))
    sent = after
    before, after = rules.as_messages(before), rules.as_messages(after)
    breaches = (
        *_a3(before, after),
        *_a5(before, after, may_shrink=final_may_shrink),
        *_a7(before, after),
        *kept_thinking(before, after),
        *_n3(before, after, bound=thinking_bound, reply_left=reply_left),
    )
    return (*own, *(attrs.evolve(breach, index=rules.sent_index(sent, breach.index)) for breach in breaches))


def _n3(before: Request, after: Request, *, bound: bool, reply_left: bool) -> Iterator[Violation]:
    if bound:
        yield from bound_thinking(before, after)
    elif not reply_left:
        yield from latest_thinking(before, after)


def check_repeat(first_after: Request, second_after: Request) -> tuple[Violation, ...]:
    """A8: collecting again with the same goal and nothing appended changes nothing (cache marks aside)."""
    index = first_change(first_after, second_after)
    if index is None:
        return ()
    return (Violation(rule="A8", index=index, text="a second pass changed the request; it has to leave it as it is"),)


def _a3(before: Request, after: Request) -> Iterator[Violation]:
    """A3: a call that waits for its result stays as it is, with the results that are already there."""
    waiting = waiting_reply(before)
    if waiting is None:
        return
    kept = latest_reply(after)
    if kept is None or calls_of(after.messages[kept]) != calls_of(before.messages[waiting]):
        yield Violation(
            rule="A3", index=-1 if kept is None else kept, text="the newest calls wait for results; keep them"
        )
    elif answers_in(before.messages[waiting + 1 :]) != answers_in(after.messages[kept + 1 :]):
        yield Violation(rule="A3", index=kept, text="a result after the pending calls is gone; keep the batch together")


def _a5(before: Request, after: Request, *, may_shrink: bool) -> Iterator[Violation]:
    """A5: the newest user message, or the newest batch of results, stays as it is."""
    was, now = _final(before), _final(after)
    if len(was) == len(now) and all(same(old, new) for old, new in zip(was, now, strict=True)):
        return
    if may_shrink and _is_cut(was, now):
        return
    allowed = "be cut but not emptied or taken away" if may_shrink else "stay untouched"
    yield Violation(rule="A5", index=len(after.messages) - 1, text=f"the newest input changed; it has to {allowed}")


def _a7(before: Request, after: Request) -> Iterator[Violation]:
    """A7: a request that changed is smaller."""
    index = first_change(before, after)
    if index is not None and after.tokens >= before.tokens:
        text = f"changed, and {after.tokens:,} tokens are no fewer than {before.tokens:,}; a change has to free some"
        yield Violation(rule="A7", index=index, text=text)


def _final(request: Request) -> list[Payload]:
    """Return the newest input: the last user message that is not the framework's own, or the last batch of results."""
    final: list[Payload] = []
    for message in reversed(request.messages):
        role = message.get("role")
        if role == "tool":
            final.append(message)
        elif final:
            break
        elif role == "user" and not request.is_own(message):
            return [message]
    return final[::-1]


def _is_cut(was: Sequence[Payload], now: Sequence[Payload]) -> bool:
    """Return whether the same messages exist and none is empty; A7 checks that they are smaller together."""
    if len(was) != len(now) or answers_in(was) != answers_in(now):
        return False
    return all(_is_filled_still(old, new) for old, new in zip(was, now, strict=True))


def _is_filled_still(old: Payload, new: Payload) -> bool:
    """Return whether no text was emptied; a note may replace an image. A7 checks that everything is smaller."""
    if old.get("role") != new.get("role"):
        return False
    pairs = zip(texts_of(old), texts_of(new), strict=False)
    return all(now.strip() or not was.strip() for was, now in pairs)
