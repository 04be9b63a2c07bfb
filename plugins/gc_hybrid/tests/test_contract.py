"""gc_hybrid keeps the rules of every strategy."""

from gc_hybrid import Hybrid

from gc_core.testing import StrategyContract


class TestHybrid(StrategyContract):
    strategy = Hybrid
    name = "gc_hybrid"
    bad_options = ({"middle_turns": 0}, {"keep": 0}, {"keep": 1}, {"files_share": 1}, {"max_summary_tokens": 100})
