"""The recorded requests of real clients, as a gateway sees them; none where they are not shared."""

import json
from pathlib import Path

import attrs
import pytest

FOLDER = Path(__file__).parents[2].parent / "shared" / "reference" / "wire" / "samples"

_FORMATS = (
    ("/messages", "anthropic", "messages"),
    ("/chat/completions", "openai", "messages"),
    ("/responses", "responses", "input"),
    (":generateContent", "gemini", "contents"),
    (":streamGenerateContent", "gemini", "contents"),
)


@attrs.frozen
class Recorded:
    """One generation request: its client's file, its number there, path, headers and body."""

    client: str
    number: int
    format: str
    path: str
    headers: dict
    body: dict

    @property
    def messages(self):
        return next(self.body[field] for _, name, field in _FORMATS if name == self.format)

    @property
    def system(self):
        if self.format == "gemini":
            return self.body.get("systemInstruction", {}).get("parts")
        return self.body.get("system" if self.format == "anthropic" else "instructions")

    @property
    def tools(self):
        return self.body.get("tools")

    def __str__(self):
        return f"{self.client} {self.number}"


def recorded_requests():
    """All generation requests, in the order in which each client sent them."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        for each in json.loads(path.read_text()):
            bare = (each["path"] or "").partition("?")[0]
            known = next((name for end, name, _ in _FORMATS if bare.endswith(end)), None)
            if known and each["method"] == "POST" and isinstance(each["body"], dict):
                headers = {name.lower(): value for name, value in each["headers"]}
                found.append(Recorded(path.stem, each["n"], known, each["path"], headers, each["body"]))
    return found


def require_samples():
    """Skip the test, saying so, where the recordings are absent."""
    if not FOLDER.is_dir():
        pytest.skip(f"no recorded requests in {FOLDER}")
