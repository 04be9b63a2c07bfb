"""Whatever gc-core ships keeps the contracts that it ships, and each rule of them fails for what breaks it."""

import itertools
import random
import time
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from gc_core import CompressionProfile, hookimpl
from gc_core.plugins.checkpoint_backends import FileBackend, InMemoryBackend, SQLiteBackend
from gc_core.relevance.importance import CompositeScorer
from gc_core.relevance.profiles import CODING_PROFILE, GENERAL_PROFILE, OPERATIONS_PROFILE, RESEARCH_PROFILE
from gc_core.summaries.validation import SummaryValidator
from gc_core.task.extractor import DeterministicExtractor
from gc_core.task.values import Constraint, TaskState
from gc_core.testing import (
    ExtractorContract,
    MemoryBackendContract,
    MiddlewareContract,
    ProfileContract,
    ScorerContract,
    ValidatorContract,
)
from tests.test_docs import ROOT, RULE, first_paragraph

FEW = (0, 1)


# --- what gc-core ships -----------------------------------------------------------------------------------------------


class TestComposite(ScorerContract):
    scorer = CompositeScorer
    seeds = FEW


class TestGeneral(ProfileContract):
    profile = GENERAL_PROFILE
    seeds = FEW


class TestCoding(ProfileContract):
    profile = CODING_PROFILE
    seeds = FEW


class TestResearch(ProfileContract):
    profile = RESEARCH_PROFILE
    seeds = FEW


class TestOperations(ProfileContract):
    profile = OPERATIONS_PROFILE
    seeds = FEW


class TestExtractor(ExtractorContract):
    extractor = DeterministicExtractor
    seeds = FEW


class TestFiles(MemoryBackendContract):
    backend = FileBackend


class TestSQLite(MemoryBackendContract):
    def make(self, directory):
        return SQLiteBackend(directory / "kept.db")


class TestMemory(MemoryBackendContract):
    backend = InMemoryBackend
    lasting = False


class TestValidator(ValidatorContract):
    validator = SummaryValidator
    seeds = FEW


class Shortens:
    """A middleware as the documents show one: of a user's very long line, its head."""

    @hookimpl(specname="gc_process_message")
    def process(self, message):
        content = message.get("content")
        if message.get("role") != "user" or not isinstance(content, str):
            return None
        return {**message, "content": "\n".join(line[:2_000] for line in content.split("\n"))}


class TestShortens(MiddlewareContract):
    middleware = Shortens
    seeds = FEW


# --- what breaks a rule -----------------------------------------------------------------------------------------------


def broken(*faults):
    """Marks a class: it breaks these rules."""

    def mark(cls):
        cls.faults = faults
        return cls

    return mark


class Scorer:
    def score(self, item, window):
        return window.recency(item)


@broken("test_scores_from_0_to_1")
class ScoresNaN(Scorer):
    def score(self, item, window):  # noqa: ARG002 - the contract
        return float("nan")


@broken("test_same_item_same_score")
class ScoresByTheCount(Scorer):
    count = itertools.count()

    def score(self, item, window):  # noqa: ARG002 - the contract
        return 1 / (1 + next(self.count))


@broken("test_scores_take_nothing_from_chance_or_clock")
class ScoresByTheClock(Scorer):
    def score(self, item, window):  # noqa: ARG002 - the contract
        return time.time() % 10 / 10


@broken("test_scoring_changes_nothing")
class ScoresAndChanges(Scorer):
    def score(self, item, window):
        object.__setattr__(item, "tokens", 0)
        window.objective = "Mine."
        return 0.5


@broken("test_scores_odd_windows")
class ScoresTextsAlone(Scorer):
    def score(self, item, window):  # noqa: ARG002 - the contract
        return 1 / len(item.text)


@attrs.frozen(kw_only=True)
class Profile(CompressionProfile):
    name: str = "mine"


def changed_profile(**changes):
    profile = CompressionProfile(name="mine", high_importance=("file_path",))
    for name, value in changes.items():
        object.__setattr__(profile, name, value)
    return profile


@attrs.frozen(kw_only=True)
class Elsewhere(Profile):
    def lines(self, text, item=None):
        found = CODING_PROFILE.lines(text, item)
        return tuple(attrs.evolve(line, start=line.start + 1, end=line.end + 5_000) for line in found)


