"""
The kit for plugin authors' tests: contracts, generated windows, and a scripted summarizer.

A strategy's tests are a subclass, and pytest collects its rules::

    from gc_core.testing import StrategyContract
    from my_strategy import Largest

    class TestLargest(StrategyContract):
        strategy = Largest

A rule that does not hold is named, with the reason, and skipped: ``weakened = {"test_name_of_rule": "why"}``. Nothing
in gc-core imports this package; it needs neither pytest nor anything beyond gc-core itself.
"""

from gc_core.testing.adapters import AdapterContract, Played, Scene
from gc_core.testing.backends import MemoryBackendContract
from gc_core.testing.contexts import Aims, Case, make_cases, make_context, make_goals, make_session
from gc_core.testing.contract import Contract
from gc_core.testing.conversations import Conversation, Shape, make_conversation
from gc_core.testing.counters import CounterContract
from gc_core.testing.extractors import ExtractorContract
from gc_core.testing.loopback import LoopbackProvider
from gc_core.testing.middleware import MiddlewareContract
from gc_core.testing.profiles import ProfileContract
from gc_core.testing.scorers import ScorerContract
from gc_core.testing.strategies import StrategyContract
from gc_core.testing.summarizers import (
    AsyncFakeSummarizer,
    FakeSummarizer,
    SummarizerContract,
    echoed,
    make_summary_request,
    slow,
    swollen,
    told,
)
from gc_core.testing.validators import ValidatorContract

__all__ = [
    "AdapterContract",
    "Aims",
    "AsyncFakeSummarizer",
    "Case",
    "Contract",
    "Conversation",
    "CounterContract",
    "ExtractorContract",
    "FakeSummarizer",
    "LoopbackProvider",
    "MemoryBackendContract",
    "MiddlewareContract",
    "Played",
    "ProfileContract",
    "Scene",
    "ScorerContract",
    "Shape",
    "StrategyContract",
    "SummarizerContract",
    "ValidatorContract",
    "echoed",
    "make_cases",
    "make_context",
    "make_conversation",
    "make_goals",
    "make_session",
    "make_summary_request",
    "slow",
    "swollen",
    "told",
]
