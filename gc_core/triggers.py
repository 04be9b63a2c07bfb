"""When a strategy wants to be asked, beside the session's threshold: data that it declares and the core evaluates."""

from __future__ import annotations

from typing import Any

import attrs

_PERCENT: Any = [attrs.validators.ge(0), attrs.validators.le(100)]


@attrs.frozen(kw_only=True)
class Young:
    """
    Ask as soon as so much content has been served that lies near the end of the prompt, where a break is cheap.

    Attributes:
        tokens: Tokens of results, long arguments and texts, and pastes that came since the last such collection.
        steps: Steps that the agent has taken since each of them.
        least: Tokens below which an item does not count.
        on_bound_thinking: Ask too where the model binds thinking to what stood before it: every break strips thinking
            there.

    """

    tokens: int = attrs.field(validator=attrs.validators.gt(0))
    steps: int = attrs.field(default=2, validator=attrs.validators.ge(0))
    least: int = attrs.field(default=200, validator=attrs.validators.ge(0))
    on_bound_thinking: bool = False


@attrs.frozen(kw_only=True)
class Major:
    """
    Collections of the whole window are rare and deep.

    Attributes:
        target_percent: Usage that they go down to, where that is below the session's own target.
        conversation_percent: They begin, too, when the conversation alone has this share of the usable window.

    """

    target_percent: float = attrs.field(validator=_PERCENT)
    conversation_percent: float = attrs.field(default=100.0, validator=_PERCENT)


Trigger = Young | Major
"""The closed set of triggers."""
