"""Recognises gc-core's own texts when they come back in a list that a caller keeps."""

from __future__ import annotations

import attrs

from gc_core.values.items import ItemKind
from gc_core.values.patterns import regex
from gc_core.values.references import check_of, unsealed

_NOTICE = regex(r"\[gc: ([\d,]{1,15}) tokens left out here(?::? ([^\n]*))?\]")
_STUB = regex(r"\[gc: ([\d,]{1,15}) tokens left out: ([^\n]*)\]")
_SUMMARY = regex(r'<summary name="(?:summary|digest) (\d{1,9})"[^>\n]{0,400}>\n')
_STATE = regex(r'<context source="task_state" name="[^"\n]{1,60}" check="(\d{6})">\n')
_SAID = regex(r'the user said ((?:"[^"\n]*" ?)+)')
_QUOTED = regex(r'"([^"\n]*)"')
_NAMES = regex(r"(?:^|, )on ([^\"\n]+?)(?:; |$)")


@attrs.frozen(kw_only=True)
class OwnText:
    """
    A text of gc-core's own.

    Attributes:
        kind: TRACE, SUMMARY or MEMORY_BLOCK (a task state); a stub keeps the kind of its original.
        tokens: Tokens that are left out there.
        number: The number of a summary.
        is_digest: A summary that grows by entries.
        hint: A stub's description of its content.
        said: Quoted sentences of users.
        names: The names in it.

    """

    kind: ItemKind
    tokens: int = 0
    number: int = 0
    is_digest: bool = False
    hint: str = ""
    said: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def own_message(text: str) -> OwnText | None:
    """Return the notice, summary or task state that is the whole text of a message; None for anything else."""
    if text.startswith("[gc: "):
        return _notice(text)
    if text.startswith("<summary "):
        return _summary(text)
    if text.startswith("<context "):
        return _state(text)
    return None


def own_stub(text: str) -> OwnText | None:
    """Return the stub at the end of a text; None for anything else. O(last line)."""
    line = text[text.rfind("\n") + 1 :]
    if not line.startswith("[gc: "):
        return None
    bare = unsealed(line)
    found = None if bare is None else _STUB.fullmatch(bare)
    if found is None:
        return None
    return OwnText(kind=ItemKind.TOOL_RESULT, tokens=_number(found.group(1)), hint=found.group(2))


def _notice(text: str) -> OwnText | None:
    bare = unsealed(text)
    found = None if bare is None else _NOTICE.fullmatch(bare)
    if found is None:
        return None
    details = found.group(2) or ""
    names = _NAMES.search(_QUOTED.sub("", details))
    return OwnText(
        kind=ItemKind.TRACE,
        tokens=_number(found.group(1)),
        said=_said(details),
        names=tuple(names.group(1).split(", ")) if names else (),
    )


def _summary(text: str) -> OwnText | None:
    found = _SUMMARY.match(text)
    bare = unsealed(text) if found and text.endswith("</summary>") else None
    if found is None or bare is None:
        return None
    line = next((line for line in reversed(bare.splitlines()) if line.startswith("[gc: ")), "")
    notice = _NOTICE.fullmatch(line)
    return OwnText(
        kind=ItemKind.SUMMARY,
        tokens=_number(notice.group(1)) if notice else 0,
        number=int(found.group(1)),
        is_digest=text.startswith('<summary name="digest'),
        said=_said(notice.group(2) or "") if notice else (),
    )


def _said(details: str) -> tuple[str, ...]:
    """Return the sentences of users that the details of a notice quote."""
    said = _SAID.search(details)
    return tuple(_QUOTED.findall(said.group(1))) if said else ()


def _state(text: str) -> OwnText | None:
    found = _STATE.match(text)
    if found is None or not text.endswith("\n</context>"):
        return None
    return OwnText(kind=ItemKind.MEMORY_BLOCK) if check_of(text[found.end() : -11]) == found.group(1) else None


def _number(text: str) -> int:
    return int(text.replace(",", "") or "0")
