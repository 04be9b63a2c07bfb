"""What gc-core asks of every strategy."""

from gc_budget import Budget

from gc_core.testing import StrategyContract


class TestBudget(StrategyContract):
    strategy = Budget
    name = "gc_budget"
    bad_options = (
        {"keep": 1},
        {"keep_of_file": 1},
        {"files_share": -0.1},
        {"stub_arguments": "no"},
        {"tools": {"bash": "never"}},
    )
