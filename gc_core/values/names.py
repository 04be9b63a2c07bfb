"""The names of a text, as values."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Span:
    """
    A line that names something, or a piece of a very long line.

    Attributes:
        start: Where it begins in the text, in characters.
        end: Where it ends, its line break left out.
        names: The names in it.

    """

    start: int
    end: int
    names: tuple[str, ...]


@attrs.frozen(kw_only=True)
class Scan:
    """
    The names of a text.

    Attributes:
        spans: The lines that name something, in their order.
        names: All names of the text; made once, for every collection asks.

    """

    spans: tuple[Span, ...] = ()
    names: frozenset[str] = attrs.field(init=False, repr=False, eq=False)

    @names.default
    def _all_names(self) -> frozenset[str]:
        return frozenset(name for span in self.spans for name in span.names)


NOTHING = Scan()
