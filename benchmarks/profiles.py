"""
Content that compression profiles keep: distinct paths, signatures, test results and citations at the same tokens.

It is counted with this module's own patterns: the profiles' recognisers judge nothing here.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from benchmarks.turns import transcripts
from gc_core import CompressionProfile, GCConfig, GCPolicy, GCSession, Item, ItemKind, Plugins, hookimpl
from gc_core.providers.token_counting import counter_for
from gc_core.relevance.contract import RegisterProfile
from gc_core.relevance.name_scan import scan
from gc_core.relevance.profiles import CODING_PROFILE, GENERAL_PROFILE, RESEARCH_PROFILE, weighing_by
from gc_core.window.stubs import write_stub

LIMITS = (100, 200, 400)
"""Tokens of a stub."""

LEAST = 600
"""Tokens of a result from which it is stubbed here."""

WINDOWS = (16_000, 32_000)
"""Tokens of the sessions' windows."""

SAMPLED_EVERY = 10
"""Requests between two that are looked at."""

SOUGHT = {
    "paths": re.compile(r"(?<![\w/.:-])(?:/|\./|\.\./|~/)?(?:[\w@-][\w.@-]*/)+[\w-][\w.-]*\.[A-Za-z]\w{0,4}\b"),
    "signatures": re.compile(
        r"\b(?:def|class|func|fn|function|interface|struct|enum)\s+(?:\([^()\n]{1,60}\)\s*)?([A-Za-z_]\w+)\s*[(:<{\[]"
    ),
    "test results": re.compile(
        r"\b\d+ (?:tests? )?(?:passed|failed|passing|failing|skipped)\b|--- (?:PASS|FAIL): \w+"
        r"|^(?:ok|FAIL)[ \t]+\S+[ \t]+[\d.(]\S*|^\s*[✓✔✗✘] [^\n]{3,60}",
        re.MULTILINE,
    ),
    "citations": re.compile(
        r"https?://[\w.-]+\.[a-z]{2,}[\w./%#?=&~-]*|\b10\.\d{4,9}/\S+|\barXiv:\d{4}\.\d+"
        r"|\([A-Z]\w+(?: et al\.| & \w+)?,? (?:19|20)\d\d\)"
    ),
}  # fmt: skip

Message = dict[str, Any]


@attrs.frozen
class Row:
    """What one profile kept: tokens of all stubs or requests, and distinct things by what they are."""

    profile: str
    tokens: int
    kept: Counter[str]


def main() -> None:
    """Print what stubs of the same limits keep, then what windows of the same size show."""
    logging.getLogger("gc_core").setLevel(logging.ERROR)  # recorded sessions have messages that need mending
    sessions = list(transcripts("openai"))
    if not sessions:
        print("no recorded sessions: nothing to measure")
        return
    results = list(results_of(sessions))
    print(f"{len(results):,} results of at least {LEAST} tokens")
    for limit in LIMITS:
        print_rows(f"stubs of {limit} tokens", [stubbed(results, limit, profile) for profile in PROFILES])
    for window in WINDOWS:
        long = [session for session in sessions if sum(map(len, map(str, session))) > 8 * window]
        print_rows(
            f"gc_budget at {window:,}", [replayed(long, profile, window) for profile in (*PROFILES, *PARTS_LEFT_OUT)]
        )


PROFILES = (GENERAL_PROFILE, CODING_PROFILE, RESEARCH_PROFILE)

PARTS_LEFT_OUT = (
    attrs.evolve(CODING_PROFILE, name="coding, not high", high_importance=()),
    attrs.evolve(CODING_PROFILE, name="coding, not low", low_importance=()),
    attrs.evolve(CODING_PROFILE, name="coding, not whole", preserve_verbatim=()),
    attrs.evolve(CODING_PROFILE, name="coding, no trims", tool_output_trim={}),
)
"""What each part of a profile changes."""


@attrs.frozen
class Offering:
    """A plugin that offers the profiles that are measured here and nowhere else."""

    @hookimpl
    def gc_register_profiles(self, register: RegisterProfile) -> None:
        """Offer them."""
        for profile in PARTS_LEFT_OUT:
            register(profile)


def results_of(sessions: Iterable[Sequence[Message]]) -> Iterator[Item]:
    """Large tool results as items, each once."""
    counter, seen = counter_for(None, "openai"), set[str]()
    for message in (message for session in sessions for message in session):
        text = message.get("content")
        if message["role"] != "tool" or not isinstance(text, str) or text in seen or len(text) < 2 * LEAST:
            continue
        seen.add(text)
        tokens = counter.count(text)
        if tokens >= LEAST:
            yield Item(
                id="i1", kind=ItemKind.TOOL_RESULT, source="conversation", policy=GCPolicy.EPHEMERAL, tokens=tokens,
                text=text, unit=1, turn=0, original_tokens=tokens, scan=scan(text),
            )  # fmt: skip


def stubbed(results: Sequence[Item], limit: int, profile: CompressionProfile) -> Row:
    """Stubs of every result, with what each keeps; trims are left out, for the limit is to be the same."""
    counter, kept, tokens = counter_for(None, "openai"), Counter[str](), 0
    for item in results:
        stub = write_stub(item, limit, counter, frozenset(), weighing=weighing_by(profile))
        tokens += stub.tokens
        kept += found_in(stub.text)
    return Row(profile.name, tokens, kept)


def replayed(sessions: Iterable[Sequence[Message]], profile: CompressionProfile, window: int) -> Row:
    """Sessions as an agent would run them; every few requests the window is looked at."""
    kept, tokens = Counter[str](), 0
    config = GCConfig(
        strategy="gc_budget", context_limit=window, output_reservation=0, compression_profile=profile.name
    )
    plugins = Plugins.discover()
    plugins.register(Offering(), name="parts")
    for messages in sessions:
        with GCSession(config, plugins=plugins) as session:
            calls = 0
            for message in messages:
                if message["role"] == "assistant":
                    calls += 1
                    request = session.pre_send()
                    if calls % SAMPLED_EVERY == 0 and session.last_result is not None:
                        tokens += request.tokens
                        kept += found_in("\n".join(item.text for item in session.items()))
                session.append(message)
    return Row(profile.name, tokens, kept)


def found_in(text: str) -> Counter[str]:
    """Distinct things in a text, by what they are."""
    return Counter({what: len(set(pattern.findall(text))) for what, pattern in SOUGHT.items()})


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """A line for each profile."""
    print(f"\n{title:<22}{'tokens':>12}" + "".join(f"{what:>14}" for what in SOUGHT))
    for row in rows:
        print(f"{row.profile:<22}{row.tokens:>12,}" + "".join(f"{row.kept[what]:>14,}" for what in SOUGHT))


if __name__ == "__main__":
    main()
