"""Contents of the Agent Development Kit, which are Gemini's, as plain JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from google.genai.types import Content, Part
from pydantic import BaseModel

from gc_core.integrations.lanes import matched_blocks


class Contents:
    """Reads and writes contents; see ``MessageCodec``."""

    def payload(self, message: Content) -> Mapping[str, Any] | None:
        """Return the content as the API has it; None for an empty one."""
        return plain(message) if message.parts else None

    def edited(self, message: Content, payload: Mapping[str, Any]) -> Content:
        """Return a copy with the parts of its payload."""
        before = ((part, plain(part)) for part in message.parts or ())
        return message.model_copy(update={"parts": list(matched_blocks(before, payload["parts"], _part))})

    def written(self, payload: Mapping[str, Any]) -> Content:
        """Return a content for one of gc-core's own."""
        return Content.model_validate_json(json.dumps(payload))


def plain(value: BaseModel) -> dict[str, Any]:
    """Return a value of the Gemini client in the API's own names, bytes in base64."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def _part(_before: Part | None, payload: Mapping[str, Any]) -> Part:
    return Part.model_validate_json(json.dumps(payload))
