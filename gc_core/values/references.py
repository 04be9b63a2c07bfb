"""The text in the place of removed content: how much was removed, under which id, and what it was."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

import attrs

from gc_core.errors import ConfigError
from gc_core.values.escaping import escaped
from gc_core.values.patterns import regex

LOG_NAME = "master.jsonl"
"""The file of the session's directory to which byte ranges refer."""

PLAIN = "{id}"
"""How a reference names what it recalls, if no tool was named: by the id alone."""

HINTED_FROM = 400
"""Tokens from which a trace hints at what it replaces: a hint on less would cost too much of what was freed."""

MOST_NAMES = 12
"""The most names in a trace, the newest."""

_TOOLS = 2
"""The most tools that a trace names; the calls of all others are summed."""

_NAME_CHARS = 24


@attrs.frozen
class ByteRange:
    """
    The place of a record in a file of the session.

    Attributes:
        start: Offset of its first byte.
        end: Offset after its last byte, which is a line break.

    """

    start: int
    end: int


@attrs.frozen(kw_only=True)
class Stretch:
    """
    Items in a row, by the ids and the turns of the first and the last one.

    Attributes:
        first: Id of the first one.
        last: Id of the last one.
        first_turn: Turn of the first one.
        last_turn: Turn of the last one.

    """

    first: str
    last: str
    first_turn: int
    last_turn: int

    def ids(self) -> str:
        """Return the ids, as they are recalled."""
        return self.first if self.first == self.last else f"{self.first}-{self.last}"


@attrs.frozen(kw_only=True)
class Reference:
    """
    A pointer from the window to what left it. The ids are valid for the life of the session's log.

    Attributes:
        tokens: Tokens that it stands for when they arrived.
        kept: Those of them that a stub still shows.
        first: Id of the first item that it covers.
        last: Id of the last one; the same as ``first`` for a stub.
        first_turn: Turn of the first item.
        last_turn: Turn of the last item.
        hint: A few words on a single item, or "".
        calls: Tools called in what a trace replaces, with their numbers, the most called first.
        preview: How the last statement in the range begins, or "".
        said: What users laid down there, sentences verbatim.
        names: Names that occurred there and nowhere else in the window, of what was asked and done.
        place: The bytes of the master log that contain it all; None if no log is mentioned.
        recalls: There is a session to recall it from; without one no ids are shown.
        form: How the model recalls it: the call of its tool, with ``{id}`` in place of the id.
        parts: The stretches that its text names where other references name parts of the range, none if they name it
            all; None: the whole range.

    """

    tokens: int
    first: str
    last: str
    first_turn: int
    last_turn: int
    kept: int = 0
    hint: str = ""
    calls: tuple[tuple[str, int], ...] = ()
    preview: str = ""
    said: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    place: ByteRange | None = None
    recalls: bool = True
    form: str = PLAIN
    parts: tuple[Stretch, ...] | None = None

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """The stretches that its text names."""
        if self.parts is not None:
            return self.parts
        whole = Stretch(first=self.first, last=self.last, first_turn=self.first_turn, last_turn=self.last_turn)
        return (whole,)

    def stub_text(self, beginning: str = "") -> str:
        """Return the line that ends a stub; of one that keeps nothing with the beginning of the text, in quotes."""
        about = f"{self._named(self.first)} {self.hint}".rstrip() if self.recalls else self.hint
        about += f": {beginning}" if beginning else ""
        line = f"[gc: {self.tokens - self.kept:,} tokens left out: {about.strip()}{self._where()}]"
        return line if self.recalls else sealed(line)  # a session recognises its own by the log

    def trace_text(self) -> str:
        """Return the whole text of a trace."""
        about = ", ".join(filter(None, self._hints()))
        return sealed(self._line(f": {about}" if about else ""))

    def summary_text(self, label: str, body: str) -> str:
        """Return a summary as the model reads it: a heading, its text, and how to get the originals back."""
        of = f' of="{_turns(self.stretches)}"' if self.recalls and self.stretches else ""
        opening = f'<summary name="{label}"{of}>\nAn account of what was said and done; no instructions.'
        told, said = body if self.recalls else without_references(body), escaped(self._said())
        return sealed(f"{opening}\n{told}\n{self._line(f': {said}' if said else '')}\n</summary>")

    def _line(self, about: str = "") -> str:
        ids = self._named(", ".join(stretch.ids() for stretch in self.stretches))
        where = f": {_turns(self.stretches)}, {ids}" if self.recalls and self.stretches else ""
        return f"[gc: {self.tokens:,} tokens left out here{where}{about}{self._where()}]"

    def _hints(self) -> tuple[str, ...]:
        about = (self._calls(), self.preview and f'"{self.preview}"') if self.tokens >= HINTED_FROM else ()
        named = f"on {', '.join(self.names)}" if self.names else ""
        return (*about, self._said(), named)

    def _said(self) -> str:
        said = " ".join(f'"{sentence}"' for sentence in self.said)
        return said and f"the user said {said}"

    def _calls(self) -> str:
        parts = [f"{count} {name[:_NAME_CHARS]}" for name, count in self.calls[:_TOOLS]]
        others = sum(count for _, count in self.calls[_TOOLS:])
        return ", ".join([*parts, f"{others} more calls"] if others else parts)

    def _where(self) -> str:
        return "" if self.place is None else f"; {LOG_NAME}:{self.place.start}-{self.place.end}"

    def _named(self, ids: str) -> str:
        return self.form.replace(PLAIN, ids)


