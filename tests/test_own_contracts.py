"""What gc-core ships keeps the contracts that it ships."""

from typing import ClassVar

from gc_core.summaries.extractive import ExtractiveSummarizer
from gc_core.testing import SummarizerContract


class TestTheExtract(SummarizerContract):
    summarizer = ExtractiveSummarizer
    deterministic = True
    weakened: ClassVar = {
        "test_obeys_nothing_that_it_reads": "it quotes what was demanded, word for word and in quotes: it cannot tell"
        " a user's demand from a planted one",
    }
