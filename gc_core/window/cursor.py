"""The state of numbering: the facts about earlier messages that the next one depends on."""

from __future__ import annotations

import attrs

from gc_core.values.messages import Message


@attrs.frozen(kw_only=True)
class OpenCall:
    """
    A tool call that waits for its result.

    Attributes:
        call_id: Its id as it is sent.
        given_id: The id that the model gave it, if another one is sent; its result has this one.

    """

    item: str
    call_id: str
    name: str
    unit: int
    turn: int
    step: int
    given_id: str = ""

    def has_id(self, call_id: str) -> bool:
        """Return whether a result with this id answers it."""
        return call_id == self.call_id or (self.given_id != "" and call_id == self.given_id)


@attrs.frozen(kw_only=True)
class Cursor:
    """
    The state of the numbering: everything that the next message needs to know of those before it.

    Attributes:
        items: Items numbered so far.
        messages: Messages numbered so far.
        units: Units numbered so far.
        summaries: Summaries numbered so far.
        turn: The current turn.
        step: The last step of the current turn, -1 before its first.
        started: The conversation has begun.
        user_run: The last unit of user, model or tool was a user message.
        requested: There has been a user message.
        request_open: Before or inside the first run of user messages, the original request.
        used_tools: The current turn has called tools.
        replied: The last message of user, model or tool is a reply without calls.
        answer: Items of the last assistant message, if it contains only text.
        exchange: Items of the current turn that have only default policies, as long as it calls no tool.
        asks: The last assistant message contains only text and ends with a question.
        asked: Items of the previous turn, if that was an exchange that ended so.
        has_tools: The session has called tools.
        open_calls: Calls that wait for results, in order.
        results: The last message of the window if what comes next may join it, where the format wants that: the results
            of the current batch so far, a reply that comes in pieces, or a system message inside the conversation.

    """

    items: int = 0
    messages: int = 0
    units: int = 0
    summaries: int = 0
    turn: int = 0
    step: int = -1
    started: bool = False
    user_run: bool = False
    requested: bool = False
    request_open: bool = True
    used_tools: bool = False
    replied: bool = False
    answer: tuple[str, ...] = ()
    exchange: tuple[str, ...] = ()
    asks: bool = False
    asked: tuple[str, ...] = ()
    has_tools: bool = False
    open_calls: tuple[OpenCall, ...] = ()
    results: Message | None = None
