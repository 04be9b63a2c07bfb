"""Regular expressions compiled on first use: importing gc-core compiles none of its hundreds."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class LazyPattern:
    """Behaves like a compiled pattern, and compiles it on first use."""

    def __init__(self, text: Any, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Return a method of the compiled pattern, and keep it, so that later calls cost no more."""
        value = getattr(self.compiled(), name)
        setattr(self, name, value)
        return value

    def compiled(self) -> re.Pattern[Any]:
        """Return the compiled pattern."""
        return re.compile(self._text, self._flags)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """
    Return a pattern that is compiled on first use.

    An error in `text` is raised then, not here: use it for constants, which tests cover, not for user input.
    """
    return cast("re.Pattern[AnyStr]", LazyPattern(text, flags))
