"""The keys of a provider's payloads: which of the values below them may be rewritten."""

from __future__ import annotations

import attrs

BINARY = "data"
"""The key under which providers put base64, next to its media type."""


@attrs.frozen(kw_only=True)
class PayloadKeys:
    """
    One list for redaction, middleware, purge and the cache's estimates.

    Attributes:
        sealed: Values that the provider signed or encrypted, and accepts only unmodified.
        ids: The provider's ids and its own words, besides ``role``, ``type`` and ``id``.
        media: The media type of base64.
        base64_siblings: Keys next to which ``data`` is base64.
        bytes_types: Types of blocks whose ``data`` is base64.
        arguments: Keys below which everything is a model's or a tool's own, whatever the keys.
        schemas: Keys below which a tool schema describes arguments, under keys of the host's own.

    """

    sealed: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    media: frozenset[str] = frozenset({"media_type", "mime_type", "mimeType"})
    base64_siblings: frozenset[str] = frozenset()
    bytes_types: frozenset[str] = frozenset({"base64"})
    arguments: frozenset[str] = frozenset()
    schemas: frozenset[str] = frozenset({"properties", "parameters"})
    structure: frozenset[str] = attrs.field(init=False)
    free: frozenset[str] = attrs.field(init=False)

    @structure.default
    def _all_structure(self) -> frozenset[str]:
        return frozenset({"role", "type", "id"}) | self.ids | self.sealed | self.media

    @free.default
    def _all_free(self) -> frozenset[str]:
        return self.arguments | self.schemas
