"""Importance for reading sources: recognisers of lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gc_core.relevance.profiles.matchers import Cue, Line, LineClass, Reading, cues
from gc_core.relevance.profiles.tool_kinds import WEB_SEARCH, tool_kind
from gc_core.values.items import ItemKind


def _prose(*known: Cue) -> LineClass:
    """Define a class of prose, which carries hardly any names, so its lines are searched everywhere."""
    return LineClass(cues=known, sought=known)


SOURCE_CITATION: Final = _prose(
    *cues("https://", "http://", pattern=r"https?://[\w.-]{4,}", apart=True),
    *cues("doi.org/", "doi:", "arxiv:", "isbn", "pmid:", small=True),
    *cues("10.", pattern=r"10\.\d{4,9}/\S", apart=True),
    *cues(" et al", pattern=r" et al\b"),
    *cues("[", pattern=r"\[\d{1,3}\](?:\(|: | [A-Z]|[.,](?:\s|$))", before=r"(?:^|\n|[a-z.,”] )$"),
    *cues("(", pattern=r"\([A-Z][\w'-]{1,30}(?: (?:&|and) [A-Z][\w'-]{1,30}| et al\.)?,? (?:19|20)\d\d[a-z]?[),;]"),
    *cues("retrieved from", "accessed on", "published in", "cited by", small=True),
    *cues("sources:", "references:", "bibliography", opens=True, small=True),
)
"""Lines that name a source: an address, a DOI, authors with a year, a numbered reference."""

KEY_FINDING: Final = _prose(
    *cues(
        *("we find ", "we found ", "found that ", "results show", "results indicate", "results suggest", "shows that "),
        *("show that ", "suggests that ", "suggest that ", "demonstrates that ", "evidence that ", "finding:"),
        *("findings:", "revealed that ", "reveals that ", "significantly ", "root cause", "turns out "),
        small=True,
    )
)
"""Lines that state a finding."""

DATA_POINT: Final = _prose(
    *cues("%", " percent", " per cent", " million", " billion", " trillion", before=r"\d[\d,.]{0,14} ?$"),
    *cues("$", "€", "£", pattern=r"[$€£] ?\d[\d,.]{0,14}"),
)
"""Lines that give a figure: percents, sums of money, millions."""

METHODOLOGY: Final = _prose(
    *cues("methods:", "method:", "methods", opens=True, small=True, pattern=r"methods?(?::|\s*(?:\n|$))"),
    *cues(
        *("methodology", "participants", "randomized", "randomised", "sample of ", "sample size", "study design"),
        *("control group", "we measured", "we measure ", "we evaluate", "we trained", "survey of ", "dataset of "),
        *("double-blind", "cohort", "meta-analysis", "experimental setup", "cross-validation"),
        small=True,
    ),
)
"""Lines that state a method."""

CONCLUSION: Final = _prose(
    *cues("in conclusion", "we conclude", "conclusion:", "conclusions:", "in summary", "to summarize", small=True),
    *cues("to conclude", "taken together", "bottom line", "the main takeaway", "therefore, ", small=True),
    *cues("conclusion", "## conclusion", "overall, ", "tl;dr", "takeaways", opens=True, small=True),
)
"""Lines that draw a conclusion."""

# -- low importance -------------------------------------------------------------------------------------------


def _searched(reading: Reading) -> Iterator[Line]:
    if reading.kind is ItemKind.TOOL_CALL and reading.text and tool_kind(reading.name) == WEB_SEARCH:
        yield reading.line_at(0)


SEARCH_QUERY: Final = LineClass(
    cues=(
        *cues("search results for", "web search results for", "searching for", "query:", small=True, opens=True),
        *cues("search_query", "no results found", "searched for ", '"query":', small=True),
    ),
    also=_searched,
)
"""Lines that name the search; a call of a search in the web."""

NAVIGATION_STEP: Final = LineClass(
    cues=(
        *cues(
            "navigated to", "navigating to", "clicked ", "clicking ", "scrolled ", "scrolling ", small=True, opens=True
        ),
        *cues(
            "visiting ", "opening page", "opened page", "going to page", "skip to ", "next page", small=True, opens=True
        ),
        *cues("hovered ", "pressed key", "typed ", "switched to tab", "back to top", small=True, opens=True),
    )
)
"""Lines that describe how a page was reached."""

PAGE_LOAD_STATUS: Final = LineClass(
    cues=(
        *cues(
            "page loaded", "loading", "page title:", "waiting for ", "redirected", "fetching ", small=True, opens=True
        ),
        *cues(
            "http/1.1 200", "http/2 200", "200 ok", "status: 200", "status code: 200", "domcontentloaded", small=True
        ),
        *cues("load time:", "content-type:", "content-length:", "accept cookies", "cookie settings", small=True),
    )
)
"""Lines that say that a page was loaded."""

# -- kept verbatim ----------------------------------------------------------------------------------------------

DIRECT_QUOTE: Final = _prose(
    *cues("> ", pattern=r"> [A-Z\"“]", opens=True),
    *cues("“", pattern=r"“[^“”\n]{40,560}”"),
    *cues('"', pattern=r'"[A-Z][^"\n{}]{40,560}"', before=r"(?:^|[\s:,])$"),
)
"""Lines that quote someone: a block quote, or a sentence in quotation marks."""

STATISTICAL_RESULT: Final = _prose(
    *cues("p < ", "p = ", "p > ", "p<", "p=", pattern=r"p ?[<=>] ?0?\.\d{1,6}", apart=True, small=True),
    *cues("n = ", "n=", pattern=r"n ?= ?\d{2}", apart=True, small=True),
    *cues(
        "r = ", "r² ", "f(", "t(", pattern=r"r = -?0?\.\d|r² |[ft]\(\d{1,3}(?:, ?\d{1,6})?\) ?=", apart=True, small=True
    ),
    *cues("95% ci", "confidence interval", "standard deviation", "odds ratio", "hazard ratio", small=True),
    *cues("effect size", "cohen's d", "statistically significant", "p-value", "correlation of", small=True),
    *cues("±", pattern=r"± ?\d"),
)
"""Lines with the result of a test, an interval or a deviation."""
