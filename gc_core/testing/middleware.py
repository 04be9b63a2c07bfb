"""The contract of middleware."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from gc_core.errors import MessageError
from gc_core.isolation import isolated
from gc_core.plugins.contract import ContextMiddleware
from gc_core.plugins.middleware import accepted
from gc_core.providers import format_named
from gc_core.testing.contract import Contract, rule
from gc_core.testing.conversations import make_conversation
from gc_core.testing.purity import MOMENTS, at_moment
from gc_core.values.messages import Payload

_ODD = ("", " \n\t" * 20, "\ud800 stood here", "\0" * 9, "x" * 100_000)


class MiddlewareContract(Contract):
    """
    The rules for middleware. Subclass it as ``class TestMine(MiddlewareContract)``.

    Attributes:
        middleware: The class; or override ``make`` where it needs arguments.
        formats: The message shapes that it supports.

    """

    middleware: ClassVar[type[ContextMiddleware] | None] = None
    formats: ClassVar[tuple[str, ...]] = ("openai", "anthropic")

    def make(self) -> ContextMiddleware:
        """Return a middleware to test; a new one with every call."""
        assert self.middleware is not None, f"{type(self).__name__} names none: set `middleware` or override make()"
        return self.middleware()

    @rule
    def test_answers_with_a_message_or_none(self) -> None:
        """The answer is a message in plain JSON values, or None to leave it unchanged."""
        for name, _, message in self._messages():
            answer = self._answer(name, message)
            assert answer is None or isinstance(answer, Mapping), f"{name}: answers {answer!r:.100}; expected a dict"
            try:
                json.dumps(answer, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise AssertionError(f"{name}: answers what is not JSON: {error}") from error

    @rule
    def test_leaves_what_belongs_together(self) -> None:
        """Role, calls, results and thinking stay: gc-core refuses a change that no provider would accept."""
        for name, form, message in self._messages():
            answer = self._answer(name, message)
            if isinstance(answer, Mapping):
                try:
                    accepted("it", message, answer, format_named(form))
                except MessageError as error:
                    raise AssertionError(f"{name}: {error}") from error

    @rule
    def test_twice_is_as_once(self) -> None:
        """It leaves unchanged what it has changed once: the log of one session may be appended to another."""
        for name, _, message in self._messages():
            once = self._result(name, message)
            twice = self._result(name, once)
            assert twice == once, f"{name}: makes {_short(once)}, and of that {_short(twice)}"

    @rule
    def test_same_message_same_answer(self) -> None:
        """The same message has the same answer, whatever came before, whenever it comes."""
        kept, first = self.make(), dict[str, object]()
        for name, _, message in self._messages():
            with at_moment(MOMENTS[0]):
                first[name] = self._result(name, message)
            with at_moment(MOMENTS[1]):
                second, third = self._result(name, message), _left(kept.process(copy.deepcopy(message)), message)
            fine = first[name] == second == third
            assert fine, f"{name}: answers {_short(first[name])}, and asked again {_short(second)} or {_short(third)}"

    @rule
    def test_changes_nothing_that_it_is_given(self) -> None:
        """The given message stays as it was: the answer is another one."""
        for name, _, message in self._messages():
            given = copy.deepcopy(message)
            with isolated():  # another rule checks what it raises
                self.make().process(given)
            assert given == message, f"{name}: has changed the message that it was given; answer with a copy"

    @rule
    def test_takes_odd_messages(self) -> None:
        """It raises for nothing that a session may contain: empty texts, very long ones, lone surrogates."""
        for text in _ODD:
            for role in ("user", "assistant"):
                self._answer(f"{len(text)} characters {text[:5]!r}", {"role": role, "content": text})

    # -- inside --------------------------------------------------------------------------------------------------

    def _messages(self) -> Iterator[tuple[str, str, Payload]]:
        for seed in self.seeds:
            for form in self.formats:
                for place, message in enumerate(make_conversation(seed, format=form).messages[:40]):
                    yield f"seed {seed}, {form}, message {place}", form, message

    def _answer(self, name: str, message: Payload) -> object:
        answer: object = None
        with isolated() as attempt:
            answer = self.make().process(copy.deepcopy(message))
        error = attempt.error
        if error is not None:
            raise AssertionError(f"{name}: raises {type(error).__name__}: {error}; answer None to leave it") from error
        return answer

    def _result(self, name: str, message: Any) -> Any:
        return _left(self._answer(name, message), message)


def _left(answer: object, message: Any) -> Any:
    return message if answer is None else answer


def _short(message: object) -> str:
    return f"{message!r:.160}"
