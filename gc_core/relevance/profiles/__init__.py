"""Compression profiles: the important lines of a domain, by classes of lines and kinds of tools."""

from gc_core.relevance.profiles.builtin import (
    BUILT_IN_PROFILES,
    CODING_PROFILE,
    GENERAL_PROFILE,
    OPERATIONS_PROFILE,
    RESEARCH_PROFILE,
)
from gc_core.relevance.profiles.choice import AUTO, ProfileChoice
from gc_core.relevance.profiles.detection import FIRST_PARTS, detected
from gc_core.relevance.profiles.profile import IMPORTANCE_CLASSES, ClassedLine, CompressionProfile
from gc_core.relevance.profiles.tool_kinds import TOOL_KINDS, tool_kind
from gc_core.relevance.profiles.weights import WeighedText, Weighing, weighing_by

__all__ = [
    "AUTO",
    "BUILT_IN_PROFILES",
    "CODING_PROFILE",
    "FIRST_PARTS",
    "GENERAL_PROFILE",
    "IMPORTANCE_CLASSES",
    "OPERATIONS_PROFILE",
    "RESEARCH_PROFILE",
    "TOOL_KINDS",
    "ClassedLine",
    "CompressionProfile",
    "ProfileChoice",
    "WeighedText",
    "Weighing",
    "detected",
    "tool_kind",
    "weighing_by",
]
