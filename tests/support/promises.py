"""Drives a session and watches that every request keeps the promises; whoever breaks one is named at once."""

from __future__ import annotations

import json
from collections import Counter

import attrs

from gc_core import ContextOverflowError, GCSession, GCTriggerReason
from gc_core.events import CollectionDeferred, CollectionFinished, CollectionStarted
from gc_core.providers import format_named
from gc_core.providers.rules import check_request
from gc_core.providers.token_counting import message_tokens, schema_tokens
from gc_core.values.messages import Role
from tests.support.checker import complaints
from tests.support.inside import counter_of, recorder_of, state_of


@attrs.define
class Seen:
    """The findings of a run, for its report."""

    calls: int = 0
    collections: Counter = attrs.Factory(Counter)
    deferred: int = 0
    repeats: int = 0
    overflows: list = attrs.Factory(list)


class Watch:
    """
    Sends messages through a session as an agent's loop would, and asserts the promises on every request.
    """

    def __init__(self, session: GCSession, *, format_name: str = "openai", repeated_ids: bool = False, checks=None):
        self.session = session
        self.format = format_named(format_name)
        self.seen = Seen()
        # Servers that copy Anthropic's API repeat call ids; the vendor's own never do, and it refuses them.
        self._checks = checks or ({"unique_ids": False} if repeated_ids and format_name == "anthropic" else {})
        self.locked: list[str] = []
        self._asked = self._answered = self._replying = False
        self._previous: list[str] = []
        self._collected = 0
        self._goal = None
        session.listen(self._on_event)
        self._commit, recorder_of(session).commit = recorder_of(session).commit, self._committing

    def _on_event(self, event):
        if isinstance(event, CollectionStarted):
            self._goal = event.goal
        elif isinstance(event, CollectionDeferred):
            self.seen.deferred += 1
        elif isinstance(event, CollectionFinished):
            self._collected += 1
            self.seen.collections[event.result.reason.value] += 1
            assert event.result.tokens_after < event.result.tokens_before, "a collection must shrink the request"
            if event.result.reason is not GCTriggerReason.CONTEXT_LIMIT:
                # The last resort stops where the request fits, which is above its goal: strategies would continue.
                self.assert_a_second_collection_is_empty()

    def _committing(self, collection, context):
        """A plan's count equals the later window: otherwise it stops too early, and the next pass removes more."""
        assert collection.plan.tokens == collection.result.tokens_after
        self._commit(collection, context)

    # -- driving ---------------------------------------------------------------------------------------------------

    def run(self, messages):
        for message in messages:
            if self.format.role(message) is not Role.ASSISTANT:
                self.session.append(message)
            elif self.format.replies_in_pieces and self._replying:
                self.session.append(message)  # a further item of the same reply
            else:
                self.call(message)
            self._replying = self.format.role(message) is Role.ASSISTANT
            self._note_locked(message)
        return self.seen

    def _note_locked(self, message):
        """System text, and the first run of user messages, as they were given."""
        role = self.format.role(message)
        if role is Role.SYSTEM:
            self.locked += texts_of(message)
        if role is Role.USER and not self._answered:
            self.locked += texts_of(message)
            self._asked = True
        if role is Role.ASSISTANT:
            self._answered = self._asked

    def call(self, reply):
        try:
            request = self.session.pre_send()
        except ContextOverflowError as error:
            self.seen.overflows.append(error)
            self.assert_only_held_content_is_left(error)
            self.session.append(reply)
            return None
        self.seen.calls += 1
        self.assert_promises(request)
        if self.format.replies_in_pieces and "output" not in reply:
            self.session.append(reply)  # the first item of a reply; only when all are there may a turn end
        else:
            self.session.post_turn(reply)
        return request

    # -- the promises ----------------------------------------------------------------------------------------------

    def assert_promises(self, request):
        self.assert_it_fits(request)
        self.assert_it_is_valid(request)
        self.assert_locked_is_held(request)
        self.assert_it_did_not_change(request)
        self.assert_the_budget_is_what_is_rendered(request)

    def assert_it_fits(self, request):
        assert state_of(self.session).calibration.estimate(request.tokens) <= self.session.config.usable

    def assert_it_is_valid(self, request):
        assert complaints(self.format.name, request.kwargs(), **self._checks) == []
        assert check_request(request) == ()

    def assert_locked_is_held(self, request):
        sent = "\n".join(text for payload in (*request.system, *request.messages) for text in texts_of(payload))
        missing = [text for text in self.locked if text not in sent]
        assert missing == []

    def assert_it_did_not_change(self, request):
        """A sent request stays unchanged, unless a collection came between."""
        now = [canonical(payload) for payload in (*request.tools, *request.system, *request.messages)]
        if self._collected == 0:
            assert now[: len(self._previous)] == self._previous
        self._previous, self._collected = now, 0

    def assert_the_budget_is_what_is_rendered(self, request):
        assert recount(request, self.format, counter_of(self.session)) == self.session.budget.total == request.tokens

    def assert_a_second_collection_is_empty(self):
        again = self.session.plan(goal=self._goal)
        assert again.plan.removals == (), again.plan.removals[:3]
        self.seen.repeats += 1

    def assert_only_held_content_is_left(self, error):
        assert error.needed > error.limit
        assert error.owners


TEXTS = {"text", "input_text", "output_text"}


def texts_of(payload):
    if "parts" in payload:
        return [part["text"] for part in payload["parts"] if part.get("text", "").strip()]
    content = payload.get("content", payload.get("text"))
    if isinstance(content, str):
        return [content] if content.strip() else []
    return [block["text"] for block in content or [] if block.get("type") in TEXTS and block["text"].strip()]


def canonical(payload):
    """A message as a cache compares it: canonical JSON without marks, in which a string is one text block."""
    return json.dumps(cacheable(payload), sort_keys=True)


def cacheable(payload):
    plain = {key: value for key, value in payload.items() if key not in {"cache_control", "prompt_cache_breakpoint"}}
    if isinstance(plain.get("content"), str):
        plain["content"] = [{"type": "text", "text": plain["content"]}]
    for field in ("content", "output"):
        if isinstance(plain.get(field), list):
            plain[field] = [cacheable(block) if isinstance(block, dict) else block for block in plain[field]]
    if plain.get("type") in TEXTS:
        plain["type"] = "text"
    return plain


def recount(request, format_, counter):
    """Tokens of what is really sent, read again from the rendered payloads."""
    total = counter.per_request + sum(schema_tokens(tool, counter) for tool in request.tools)
    total += sum(counter.count(block["text"]) for block in request.system)
    total += counter.per_message * bool(request.system)
    replying = False
    for payload in request.messages:
        replies = format_.replies_in_pieces and format_.role(payload) is Role.ASSISTANT
        total += message_tokens(payload, format_, counter) - counter.per_message * (replies and replying)
        replying = replies
    return total
