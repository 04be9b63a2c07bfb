"""Regular expressions that are compiled when they are first used: importing gc-core compiles none of its hundreds."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class LazyPattern:
    """Acts as a compiled pattern, and compiles it when it is first used."""

    def __init__(self, text: Any, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Return a method of the compiled pattern; it is kept, so that later calls cost no more."""
        value = getattr(self.compiled(), name)
        setattr(self, name, value)
        return value

    def compiled(self) -> re.Pattern[Any]:
        """Return the pattern itself."""
        return re.compile(self._text, self._flags)


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """
    Return a pattern that is compiled when it is first used.

    An error in `text` is raised then, not here: for constants, which tests use, not for what a user writes.
    """
    return cast("re.Pattern[AnyStr]", LazyPattern(text, flags))
