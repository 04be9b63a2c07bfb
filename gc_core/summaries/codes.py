"""Tells which names the codes of a text stand for: Texas for "TX", Denver for "DEN", the United States for USA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from gc_core.values.patterns import regex

_CODE = regex(r"[\"'(]([A-Z]{2,3})[\"')]")
_INITIALS = regex(r"\b[A-ZÀ-Þ]{2,6}\b")
_RUN = regex(r"(?:[A-ZÀ-Þ][a-zà-ÿ]+ ){1,5}[A-ZÀ-Þ][a-zà-ÿ]+")
_AIRPORTS: Final = {
    code: tuple(city.split("-"))
    for pair in """
    ARN:stockholm BDL:hartford BLR:bangalore BNA:nashville BOM:mumbai BWI:baltimore CAN:guangzhou CCU:kolkata CDG:paris
    CGK:jakarta CMH:columbus CTS:sapporo CTU:chengdu CVG:cincinnati DCA:washington DFW:dallas DTW:detroit DXB:dubai
    EWR:newark EZE:buenos-aires FCO:rome GIG:rio-janeiro GRU:sao-paulo HGH:hangzhou HND:tokyo IAD:washington IAH:houston
    ICN:seoul JAX:jacksonville JFK:new-york KIX:osaka LAX:los-angeles LGA:new-york LHR:london LTN:london LYS:lyon
    MAA:chennai MCI:kansas-city MCO:orlando MDW:chicago MSP:minneapolis-saint-paul MSY:new-orleans MXP:milan NRT:tokyo
    ORD:chicago ORY:paris PDX:portland PEK:beijing PKX:beijing PVG:shanghai RDU:raleigh RSW:fort-myers SCL:santiago
    SFO:san-francisco SGN:saigon SJC:san-jose SLC:salt-lake SMF:sacramento SVO:moscow SZX:shenzhen XIY:xian YUL:montreal
    YVR:vancouver YYC:calgary YYZ:toronto
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
    for code, _, city in [pair.partition(":")]
}
"""Cities whose airport is not called after them."""


@attrs.frozen
class Codes:
    """
    The codes of a text.

    Attributes:
        quoted: Two or three capitals in quotation marks or brackets.
        initials: Runs of capitals, which may be the first letters of words.

    """

    quoted: frozenset[str]
    initials: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Codes:
        """Return those of a text."""
        return cls(frozenset(_CODE.findall(text)), frozenset(_INITIALS.findall(text)))

    def stand_for(self, name: str) -> bool:
        """Return whether a code has letters of a name in their order, the first one among them, or is its airport's."""
        lower = name.lower()
        return any(lower in _AIRPORTS.get(code, ()) or _is_short_for(code.lower(), lower) for code in self.quoted)

    def spelt_out(self, prose: str) -> Iterator[str]:
        """Yield the words of runs whose first letters the codes are, or begin with, and of LAS for Las Vegas."""
        for words in map(str.split, _RUN.findall(prose)):
            first = "".join(word[0] for word in words)
            joined = "".join(words[:2]).lower()
            if any(known.startswith(first) for known in self.initials) or any(
                len(code) > 2 and _is_short_for(code.lower(), joined)  # noqa: PLR2004 - two letters fit many names
                for code in self.quoted
            ):
                yield from words


def _is_short_for(code: str, name: str) -> bool:
    letters = iter(name)
    return name[:1] == code[:1] and all(letter in letters for letter in code)
