"""Tells which names the codes of a text stand for: Texas for "TX", Denver for "DEN", the United States for USA."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

import attrs

from gc_core.values.patterns import regex

_CODE = regex(r"[\"'(]([A-Z]{2,3})[\"')]|\b([A-Z]{3}|U[KS])\b")
_INITIALS = regex(r"\b[A-ZÀ-Þ]{3,6}\b")
_RUN = regex(r"(?:[A-ZÀ-Þ][a-zà-ÿ]+ ){2,5}[A-ZÀ-Þ][a-zà-ÿ]+")
_LEAST_INITIALS: Final = 3

_PLACES: Final = {
    code: frozenset(place.split("-"))
    for pair in """
    AMS:amsterdam ARN:stockholm ATH:athens ATL:atlanta AUS:austin BCN:barcelona BDL:hartford BER:berlin BKK:bangkok
    BLR:bangalore BNA:nashville BOM:mumbai BOS:boston BRU:brussels BUD:budapest BWI:baltimore CAN:guangzhou CCU:kolkata
    CDG:paris CGK:jakarta CLE:cleveland CLT:charlotte CMH:columbus CPH:copenhagen CTS:sapporo CTU:chengdu CVG:cincinnati
    DAL:dallas DCA:washington DEL:delhi DEN:denver DFW:dallas DTW:detroit DUB:dublin DUS:dusseldorf DXB:dubai EWR:newark
    EZE:buenos-aires FCO:rome FRA:frankfurt GIG:rio-janeiro GRU:sao-paulo GVA:geneva HAM:hamburg HEL:helsinki
    HGH:hangzhou HKG:hong-kong HND:tokyo HNL:honolulu HOU:houston IAD:washington IAH:houston ICN:seoul IND:indianapolis
    IST:istanbul JAX:jacksonville JFK:new-york KIX:osaka LAS:las-vegas LAX:los-angeles LGA:new-york LHR:london
    LIS:lisbon LTN:london LYS:lyon MAA:chennai MAD:madrid MAN:manchester MCI:kansas-city MCO:orlando MDW:chicago
    MEL:melbourne MEM:memphis MIA:miami MKE:milwaukee MSP:minneapolis-saint-paul MSY:new-orleans MUC:munich MXP:milan
    NRT:tokyo OAK:oakland ORD:chicago ORY:paris OSL:oslo PDX:portland PEK:beijing PHL:philadelphia PHX:phoenix
    PIT:pittsburgh PKX:beijing PRG:prague PVG:shanghai RDU:raleigh RSW:fort-myers SAN:san-diego SAT:san-antonio
    SCL:santiago SEA:seattle SFO:san-francisco SGN:saigon SJC:san-jose SLC:salt-lake SMF:sacramento SVO:moscow
    SYD:sydney SZX:shenzhen TPA:tampa VIE:vienna WAW:warsaw XIY:xian YUL:montreal YVR:vancouver YYC:calgary YYZ:toronto
    ZRH:zurich
    AL:alabama AK:alaska AZ:arizona AR:arkansas CA:california CO:colorado CT:connecticut DE:delaware FL:florida
    GA:georgia HI:hawaii ID:idaho IL:illinois IN:indiana IA:iowa KS:kansas KY:kentucky LA:louisiana ME:maine MD:maryland
    MA:massachusetts MI:michigan MN:minnesota MS:mississippi MO:missouri MT:montana NE:nebraska NV:nevada
    NH:new-hampshire NJ:new-jersey NM:new-mexico NY:new-york NC:carolina ND:dakota OH:ohio OK:oklahoma OR:oregon
    PA:pennsylvania RI:rhode-island SC:carolina SD:dakota TN:tennessee TX:texas UT:utah VT:vermont VA:virginia
    WA:washington WV:virginia WI:wisconsin WY:wyoming
    AE:united-arab-emirates CR:costa-rica CZ:czech-republic GB:great-britain-united-kingdom HK:hong-kong LK:sri-lanka
    SA:saudi-arabia TW:taiwan UK:united-kingdom US:united-states USA:united-states
    CE:ceará GO:goiás MG:minas-gerais PE:pernambuco PR:paraná RJ:rio-janeiro RS:rio-grande-sul SP:são-paulo
    """.split()  # noqa: SIM905 - a list of quoted words is harder to read
    for code, _, place in [pair.partition(":")]
}
"""Airports, states and countries."""


@attrs.frozen(slots=False)
class Codes:
    """The codes of a text: two or three capitals in quotation marks or brackets, and others that stand alone."""

    text: str

    def stand_for(self, name: str) -> bool:
        """Return whether one is that of a place with a name."""
        return name.lower() in self._places

    def spelt_out(self, prose: str) -> Iterator[str]:
        """Yield the words of another text of which a code is all the initials."""
        for words in map(str.split, _RUN.findall(prose)):
            for start, end in itertools.combinations(range(len(words) + 1), 2):
                if end - start >= _LEAST_INITIALS and "".join(word[0] for word in words[start:end]) in self._initials:
                    yield from words[start:end]

    @cached_property
    def _places(self) -> AbstractSet[str]:
        codes = {quoted or alone for quoted, alone in _CODE.findall(self.text)}
        return frozenset().union(*(_PLACES[code] for code in codes & _PLACES.keys()))

    @cached_property
    def _initials(self) -> AbstractSet[str]:
        return frozenset(_INITIALS.findall(self.text))
