"""The check of a rendered request, by format."""

from __future__ import annotations

from gc_core.errors import RuleError
from gc_core.providers.registry import PROVIDERS
from gc_core.providers.rules.violations import Rendered, Violation
from gc_core.values.messages import Request


def check_request(request: Request, *, pending: bool = False) -> tuple[Violation, ...]:
    """
    Return every violation of the format's rules, in the order of the messages; empty if the provider would accept the
    request. Raises RuleError for an unknown format.

    With ``pending`` the calls of the last assistant message may lack results, as long as only results follow it: the
    request between a reply and its tools. It could not be sent like that.
    """
    provider = PROVIDERS.get(request.format)
    if provider is None:
        raise RuleError(f"no rules for format {request.format!r}; known: {sorted(PROVIDERS)}")
    rendered = Rendered(request=request, pending=pending)
    return tuple(
        sorted((breach for rule in provider.rules for breach in rule(rendered)), key=lambda breach: breach.index)
    )
