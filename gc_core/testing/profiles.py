"""The contract of compression profiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from gc_core.relevance.profiles import AUTO, IMPORTANCE_CLASSES, TOOL_KINDS, CompressionProfile
from gc_core.testing.contexts import made
from gc_core.testing.contract import Contract, rule
from gc_core.values.items import Item

_LINES = """\
FAILED tests/test_login.py::test_expiry - AssertionError: 3 != 4
    def expires(self, token: str) -> int:
src/login.py:42: error: Incompatible return value
npm WARN deprecated left-pad@1.3.0
According to [3] the effect is 12.4 % (p < 0.01).
2026-01-02T03:04:05Z ALERT disk usage 97 % on db-3
$ systemctl restart web
[debug] heartbeat ok
"""


class ProfileContract(Contract):
    """
    The rules for compression profiles. Subclass it as ``class TestMine(ProfileContract)``, and name the profile.

    Attributes:
        profile: The profile; or override ``make``.

    """

    profile: ClassVar[CompressionProfile | None] = None

    def make(self) -> CompressionProfile:
        """Return the profile to test."""
        assert self.profile is not None, f"{type(self).__name__} names no profile: set `profile` or override make()"
        return self.profile

    @rule
    def test_is_a_profile_with_a_name(self) -> None:
        """It is a CompressionProfile, and a configuration can name it."""
        profile: object = self.make()
        assert isinstance(profile, CompressionProfile), f"{profile!r:.100} is no CompressionProfile"
        fine = isinstance(profile.name, str) and profile.name and profile.name != AUTO
        assert fine, f"its name is {profile.name!r}; expected a name, and {AUTO!r} is the word for detection"

    @rule
    def test_names_known_classes_once(self) -> None:
        """Every class is one of ``IMPORTANCE_CLASSES``, and is in one list."""
        profile = self.make()
        named = [*profile.high_importance, *profile.low_importance, *profile.preserve_verbatim]
        unknown = sorted(set(named) - set(IMPORTANCE_CLASSES))
        assert not unknown, f"names the classes {unknown}; known are {list(IMPORTANCE_CLASSES)}"
        twice = sorted({name for name in named if named.count(name) > 1})
        assert not twice, f"has {twice} more than once; expected each in one list"

    @rule
    def test_trims_are_above_0(self) -> None:
        """A stub has some room: whole numbers of characters, by known kinds of tools."""
        for kind, most in self.make().tool_output_trim.items():
            assert kind in TOOL_KINDS, f"trims {kind!r}, which is not a kind of tool; known are {list(TOOL_KINDS)}"
            fine = isinstance(most, int) and not isinstance(most, bool) and most > 0
            assert fine, f"trims {kind!r} to {most!r}; expected a whole number of characters above 0"

    @rule
    def test_lines_are_lines_of_the_text(self) -> None:
        """Its findings are ranges of the text, ordered and disjoint, each with classes that the profile names."""
        profile = self.make()
        named = {*profile.high_importance, *profile.low_importance, *profile.preserve_verbatim}
        for name, text in self._texts():
            end = 0
            for line in profile.lines(text):
                fine = end <= line.start <= line.end <= len(text)
                assert fine, f"{name}: {line} does not follow {end} in a text of {len(text)} characters"
                fine = bool(line.classes) and set(line.classes) <= named
                assert fine, f"{name}: {line} has classes that the profile does not name: {sorted(named)}"
                end = line.end

    # -- inside --------------------------------------------------------------------------------------------------

    def _items(self) -> Iterator[tuple[str, Item]]:
        for seed in self.seeds:
            for unit in made(seed, None, None).view(pressure=False).units[-12:]:
                for item in unit.items:
                    yield f"seed {seed}", item

    def _texts(self) -> Iterator[tuple[str, str]]:
        yield "some lines", _LINES
        yield "no text", ""
        yield "one line without a break", _LINES.splitlines()[0]
        yield "line breaks", "\n\r\n" * 5
        for name, item in self._items():
            yield name, item.text
