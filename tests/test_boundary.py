"""What is configured, under the names of the research, and what is built in, which no key turns off."""

import attrs
import pytest

from gc_core import ContextOverflowError, GCConfig, GCSession, Plugins
from gc_core.errors import SpendLimitError
from gc_core.storage.state import digest_of_messages
from tests.support.inside import store_of, window_of

TABLE = {
    "token_budget": None,  # 90 % of the window: threshold_percent says so
    "threshold_percent": 90.0,
    "output_reservation": 4_096,
    "compression_profile": "general",
    "summarization_model": None,  # the session's own
    "summarization_prompt": None,  # gc-core's own words
    "checkpoint_every_n_steps": 50,
    "max_total_tokens": None,
    "recovery_strategy": "undo_last",
}
"""Section 7.2 of the research."""

EXTREMES = {
    "strategy": ["none"],
    "context_limit": [1, 300, 10**9],
    "output_reservation": [0, 5_999],
    "threshold_percent": [95, 60],
    "target_percent": [0, 90],
    "pressure_percent": [0, 100],
    "preserve_recent_turns": [0, 10**9],
    "preserve_recent_steps": [0, 10**9],
    "pinned_turn_indices": [(0,), tuple(range(50))],
    "max_turns": [1, 10**9],
    "token_budget": [1, 5_000],
    "max_total_tokens": [1, 10**12],
    "auto_expand": [True],
    "auto_trigger": [False],
    "check_before_send": [False],
    "checkpoint_every_n_steps": [0, 1, 10**9],
    "memory_backend": ["sqlite", "memory"],
    "recovery_strategy": ["rollback_to_checkpoint", "raise"],
    "check_replies": [True],
    "summarizer": ["none"],
    "summarizer_timeout": [1e-9],
    "summarization_model": ["auto"],
    "summarization_prompt": ["Say nothing."],
    "background_percent": [0, 90],
    "summarizers": [{"llm": {"retries": 1}}],
    "cache_marks": [False],
    "cache_ttl": ["5m"],
    "stable_cache_ttl": ["1h"],
    "prompt_cache_key": ["k" * 1_000],
    "betas": [("x-1",)],
    "keep_thinking_turns": [0, None],
    "defer": [True],
    "tpm_budget": [1],
    "reread_guard": ["off", "raise"],
    "promote_threshold": [0.0, 1.0],
    "compression_profile": ["auto", "research"],
    "task_state_percent": [0, 100],
    "tools": [{"read": "exclude"}, {"read": "ephemeral"}],
    "strategies": [{"none": {}}],
}
SAME = {"importance_scorer", "state_extractor", "provider_edits"}
"""Keys whose other values are names of plugins, or need an extra or a provider that can do it."""

SMALL = {"context_limit": 6_000, "output_reservation": 500}


def test_the_configurable_table_has_its_names_and_defaults():
    config = attrs.asdict(GCConfig(), recurse=False)
    assert {key: config[key] for key in TABLE} == TABLE
    assert GCConfig().begins_percent == 90


def test_every_key_has_an_extreme_value():
    assert {field.name for field in attrs.fields(GCConfig)} == {*EXTREMES, *SAME}


def call(number):
    function = {"name": "read", "arguments": f'{{"path": "module{number}.py"}}'}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def live(session, requests):
    """More than the window holds; the provider counts as the session does."""
    for number in range(5):
        session.append({"role": "user", "content": f"Request {number}: mend module{number}.py."})
        for reply in (call(number), {"role": "assistant", "content": "Mended."}):
            request = session.pre_send()
            requests.append(request)
            session.post_turn(reply, usage={"prompt_tokens": request.tokens, "completion_tokens": 10})
            if reply["content"] is None:
                result = f"def function_{number}(): ...\n" * 260
                session.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})


def cases():
    for key, values in EXTREMES.items():
        for value in values:
            changed = {key: value, "output_reservation": 0} if key == "context_limit" else {key: value}
            yield pytest.param(changed, id=f"{key}={value!r:.30}")


@pytest.mark.parametrize("changed", [*cases()])
def test_no_key_turns_off_what_is_built_in(changed, tmp_path):
    config = GCConfig(**{"strategy": "none", **SMALL, **changed})
    requests = []
    with GCSession(config, directory=tmp_path, plugins=Plugins()) as session:
        try:
            live(session, requests)
        except (ContextOverflowError, SpendLimitError):
            assert ends(config), "nothing but a window or a limit that is too small may end the session"
        # Overflow prevention: nothing was rendered that does not fit.
        assert all(0 < request.tokens <= config.usable for request in requests)
        # Counting: every item has its tokens, and the budget has them all.
        assert all(item.tokens > 0 for item in session.items() if item.text)
        assert session.budget.total >= sum(item.tokens for item in session.items()) > 0
        # Usage and cost: every reported call is in the account.
        calls = session.cache.spend.calls
        assert calls == len(requests)
        # Persistence: the moment can be gone back to, and is there when the session is opened again.
        kept = session.checkpoint()
        assert session.rollback(kept).digest == kept.digest == digest(session)
    with GCSession.open(tmp_path, plugins=Plugins()) as session:
        assert digest(session) == kept.digest
        assert session.cache.spend.calls == calls


def digest(session):
    return digest_of_messages(window_of(session).messages)


def ends(config):
    """Whether held content has no room, collecting is not allowed, or nothing may be spent."""
    held = len(config.pinned_turn_indices) > 1 or "exclude" in config.tools.values()
    return (
        config.usable <= 600
        or held
        or not config.auto_trigger
        or config.max_total_tokens == 1
        or config.task_state_percent == 100
    )


def test_checkpoints_come_by_themselves_with_a_directory(tmp_path):
    config = GCConfig(strategy="none", checkpoint_every_n_steps=3)
    with GCSession(config, directory=tmp_path, plugins=Plugins()) as session:
        live(session, [])
        assert len(store_of(session).checkpoints.moments()) == 3
