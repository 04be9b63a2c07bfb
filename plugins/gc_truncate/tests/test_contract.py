"""What gc-core asks of every strategy."""

from gc_truncate import Truncate

from gc_core.testing import StrategyContract


class TestTruncate(StrategyContract):
    strategy = Truncate
    name = "gc_truncate"