PROFILES = [
    (changed_profile(name="auto"), "test_is_a_profile_with_a_name"),
    ("coding", "test_is_a_profile_with_a_name"),
    (changed_profile(low_importance=("gossip",)), "test_names_known_classes_once"),
    (changed_profile(low_importance=("file_path",)), "test_names_known_classes_once"),
    (changed_profile(tool_output_trim={"file_read": 0}), "test_trims_are_above_0"),
    (changed_profile(tool_output_trim={"gossip": 9}), "test_trims_are_above_0"),
    (Elsewhere(), "test_lines_are_lines_of_the_text"),
]


class Extractor:
    def extract(self, state, items, objective):
        return DeterministicExtractor().extract(state, items, objective)


@broken("test_answers_with_a_state")
class ExtractsWords(Extractor):
    def extract(self, state, items, objective):  # noqa: ARG002 - the contract
        return "nothing to tell"


@broken("test_names_items_that_exist", "test_answers_with_a_state")
class Invents(Extractor):
    def extract(self, state, items, objective):
        invented = Constraint(text="Be quick.", item="i999999", turn=0)
        return attrs.evolve(super().extract(state, items, objective), constraints=(invented,))


@broken("test_in_pieces_as_at_once")
class KnowsTheLastPieceAlone(Extractor):
    def extract(self, state, items, objective):  # noqa: ARG002 - the contract
        return super().extract(TaskState(), items, objective)


@broken("test_survives_json")
class HoldsATuple(Extractor):
    def extract(self, state, items, objective):
        found = super().extract(state, items, objective)
        return attrs.evolve(found, objective=("Make", "it"))


@broken("test_stays_within_its_bounds")
class KeepsEverything(Extractor):
    def extract(self, state, items, objective):  # noqa: ARG002 - the contract
        new = (Constraint(text=item.text or "-", item=item.id, turn=0) for item in items)
        return attrs.evolve(state, constraints=(*state.constraints, *new))


@broken("test_nothing_new_changes_nothing")
class ForgetsInSilence(Extractor):
    def extract(self, state, items, objective):
        return super().extract(state, items, objective) if items else TaskState()


@broken("test_extraction_takes_nothing_from_chance_or_clock")
class ExtractsAtRandom(Extractor):
    def extract(self, state, items, objective):  # noqa: ARG002 - the contract
        return super().extract(state, items, str(random.random()))  # noqa: S311 - that is its fault


@broken("test_extraction_changes_nothing")
class ExtractsAndChanges(Extractor):
    def extract(self, state, items, objective):
        object.__setattr__(state, "objective", state.objective + "!")
        return super().extract(state, items, objective)


@broken("test_extracts_from_odd_items")
class ExtractsFromWords(Extractor):
    def extract(self, state, items, objective):
        assert all(item.text.split() for item in items)
        return super().extract(state, items, objective)


class Backend(InMemoryBackend):
    """Dicts by directory, which another object finds again."""


@broken("test_is_a_backend")
class KeepsNoKeys:
    def __init__(self, directory):
        """Nothing to keep."""

    def write(self, key, data):
        """Forgets it."""


@broken("test_reads_what_was_written")
class KeepsText(Backend):
    def read(self, key):
        found = super().read(key)
        return None if found is None else found.decode("latin-1").strip().encode("latin-1")


@broken("test_knows_nothing_of_other_keys")
class KnowsAll(Backend):
    def read(self, key):
        return super().read(key) or b""


@broken("test_overwrites_as_a_whole")
class WritesInPlace(Backend):
    def write(self, key, data):
        old = super().read(key) or b""
        super().write(key, data + old[len(data) :])


@broken("test_deletes")
class DeletesNothing(Backend):
    def delete(self, key):
        """Leaves it."""


@broken("test_tells_its_keys_in_order")
class TellsNewestFirst(Backend):
    def keys(self, prefix=""):
        return super().keys(prefix)[::-1]


@broken("test_lasts")
class EndsWithTheObject(Backend):
    """As ``InMemoryBackend``, and does not say so."""


@broken("test_keeps_directories_apart")
class SharesAll(Backend):
    kept: ClassVar[InMemoryBackend] = InMemoryBackend()

    def write(self, key, data):
        self.kept.write(key, data)

    def read(self, key):
        return self.kept.read(key)

    def delete(self, key):
        self.kept.delete(key)


