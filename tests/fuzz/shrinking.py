"""Makes a script smaller while it still breaks the same promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from tests.fuzz.counting import tokens
from tests.fuzz.histories import Script, Step
from tests.fuzz.running import run

LONG = 24
# Texts that are no text: sealed, JSON, or an address.
LEFT = ("signature", "encrypted_content", "thoughtSignature", "arguments", "input", "url", "image_url", "id")
NEEDED = ("strategy", "context_limit", "output_reservation")


@attrs.define
class Shrinker:
    """
    Shrinks for one kind of breach.

    Attributes:
        kind: The breach's.
        left: So many more runs it may make.
    """

    kind: str
    left: int = 400

    def breaks(self, script: Script) -> bool:
        if self.left <= 0:
            return False
        self.left -= 1
        try:
            return any(breach.kind == self.kind for breach in run(script).breaches)
        except Exception:  # noqa: BLE001 - a script that cannot be run shows nothing
            return False

    def shrink(self, script: Script) -> Script:
        if not self.breaks(script):
            return script
        script = self.fewer_steps(script)
        script = self.fewer_settings(script)
        script = self.shorter_texts(script)
        return self.fewer_steps(script)

    def fewer_steps(self, script: Script) -> Script:
        size = max(1, len(script.steps) // 2)
        while True:
            place = 0
            while place < len(script.steps):
                fewer = attrs.evolve(script, steps=script.steps[:place] + script.steps[place + size :])
                if fewer.steps and self.breaks(fewer):
                    script = fewer
                else:
                    place += size
            if size == 1:
                return script
            size //= 2

    def fewer_settings(self, script: Script) -> Script:
        for key in [key for key in script.config if key not in NEEDED]:
            config = {name: value for name, value in script.config.items() if name != key}
            script = self.better(script, attrs.evolve(script, config=config))
        script = self.better(script, attrs.evolve(script, model=None))
        return self.better(script, attrs.evolve(script, config={**script.config, "strategy": "gc_truncate"}))

    def better(self, script: Script, other: Script) -> Script:
        return other if other != script and self.breaks(other) else script

    def shorter_texts(self, script: Script) -> Script:
        for place in range(len(script.steps)):
            for path, text in list(long_texts(script.steps[place].given)):
                for shorter in ("x", text[: len(text) // 2], "word " * tokens(text)):
                    step = attrs.evolve(script.steps[place], given=replaced(script.steps[place].given, path, shorter))
                    steps = (*script.steps[:place], step, *script.steps[place + 1 :])
                    if shorter != text and self.breaks(other := attrs.evolve(script, steps=steps)):
                        script = other
                        break
        return script


def long_texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Where long texts stand; not deeper than a provider's own schema goes."""
    if isinstance(value, str) and len(value) > LONG:
        yield path, value
    if len(path) > 12:
        return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        if key in LEFT:
            continue
        yield from long_texts(part, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """The value with this text at this place."""
    if not path:
        return text
    if isinstance(value, dict):
        return {key: replaced(part, path[1:], text) if key == path[0] else part for key, part in value.items()}
    return [replaced(part, path[1:], text) if place == path[0] else part for place, part in enumerate(value)]


__all__ = ["Shrinker", "Step"]
