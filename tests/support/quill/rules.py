"""The rules of dialogs: those of Chat Completions, a limit of marks (Q1), and stamps that stay unchanged (Q2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gc_core.providers.openai.rules import RULES as CHAT_RULES
from gc_core.providers.rules.violations import Rendered, Rule, Violation
from gc_core.values.messages import Request
from tests.support.quill.format import QuillFormat, as_chat

STAMP = "stamp"


def as_messages(request: Request) -> Request:
    return request.recast((message, as_chat(message)) for message in request.messages)


def _in_chat(rule: Rule) -> Callable[[Rendered], Iterable[Violation]]:
    return lambda rendered: rule(Rendered(request=as_messages(rendered.request), pending=rendered.pending))


def _q1(rendered: Rendered) -> Iterator[Violation]:
    if sum(map(QuillFormat().marks, rendered.messages)) > QuillFormat.most_marks:
        yield Violation(rule="Q1", index=-1, text="more than two cache marks")


def stamped(before: Request, after: Request) -> Iterator[Violation]:
    """Q2: a message with a stamp leaves, or stays as it is."""
    known = [message for message in before.messages if STAMP in message]
    for index, message in enumerate(after.messages):
        if STAMP in message and message not in known:
            yield Violation(rule="Q2", index=index, text="a stamped message was changed; keep it or drop it")


RULES: tuple[Rule, ...] = (*map(_in_chat, CHAT_RULES), _q1)
