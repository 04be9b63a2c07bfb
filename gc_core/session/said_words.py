"""What was said last, for which something of the past may be needed: a rule for the future needs nothing now."""

from __future__ import annotations

import attrs

from gc_core.relevance.mentions import LONGEST, asks, sentences_in
from gc_core.values.items import ItemKind, Unit

_BY_ANYONE = frozenset({ItemKind.USER_TEXT, ItemKind.ASSISTANT_TEXT})


@attrs.frozen
class SaidWords:
    """
    What a user said, without what a program wrote for one, or the agent.

    Attributes:
        text: What may need something.
        rules: The sentences by which a user only lays down a rule.

    """

    text: str
    rules: str = ""

    @classmethod
    def of(cls, step: Unit) -> SaidWords:
        """Return what was said in a step."""
        text = "\n".join(item.text for item in step.items if item.kind in _BY_ANYONE and not item.synthetic)
        if step.is_step or len(text) > LONGEST:
            return cls(text)
        from gc_core.task.stated_rules import is_plainly_rule  # reads its model when a user has said something

        rules = [each for each in sentences_in(text) if not asks(each, by_mark=True) and is_plainly_rule(each)]
        for rule in rules:
            text = text.replace(rule, "\n")
        return cls(text, "\n".join(rules))