@broken("test_a_reader_finds_whole_values")
class WritesByHalves(Backend):
    def write(self, key, data):
        super().write(key, data[: len(data) // 2])
        time.sleep(0.001)
        super().write(key, data)


class Middleware:
    def process(self, message):  # noqa: ARG002 - the contract
        return None


@broken("test_answers_with_a_message_or_none")
class AnswersWords(Middleware):
    def process(self, message):
        return str(message)


@broken("test_leaves_what_belongs_together")
class SpeaksForAnother(Middleware):
    def process(self, message):
        return {**message, "role": "user"}


@broken("test_leaves_what_belongs_together")
class RenamesCalls(Middleware):
    def process(self, message):
        calls = [{**call, "id": f"x{call['id']}"} for call in message.get("tool_calls") or ()]
        return {**message, "tool_calls": calls} if calls else None


@broken("test_leaves_what_belongs_together")
class LeavesCallsOut(Middleware):
    def process(self, message):
        content = message.get("content")
        if not isinstance(content, list):
            return None
        return {**message, "content": [block for block in content if block.get("type") != "tool_use"]}


@broken("test_twice_is_as_once")
class Adds(Middleware):
    def process(self, message):
        content = message.get("content")
        return {**message, "content": f"{content}!"} if isinstance(content, str) and content else None


@broken("test_same_message_same_answer")
class TellsTheTime(Middleware):
    def process(self, message):
        content = message.get("content")
        return {**message, "content": f"{time.time()}"} if isinstance(content, str) and content else None


@broken("test_changes_nothing_that_it_is_given")
class ChangesInPlace(Middleware):
    def process(self, message):
        message["content"] = "mine"


@broken("test_takes_odd_messages")
class RaisesOnNothing(Middleware):
    def process(self, message):
        assert message.get("content") != ""


class Validator:
    def validate(self, request, text):
        return ["too long"] if request.count(text) > request.max_tokens else []


@broken("test_complains_in_lines")
class ComplainsInAText(Validator):
    def validate(self, request, text):  # noqa: ARG002 - the contract
        return "too long"


@broken("test_complains_in_lines")
class ComplainsAtLength(Validator):
    def validate(self, request, text):
        return [f"too long:\n{text}"] if super().validate(request, text) else []


@broken("test_accepts_a_good_summary")
class AcceptsNothing(Validator):
    def validate(self, request, text):  # noqa: ARG002 - the contract
        return ["not good enough"]


@broken("test_same_text_same_complaints")
class ComplainsByTheClock(Validator):
    def validate(self, request, text):  # noqa: ARG002 - the contract
        return ["too late"] if int(time.time()) % 2 else []


@broken("test_validation_changes_nothing")
class ValidatesAndChanges(Validator):
    def validate(self, request, text):  # noqa: ARG002 - the contract
        object.__setattr__(request.items[0], "text", "")
        return []


@broken("test_judges_odd_texts")
class JudgesWords(Validator):
    def validate(self, request, text):  # noqa: ARG002 - the contract
        return [] if text.split()[0] else ["empty"]


def examples(base, contract, attribute, **more):
    for bad in base.__subclasses__():
        for fault in bad.faults:
            made = type("TestBad", (contract,), {attribute: bad, "seeds": FEW, **more})()
            yield pytest.param(made, fault, id=f"{bad.__name__}-{fault}")


BAD = [
    *examples(Scorer, ScorerContract, "scorer"),
    *examples(Extractor, ExtractorContract, "extractor"),
    *examples(Backend, MemoryBackendContract, "backend"),
    pytest.param(type("TestBad", (MemoryBackendContract,), {"backend": KeepsNoKeys})(), KeepsNoKeys.faults[0]),
    *examples(Middleware, MiddlewareContract, "middleware"),
    *examples(Validator, ValidatorContract, "validator"),
    *(
        pytest.param(type("TestBad", (ProfileContract,), {"profile": profile, "seeds": FEW})(), fault)
        for profile, fault in PROFILES
    ),
]


@pytest.mark.parametrize(("contract", "fault"), BAD)
def test_what_breaks_a_rule_fails_by_it(contract, fault):
    with pytest.raises(AssertionError):
        getattr(contract, fault)()


CONTRACTS = (
    ScorerContract,
    ProfileContract,
    ExtractorContract,
    MemoryBackendContract,
    MiddlewareContract,
    ValidatorContract,
)


def test_every_rule_is_broken_by_an_example():
    rules = {name for contract in CONTRACTS for name, _ in contract.rules()}
    assert rules - {parameters.values[1] for parameters in BAD} == set()


def test_every_rule_is_documented_in_its_own_words():
    text = (Path(ROOT) / "docs" / "how-to" / "extend.md").read_text()
    rules = [rule for contract in CONTRACTS for rule in contract.rules()]
    assert RULE.findall(text) == [(name, first_paragraph(method)) for name, method in rules]
