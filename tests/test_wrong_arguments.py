"""What a host gives by mistake is named, with what would be right; nothing is changed by it."""

import pytest

from gc_core import GCConfig, GCSession
from gc_core.errors import ConfigError, LogError, SourceError
from tests.support.say import rendered, small, user

MISTAKES = {
    "switch(model=5)": (lambda session: session.switch(model=5), ConfigError, "model = 5: expected the name"),
    "switch(model=[])": (lambda session: session.switch(model=["gpt-6"]), ConfigError, "expected the name of a model"),
    "switch(context_limit)": (lambda session: session.switch(context_limit="x"), ConfigError, "context_limit = 'x'"),
    "condense(None)": (lambda session: session.condense(None), SourceError, "texts = None: expected a note"),
    "condense([])": (lambda session: session.condense(["i1"]), SourceError, "by item id"),
    "register_source(5)": (lambda session: session.register_source(5), SourceError, "expected an InstructionSource"),
    "rollback(5)": (lambda session: session.rollback(5), LogError, r"checkpoint = 5: expected one that checkpoint\(\)"),
    "plan(goal=5)": (lambda session: session.plan(goal=5), ConfigError, "goal = 5: expected a Goal"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_argument_is_named_and_changes_nothing(name):
    mistake, error, text = MISTAKES[name]
    with small() as session:
        session.append(user("Do it."))
        before = rendered(session)
        with pytest.raises(error, match=text):
            mistake(session)
        assert rendered(session) == before
        assert session.pre_send().messages


@pytest.mark.parametrize("model", [5, b"gpt-6", ["gpt-6"]])
def test_a_session_with_an_invalid_model_leaves_no_files(tmp_path, model):
    with pytest.raises(ConfigError, match="expected the name of a model, or None"):
        GCSession(GCConfig(), model=model, directory=tmp_path / "s")
    assert not (tmp_path / "s").exists()
