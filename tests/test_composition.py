"""What a session is made of: plain classes that the core owns, none of which keeps the session alive."""

import gc
import inspect
import weakref

import pytest

from gc_core import GCSession
from tests.support.inside import core_of, runtime_of
from tests.support.say import rounds, small


@pytest.fixture
def without_pythons_collector():
    """A circle of references stays."""
    gc.disable()
    yield
    gc.enable()


def collaborators(session):
    return {name: each for name, each in vars(core_of(session)).items() if "gc_core.session" in type(each).__module__}


def test_no_collaborator_inherits_from_another():
    with small(3_000) as session:
        bases = {name: type(each).__mro__[1:] for name, each in collaborators(session).items()}
        assert len(bases) > 20
        assert set(bases.values()) == {(object,)}


def test_no_collaborator_holds_the_core_or_the_session():
    with small(3_000) as session:
        rounds(session, 8)
        for name, part in collaborators(session).items():
            fields = vars(part) if hasattr(part, "__dict__") else {}
            held = [*fields.values(), *(getattr(each, "__self__", None) for each in fields.values())]
            assert not any(each is session or each is core_of(session) for each in held), name


@pytest.mark.usefixtures("without_pythons_collector")
@pytest.mark.parametrize("ends", [True, False], ids=["closed", "left open"])
def test_an_unreferenced_session_is_freed_at_once(ends):
    session = small(3_000)
    rounds(session, 8)
    known = [weakref.ref(session), weakref.ref(core_of(session)), weakref.ref(runtime_of(session).recorder)]
    if ends:
        session.close()
    del session
    assert [each() for each in known] == [None, None, None]


def test_every_public_call_of_a_session_says_what_it_promises():
    public = [member for name, member in inspect.getmembers(GCSession) if not name.startswith("_")]
    assert all(inspect.getdoc(member) for member in public if callable(member) or isinstance(member, property))
