"""
Anthropic's betas on context and cache: dated data, by name.

Sources: Anthropic's guides to context editing, compaction, preserved thinking, prompt caching and tool streaming, and
    the betas that its Python package 2.12 names (state: November 2026). ``GCConfig.betas`` accepts other names too:
    later betas are passed through.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs


@attrs.frozen(kw_only=True)
class Beta:
    """
    A beta of the provider.

    Attributes:
        name: The value of the header.
        dated: Day of the version that the name contains, ISO.
        does: What a request may do, or what happens to it, with this beta.

    """

    name: str
    dated: str
    does: str


BETAS = (
    Beta(
        name="fine-grained-tool-streaming-2025-05-14",
        dated="2025-05-14",
        does="arguments of calls stream as they are written, unchecked",
    ),
    Beta(
        name="context-management-2025-06-27",
        dated="2025-06-27",
        does="the provider clears old tool results and thinking on its side",
    ),
    Beta(name="compact-2026-01-12", dated="2026-01-12", does="the provider summarises what is old, in the reply"),
    Beta(
        name="cache-diagnosis-2026-04-07",
        dated="2026-04-07",
        does="usage names why the cache was missed",
    ),
    Beta(
        name="mid-conversation-tool-changes-2026-07-01",
        dated="2026-07-01",
        does="tools come and go inside the conversation, which keeps the cached prefix",
    ),
    Beta(
        name="thinking-binding-controls-2026-08-01",
        dated="2026-08-01",
        does="thinking whose prefix has changed may be dropped instead of refused",
    ),
    Beta(name="compact-2026-09-04", dated="2026-09-04", does="the provider summarises when it is asked to"),
    Beta(name="context-1m-2025-08-07", dated="2025-08-07", does="a window of a million tokens"),
    Beta(name="extended-cache-ttl-2025-04-11", dated="2025-04-11", does="cached prefixes may live for an hour"),
)


def beta_named(name: str) -> Beta | None:
    """Return the data on a beta; None for one that is not listed here."""
    return next((beta for beta in BETAS if beta.name == name), None)


def header_of(names: Iterable[str]) -> dict[str, str]:
    """Return the header that enables betas, in the order in which they were named."""
    return {"anthropic-beta": ",".join(names)}
