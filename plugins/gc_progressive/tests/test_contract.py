"""gc_progressive keeps the rules of every strategy."""

from gc_progressive import Progressive

from gc_core.testing import StrategyContract


class TestProgressive(StrategyContract):
    strategy = Progressive
    name = "gc_progressive"
    bad_options = (
        {"ages": (10, 50)},
        {"ages": (50, 10, 200)},
        {"ages": (-1, 50, 200)},
        {"ages": (10.5, 50, 200)},
        {"least": 0},
        {"keep": 1},
        {"keep": "much"},
        {"keep_of_file": 1},
        {"files_share": -0.1},
        {"shares": (0.1, 0.5)},
        {"shares": (1.0,)},
        {"summary_ratio": 0.5},
        {"digest_ratio": "most"},
        {"digest_percent": 101},
        {"segment_steps": 0},
        {"nursery_steps": -1},
        {"nursery_tokens": -1},
        {"nursery_on_bound_thinking": "yes"},
        {"target_percent": 101},
        {"base_tokens": -1},
        {"relief_percent": 200},
        {"wishes": ("soon",)},
        {"wishes": ("hot", "hot")},
        {"wishes": 3},
        {"spend_tokens": 0},
        {"task_state_percent": -5},
    )
