"""Masks secrets before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gc_core.providers.payload_keys import BINARY, PayloadKeys
from gc_core.values.json_values import Path, objects, rebuilt
from gc_core.values.messages import Payload
from gc_core.values.references import check_of

Mask = Callable[[str], str]
"""Returns a text without secrets; the text itself if there are none."""

_NAMES = frozenset({"name", "server_label"})
"""Keys whose values are names, for example of functions."""


def without_secrets(payload: Payload, mask: Mask, keys: PayloadKeys) -> Payload:
    """
    Return a message or tool schema with every text passed through ``mask``: names too, and the keys of a call's
    arguments. Ids and sealed bytes are not changed, by the provider's ``keys``.
    """
    given = {id(each) for owner in objects(payload) for key in keys.free & owner.keys() for each in objects(owner[key])}

    def masked(path: Path, leaf: Any) -> Any:
        return _masked(payload, path, leaf, mask, keys) if isinstance(leaf, str) else leaf

    def keyed(was: Any, made: Any) -> Any:
        return _keyed(made.items(), mask) if id(was) in given else made

    return rebuilt(payload, masked, leaves_as=keyed)  # type: ignore[no-any-return]  # of a mapping it is a dict


def without_secret_names(texts: Mapping[str, Any], mask: Mask) -> dict[str, Any]:
    """Return named texts without secrets, also in their names; anything but text stays, to be refused elsewhere."""
    return _keyed(((name, mask(text) if isinstance(text, str) else text) for name, text in texts.items()), mask)


def masked_name(name: str, mask: Mask) -> str:
    """Return a name without a secret: a replacement that every provider accepts, the same for the same name."""
    return name if mask(name) == name else f"redacted_{check_of(name)}"


def _masked(payload: Payload, path: Path, text: str, mask: Mask, keys: PayloadKeys) -> str:
    """Return a text of the payload without secrets; structural values stay, and a name is replaced by another name."""
    value: Any = payload
    for key in path:
        if isinstance(value, Mapping):
            if key in keys.free:
                return mask(text)
            if key in keys.structure or (key == BINARY and _has_bytes(value, keys)):
                return text
        value = value[key]
    return masked_name(text, mask) if path[-1] in _NAMES else mask(text)


def _has_bytes(owner: Mapping[str, Any], keys: PayloadKeys) -> bool:
    return owner.get("type") in keys.bytes_types or not keys.base64_siblings.isdisjoint(owner)


def _keyed(values: Iterable[tuple[str, Any]], mask: Mask) -> dict[str, Any]:
    return {masked_name(key, mask): value for key, value in values}
