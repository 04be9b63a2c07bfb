"""The names of a text, as values."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Span:
    """
    A line that names something, or a piece of a very long line.

    Attributes:
        start: Its first character in the text.
        end: Its end, without the line break.
        names: The names in it.

    """

    start: int
    end: int
    names: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Scan:
    """
    The names of a text.

    spans: The lines that name something, in order.
        spans: The lines that name something, in their order.
        names: All names of the text; computed once, because every collection uses them.

    """

    spans: tuple[Span, ...] = ()
    names: frozenset[str] = attrs.field(init=False, repr=False, eq=False)

    @names.default
    def _all_names(self) -> frozenset[str]:
        return frozenset(name for span in self.spans for name in span.names)


NOTHING = Scan()
