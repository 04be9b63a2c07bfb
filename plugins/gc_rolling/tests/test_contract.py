"""gc_rolling keeps the rules of every strategy."""

from gc_rolling import Rolling

from gc_core.testing import StrategyContract


class TestRolling(StrategyContract):
    strategy = Rolling
    name = "gc_rolling"
    bad_options = (
        {"snip_after": -1},
        {"snip_after": 1.5},
        {"snip_least": 0},
        {"keep": 1},
        {"keep": "much"},
        {"keep_of_file": 1},
        {"files_share": -0.1},
        {"nursery_tokens": -1},
        {"nursery_on_bound_thinking": "yes"},
        {"target_percent": 101},
        {"base_tokens": -1},
    )
