"""The profile of one session: named by its configuration, or detected once."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from gc_core.relevance.profiles.builtin import GENERAL_PROFILE
from gc_core.relevance.profiles.detection import detected
from gc_core.relevance.profiles.profile import CompressionProfile
from gc_core.values.items import Part

AUTO = "auto"
"""Instead of a profile's name: the one that the session's first steps speak for."""


@attrs.define
class ProfileChoice:
    """
    What a session holds for important.

    Attributes:
        known: The profile; None while it is to be detected.

    """

    known: CompressionProfile | None

    def among(self, parts: Iterable[Part]) -> CompressionProfile:
        """
        Return the profile, detected by the parts with which the session begins where none is named.

        The general one until enough have come; what was detected is kept, and the same parts give the same one.
        """
        if self.known is None:
            self.known = detected(parts)
        return self.known or GENERAL_PROFILE
