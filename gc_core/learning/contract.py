"""The values and the protocol of fact extraction: users' statements, and the finders of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import attrs

from gc_core.storage.facts import FactKind
from gc_core.values.items import Item

_a_text = attrs.validators.matches_re(r"(?s)\s*\S.*")


@attrs.frozen(kw_only=True)
class Stated:
    """
    A user's statement in one clause: something is so, is no longer so, or has another value now.

    Attributes:
        item: Id of the item that states it.
        text: The clause, verbatim.
        subject: Its subject, or "" if it only ends something.
        relation: The relation of the object to the subject, or "".
        object: The value, or "" if it only ends something.
        kind: A constraint if it tells the assistant how to work, otherwise a fact.
        changes: It says that something was different before.
        ends: It says that something no longer applies.
        about: The words that identify what it ends or changes; if "", the clause.
        several: The subject may have more than one such object: a second pet does not replace the first.

    """

    item: str = attrs.field(validator=attrs.validators.matches_re(r"i[0-9]+"))
    text: str = attrs.field(validator=_a_text)
    subject: str = ""
    relation: str = ""
    object: str = ""
    kind: FactKind = attrs.field(default=FactKind.FACT, converter=FactKind)
    changes: bool = False
    ends: bool = False
    about: str = ""
    several: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse a triple that is neither complete nor empty."""
        named = [bool(part.strip()) for part in (self.subject, self.relation, self.object)]
        if any(named) and not all(named):
            raise ValueError(f"{self.text!r:.100}: expected subject, relation and object, or none of them")
        if not any(named) and not (self.changes or self.ends):
            raise ValueError(f"{self.text!r:.100}: it states nothing and changes nothing")


@runtime_checkable
class FactExtractor(Protocol):
    """
    Finds what users state. ``WordedExtractor`` uses fixed words; an extractor that asks a model is the host's.

    Its results are only proposals: they are compared with known facts, and the host confirms.
    """

    def extract(self, items: Sequence[Item]) -> Sequence[Stated]:
        """
        Return what these items state, in order; each result names one of them.

        Args:
            items: The texts of users in a session, as they are in its log.

        """
