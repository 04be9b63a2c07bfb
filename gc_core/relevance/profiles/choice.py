"""The profile of a session: named by its configuration, or detected once."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from gc_core.relevance.profiles.builtin import GENERAL_PROFILE
from gc_core.relevance.profiles.detection import detected
from gc_core.relevance.profiles.profile import CompressionProfile
from gc_core.values.items import Part

AUTO = "auto"
"""The name that selects a profile by the session's first steps."""


@attrs.define
class ProfileChoice:
    """
    The choice of a session's profile.

    Attributes:
        known: The profile; None until it is detected.

    """

    known: CompressionProfile | None

    def among(self, parts: Iterable[Part]) -> CompressionProfile:
        """
        Return the profile, detected from the parts with which the session begins unless one is named.

        The general profile until there are enough; a detected profile is kept, and the same parts yield the same
        profile.
        """
        if self.known is None:
            self.known = detected(parts)
        return self.known or GENERAL_PROFILE
