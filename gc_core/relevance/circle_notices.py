"""What the re-read guard noticed, and the warning that the agent is given."""

from __future__ import annotations

import attrs

ASKED, REPEATED = "asked", "repeated"
"""The kinds of notices: words that ask for collected content, or a call that returns the same again."""


@attrs.frozen(kw_only=True)
class Notice:
    """
    A repetition that the guard noticed.

    Attributes:
        kind: ``"asked"`` or ``"repeated"``.
        what: The words that asked, or the call that repeats.
        times: The number of repetitions, with nothing new in between.
        item: The newest item that contains it; "" for a part of the system text, and for a block that waits.
        goes_on: It continued after the warning.

    """

    kind: str
    what: str
    times: int
    item: str
    goes_on: bool = False


def notice_text(notice: Notice, *, recalls: bool, cites: bool, reference: str) -> str:
    """
    Return the warning for the agent: to continue from what is in the window, and how to get an original back.

    ``recalls``: it has the tool ``recall``; ``cites``: references name bytes of a log that it knows of; ``reference``:
        something that was left out, or "".
    """
    if notice.kind == ASKED:
        seen = "The older part of this conversation is no longer in the window as it was."
    else:
        seen = f"{notice.what} has given the same result {notice.times} times, with nothing new between."
    example = reference or "i42"
    if recalls:
        back = f'What is needed word for word comes back once, by its id: recall with reference="{example}".'
    elif cites:
        back = "What is needed word for word stands in the log, at the bytes that these lines name."
    else:
        back = "What is needed and not told there can be asked of the user."
    rest = "Summaries and lines that open with [gc: stand for what was left out. Continue from them, with a new step."
    return f"{seen} {rest} {back}"
