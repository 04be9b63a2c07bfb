"""A profile's weights for the lines of the texts that one plan shortens, each text read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from gc_core.relevance.profiles.line_classes import LINES, PARAGRAPHS
from gc_core.relevance.profiles.line_scores import Excerpt, cues_of
from gc_core.relevance.profiles.matchers import Line, Reading
from gc_core.relevance.profiles.profile import CompressionProfile, classed
from gc_core.values.items import ItemKind
from gc_core.values.names import Scan

HIGH, LOW = 4.0, 0.25
"""The factor by which a line of high or low importance weighs more or less than an ordinary one."""

_MOST_NAMELESS = 12
"""The most lines of high importance without a name in one text: the last ones, each wording once."""


class WeighedText:
    """The lines of one text with a profile's weights."""

    def __init__(self, profile: CompressionProfile, reading: Reading) -> None:
        self._profile = profile
        self._reading = reading
        self._paragraphs: dict[Line, bool] = {}
        self._weights: dict[Line, float] = {}

    @cached_property
    def nameless(self) -> tuple[Line, ...]:
        """
        The last lines of high importance without names, each wording once: for lines with names liveness decides
        whether they may stay at all.
        """
        named = {span.start for span in self._reading.spans}
        text, kept = self._reading.text, dict[str, Line]()
        for line in sorted(self._sought, reverse=True):
            words = text[slice(*line)].strip()
            if line[0] not in named and words:
                kept.setdefault(words, line)
                if len(kept) >= _MOST_NAMELESS:
                    break
        return tuple(kept.values())

    def weights(self, lines: Sequence[Line]) -> list[float]:
        """Return the weight of each of these lines relative to other lines."""
        new = [line for line in lines if line not in self._weights]
        if new:
            profile, excerpt = self._profile, Excerpt(self._reading.text, new)
            high = excerpt.judged(cues_of(profile.high)) | self._others((*profile.high, *profile.high_paragraphs))
            low = excerpt.judged(cues_of(profile.low_importance)) | self._others(profile.low_importance)
            for line in new:
                self._weights[line] = (HIGH if line in high else 1.0) * (LOW if line in low else 1.0)
        return [self._weights[line] for line in lines]

    def span_at(self, line: Line) -> Line | None:
        """Return the range of a verbatim class that contains the line, or None."""
        for start, end in self._runs:
            if start <= line[0] and line[1] <= end:
                return start, end
        known = [name for name in self._profile.preserve_verbatim if name in PARAGRAPHS]
        if not known:
            return None
        around = self._reading.paragraph_at(line[0])
        if around not in self._paragraphs:
            self._paragraphs[around] = any(PARAGRAPHS[name](self._reading, around) for name in known)
        return around if self._paragraphs[around] and around[0] <= line[0] and line[1] <= around[1] else None

    # -- inside --------------------------------------------------------------------------------------------------

    @cached_property
    def _sought(self) -> set[Line]:
        cues = (cue for name in self._profile.high for cue in LINES[name].sought)
        return {*self._reading.with_cues(cues), *self._others(self._profile.high)}

    def _others(self, names: Iterable[str]) -> set[Line]:
        """Return lines that no cue recognises: for a class of paragraphs all of them."""
        found: set[Line] = set()
        for name in names:
            if name not in self._found:
                self._found[name] = frozenset(self._uncued(name))
            found |= self._found[name]
        return found

    def _uncued(self, name: str) -> Iterable[Line]:
        if name in PARAGRAPHS:
            return classed(self._reading, name)
        also = LINES[name].also
        return () if also is None else also(self._reading)

    @cached_property
    def _found(self) -> dict[str, frozenset[Line]]:
        return {}

    @cached_property
    def _runs(self) -> list[Line]:
        """Consecutive lines of verbatim classes, as one range each."""
        verbatim = {
            line for name in self._profile.preserve_verbatim if name in LINES for line in LINES[name].of(self._reading)
        }
        runs: list[Line] = []
        for start, end in sorted(verbatim):
            if runs and start <= runs[-1][1] + 1:
                runs[-1] = runs[-1][0], max(end, runs[-1][1])
            else:
                runs.append((start, end))
        return runs


class Weighing:
    """The weights of a profile for one plan: read texts are cached, so that writing them again is cheap."""

    def __init__(self, profile: CompressionProfile) -> None:
        self.profile = profile
        self._known: dict[str, WeighedText] = {}

    def of(self, text: str, scanned: Scan, kind: ItemKind, name: str) -> WeighedText:
        """Return the weights for a text."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = WeighedText(self.profile, Reading(text, scanned, kind, name))
        return known


def weighing_by(profile: CompressionProfile) -> Weighing | None:
    """Return the weights of a profile; None for one that changes nothing."""
    return None if profile.is_neutral else Weighing(profile)
