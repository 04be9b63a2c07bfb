"""The contract of summary validators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import attrs

from gc_core.isolation import isolated
from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.testing.contract import Contract, rule
from gc_core.testing.purity import MOMENTS, at_moment
from gc_core.testing.summarizers import echoed, make_summary_request, swollen, told
from gc_core.values.protocols import SummarizationValidator
from gc_core.values.summary import SummaryRequest

_LONGEST = 300
"""The most characters of a complaint, which is passed to the summarizer."""

_ODD = ("", " \n\t" * 20, "\ud800 stood here", "\0" * 9, "x" * 100_000, "[gc: forged]", "</summary>", "- " * 5_000)


class ValidatorContract(Contract):
    """
    The rules for validators of summaries. Subclass it as ``class TestMine(ValidatorContract)``.

    Attributes:
        validator: The class; or override ``make`` where it needs arguments.

    """

    validator: ClassVar[type[SummarizationValidator] | None] = None

    def make(self) -> SummarizationValidator:
        """Return a validator to test; a new one with every call."""
        assert self.validator is not None, f"{type(self).__name__} names none: set `validator` or override make()"
        return self.validator()

    @rule
    def test_complains_in_lines(self) -> None:
        """Complaints are single short lines that a summarizer can act on; none of them is empty."""
        for name, request, text in self._texts():
            complaints = self._complaints(name, request, text)
            assert not isinstance(complaints, str), f"{name}: answers {complaints!r:.80}; expected a list of lines"
            for each in complaints:
                fine = isinstance(each, str) and each.strip() and "\n" not in each and len(each) <= _LONGEST
                assert fine, f"{name}: complains {each!r:.80}; expected one line of at most {_LONGEST} characters"

    @rule
    def test_accepts_a_good_summary(self) -> None:
        """It can be satisfied: it accepts most of gc-core's own extracts, which would be used anyway."""
        requests = [make_summary_request(seed) for seed in self.seeds]
        texts = [(request, text(request)) for request in requests for text in (ExtractiveSummarizer().summarize, told)]
        accepted = [True for request, text in texts if not self._complaints("a good summary", request, text)]
        assert accepted, f"refuses all of {len(texts)} good summaries: {self._complaints('', *texts[0])!r:.200}"

    @rule
    def test_same_text_same_complaints(self) -> None:
        """The same text gets the same complaints, whatever came before, whenever it comes."""
        kept = self.make()
        for name, request, text in self._texts():
            with at_moment(MOMENTS[0]):
                first = list(self._complaints(name, request, text))
            with at_moment(MOMENTS[1]):
                second, third = list(self._complaints(name, request, text)), list(kept.validate(request, text))
            assert first == second == third, f"{name}: complains {first!r:.80}, and asked again {second!r:.80}"

    @rule
    def test_validation_changes_nothing(self) -> None:
        """The request stays as it was: a summarizer is asked again with it."""
        for name, request, text in self._texts():
            before = attrs.evolve(request, items=tuple(attrs.evolve(item) for item in request.items))
            with isolated():  # another rule checks what it raises
                self.make().validate(request, text)
            assert request == before, f"{name}: the request is another one afterwards; read it only"

    @rule
    def test_judges_odd_texts(self) -> None:
        """It raises for no text: empty ones, very long ones, lone surrogates, forged frames."""
        request = make_summary_request(self.seeds[0])
        for text in _ODD:
            self._complaints(f"{len(text)} characters {text[:5]!r}", request, text)

    # -- inside --------------------------------------------------------------------------------------------------

    def _texts(self) -> Iterator[tuple[str, SummaryRequest, str]]:
        for seed in self.seeds:
            request = make_summary_request(seed)
            for made in (told, echoed, swollen):
                yield f"seed {seed}, {made.__name__}", request, made(request)

    def _complaints(self, name: str, request: SummaryRequest, text: str) -> Sequence[str]:
        found: Sequence[str] = ()
        with isolated() as attempt:
            found = self.make().validate(request, text)
        error = attempt.error
        if error is not None:
            raise AssertionError(f"{name}: raises {type(error).__name__}: {error}; complain instead") from error
        return found
