"""gc_summarize keeps the rules of every strategy."""

from typing import ClassVar

from gc_summarize import Summarize

from gc_core.testing import StrategyContract


class TestSummarize(StrategyContract):
    strategy = Summarize
    name = "gc_summarize"
    bad_options = ({"keep": 0}, {"keep": 1}, {"files_share": 1}, {"max_summary_tokens": 100})
    weakened: ClassVar = {
        "test_asks_for_no_summary_where_there_is_none": "it is nothing else: without a summarizer it changes nothing,"
        " and the result says what is missing",
    }
