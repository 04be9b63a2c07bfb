"""
What a host has the provider do to the window by itself: ``GCConfig.provider_edits`` as the providers take it.

Sources: Anthropic's guides to context editing and compaction, OpenAI's to compaction, and the request types of the
packages anthropic 2.12 and openai 3.54 (November 2026).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from gc_core.errors import ConfigError

LEAST_COMPACTION: Final = 50_000
"""Input tokens below which Anthropic takes no trigger of a compaction."""

BETAS: Final = {"clear": "context-management-2025-06-27", "compact": "compact-2026-01-12"}
"""What a request has to ask for, by the first word of an edit's type."""

_HEADER, _BODY, _EDITS = "extra_headers", "extra_body", "context_management"
_BETA = "anthropic-beta"


def _percent(edits: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if value is None or (type(value) in {int, float} and 1 <= value < 100):  # noqa: PLR2004 - percent
        return
    raise ConfigError(f"provider_edits.{attribute.name} = {value!r}: expected a number of percent from 1 to below 100")


def _turns(edits: object, attribute: attrs.Attribute[Any], value: Any) -> None:  # noqa: ARG001 - attrs' signature
    if value is not None and (type(value) is not int or value < 1):
        raise ConfigError(f"provider_edits.{attribute.name} = {value!r}: expected a whole number of at least 1")


@attrs.frozen(kw_only=True)
class ProviderEdits:
    """
    What the provider is to do, and when; percentages are of ``context_limit - output_reservation``.

    Raises ConfigError, naming the key, for what cannot be.

    Attributes:
        compact_percent: Usage at which it compacts the conversation; Anthropic's Messages and OpenAI's Responses.
        clear_percent: Usage at which it clears old tool results; Anthropic alone.
        thinking_turns: Newest replies whose thinking it keeps, in every request; Anthropic alone.

    """

    compact_percent: float | None = attrs.field(default=None, validator=_percent)
    clear_percent: float | None = attrs.field(default=None, validator=_percent)
    thinking_turns: int | None = attrs.field(default=None, validator=_turns)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> ProviderEdits:
        """Of the configuration's table."""
        names = [field.name for field in attrs.fields(cls)]
        for name in table:
            if name not in names:
                raise ConfigError(f"provider_edits.{name} = {table[name]!r:.100}: expected one of {names}")
        return cls(**table)

    @property
    def percents(self) -> Mapping[str, float]:
        """Where the provider makes room by itself, by key."""
        levels = {"clear_percent": self.clear_percent, "compact_percent": self.compact_percent}
        return {name: level for name, level in levels.items() if level is not None}

    def check(self, format: str, usable: int) -> None:  # noqa: A002 - the session's own word
        """Raise ConfigError for what the provider of this format cannot do, or not at this size."""
        asked = [name for name, value in attrs.asdict(self).items() if value is not None]
        able = {"anthropic": asked, "responses": ["compact_percent"]}.get(format, [])
        for name in asked:
            if name not in able:
                raise ConfigError(f"provider_edits.{name}: requests of the format {format!r} cannot ask for it")
        least = self.compact_percent and int(usable * self.compact_percent / 100)
        if format == "anthropic" and least is not None and least < LEAST_COMPACTION:
            raise ConfigError(
                f"provider_edits.compact_percent = {self.compact_percent}: {least:,} of {usable:,} tokens; Anthropic"
                f" compacts at {LEAST_COMPACTION:,} or more"
            )

    def options(self, format: str, usable: int, excluded: Iterable[str]) -> dict[str, Any]:  # noqa: A002 - see above
        """What a request carries of it; ``excluded`` are tools whose results are not to be cleared."""
        if format == "responses" and self.compact_percent is not None:
            threshold = int(usable * self.compact_percent / 100)
            return {_EDITS: [{"type": "compaction", "compact_threshold": threshold}]}
        edits = list(self._edits(usable, sorted(excluded))) if format == "anthropic" else []
        return _asking({_BODY: {_EDITS: {"edits": edits}}}) if edits else {}

    def _edits(self, usable: int, excluded: list[str]) -> Iterator[dict[str, Any]]:
        if self.thinking_turns is not None:
            keep = {"type": "thinking_turns", "value": self.thinking_turns}
            yield {"type": "clear_thinking_20251015", "keep": keep}
        if self.clear_percent is not None:
            spared = {"exclude_tools": excluded} if excluded else {}
            yield {"type": "clear_tool_uses_20250919", "trigger": _tokens(usable, self.clear_percent), **spared}
        if self.compact_percent is not None:
            trigger = _tokens(usable, self.compact_percent)
            if trigger["value"] >= LEAST_COMPACTION:  # a provider's refusal may have told of a smaller window since
                yield {"type": "compact_20260112", "trigger": trigger}


def merged(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """
    A session's options and a host's own arguments as one set of arguments: the host's win.

    Betas, headers and fields of the body are joined. Of edits that both ask for the host's stands, each kind once, in
    the order that the provider wants. A compaction that the host asks for at once (``compaction``) takes none beside
    it.
    """
    if not options or not own:
        return {**options, **own}
    ours, theirs = dict(options), dict(own)
    if "compaction" in own or "compaction" in own.get(_BODY, {}):
        ours[_BODY] = {name: value for name, value in ours.get(_BODY, {}).items() if name != _EDITS}
    if isinstance(ours.get(_EDITS), list) and isinstance(theirs.get(_EDITS), Iterable):
        told = list(theirs[_EDITS])
        theirs[_EDITS] = [*told, *(each for each in ours[_EDITS] if not _is_told(each, told))]
    for field in (_HEADER, _BODY):
        if field in ours or field in theirs:
            theirs[field] = {**ours.get(field, {}), **theirs.get(field, {})}
    body, before = theirs.get(_BODY, {}), ours.get(_BODY, {}).get(_EDITS)
    if before is not None:
        told = theirs.pop(_EDITS, None) or own.get(_BODY, {}).get(_EDITS)
        theirs[_BODY] = {**body, _EDITS: with_edits(before, told)}
    asked = _names(ours.get(_HEADER))
    if asked:
        names = [*_names(own.get(_HEADER)), *(theirs.pop("betas", None) or ()), *asked]
        theirs[_HEADER] = {**theirs.get(_HEADER, {}), _BETA: ",".join(dict.fromkeys(names))}
    return {name: value for name, value in {**ours, **theirs}.items() if value or name not in {_HEADER, _BODY}}


def with_edits(ours: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Anthropic's ``context_management`` of both: thinking first, compaction last, the host's where both ask."""
    told = list((theirs or {}).get("edits") or ())
    edits = [*told, *(each for each in ours["edits"] if not _is_told(each, told))]
    return {**ours, **(theirs or {}), "edits": sorted(edits, key=_rank)}


def _asking(options: dict[str, Any]) -> dict[str, Any]:
    kinds = [str(edit["type"]).partition("_")[0] for edit in options[_BODY][_EDITS]["edits"]]
    return {_HEADER: {_BETA: ",".join(dict.fromkeys(BETAS[kind] for kind in kinds))}, **options}


def _tokens(usable: int, percent: float) -> dict[str, Any]:
    return {"type": "input_tokens", "value": int(usable * percent / 100)}


def _is_told(edit: Mapping[str, Any], told: Sequence[Mapping[str, Any]]) -> bool:
    return any(_kind(edit) == _kind(other) for other in told)


def _kind(edit: Mapping[str, Any]) -> str:
    """The type without its date."""
    return str(edit.get("type")).rstrip("0123456789").rstrip("_")


def _rank(edit: Mapping[str, Any]) -> int:
    return {"clear_thinking": 0, "compact": 2}.get(_kind(edit), 1)


def _names(headers: Mapping[str, str] | None) -> list[str]:
    return [name for name in (headers or {}).get(_BETA, "").split(",") if name]
