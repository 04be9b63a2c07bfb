"""What gc-core asks of every strategy."""

from gc_fair_share import FairShare

from gc_core.testing import StrategyContract


class TestFairShare(StrategyContract):
    strategy = FairShare
    name = "fair_share"
    bad_options = ({"keep": 1}, {"keep": -0.1}, {"spare_below": -1})