def _turns(stretches: Iterable[Stretch]) -> str:
    """Return the turns of these stretches in words, each once."""
    runs: list[tuple[int, int]] = []
    for each in stretches:
        if runs and each.first_turn <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(runs[-1][1], each.last_turn)
        else:
            runs.append((each.first_turn, each.last_turn))
    told = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"turn {told}" if told.isdigit() else f"turns {told}"


_FORM = regex(r"[\w .:/@=-]{0,60}\{id\}[\w .:/@=-]{0,60}", re.ASCII)


def check_recall_form(form: object) -> None:
    """Raise ConfigError for what is no form of a recall: plain words with ``{id}`` once."""
    if not isinstance(form, str) or not _FORM.fullmatch(form):
        raise ConfigError(f"recall_form = {form!r:.200}: expected a short call with {{id}}, as in 'gc_recall {{id}}'")


_VERBATIM = regex(r"(^```$.*?^```$|“[^“”\n]*”|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
_BRACKETS = regex(r"( ?)(?<!\S)\(([^()\n]*)\)( ?)")
_NAMED = regex(r"turn \d{1,9}|(?:in place of )?i\d{1,9}")
_POINTERS = regex(
    r" (?:at|up to turn \d{1,9},) i\d{1,9}(?=:)|(?<=\S) i\d{1,9}(?=,|$)"
    r"|; all were kept, and can be searched and recalled by their item(?=\])",
    re.MULTILINE,
)
_HEADINGS = regex(r"^i\d{1,9} (?=[^:\n]{1,60}:$)", re.MULTILINE)


def without_references(text: str) -> str:
    """
    Return a text of gc-core's own without turns, item ids and how to recall, for a list that nothing can be recalled
    from; what it quotes stays as it is.
    """
    pieces = _VERBATIM.split(text)
    pieces[::2] = [_POINTERS.sub("", _BRACKETS.sub(_without_ids, piece)) for piece in pieces[::2]]
    return "".join(_HEADINGS.sub("", piece) if piece.startswith("```") else piece for piece in pieces)


def _without_ids(brackets: re.Match[str]) -> str:
    before, inside, after = brackets.groups()
    parts = inside.split(", ")
    left = [part for part in parts if not _NAMED.fullmatch(part)]
    if len(left) == len(parts):
        return brackets.group()
    return f"{before}({', '.join(left)}){after}" if left else before and after


_SEALED = regex(r" #(\d{6})(\](?:\n</summary>)?)\Z")
_OPEN = regex(r"\](?:\n</summary>)?\Z")


def sealed(text: str) -> str:
    """
    Return one of gc-core's own texts with a check number in its last line, by which it is recognised when it comes back
    in a list.

    It distinguishes gc-core's texts from similar ones, not from forgeries by someone who knows this code.
    """
    end = _OPEN.search(text)
    return text if end is None else f"{text[: end.start()]} #{check_of(text)}{end.group()}"


def unsealed(text: str) -> str | None:
    """Return a text without its check number; None if it has none, or a wrong one."""
    end = _SEALED.search(text)
    if end is None:
        return None
    bare = text[: end.start()] + end.group(2)
    return bare if check_of(bare) == end.group(1) else None


def check_of(text: str) -> str:
    """Return the six digits for this text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4, person=b"gc-core").digest()
    return f"{int.from_bytes(digest) % 10**6:06d}"
