"""The importance classes by name, with their recognisers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gc_core.relevance.profiles import coding, operations, research
from gc_core.relevance.profiles.matchers import Line, LineClass, Reading

LINES: Final[Mapping[str, LineClass]] = {
    "file_path": coding.FILE_PATH,
    "function_signature": coding.FUNCTION_SIGNATURE,
    "test_result": coding.TEST_RESULT,
    "error_message": coding.ERROR_MESSAGE,
    "git_diff": coding.GIT_DIFF,
    "verbose_log": coding.VERBOSE_LOG,
    "package_install_output": coding.PACKAGE_INSTALL_OUTPUT,
    "full_file_listing": coding.FULL_FILE_LISTING,
    "source_citation": research.SOURCE_CITATION,
    "key_finding": research.KEY_FINDING,
    "data_point": research.DATA_POINT,
    "methodology": research.METHODOLOGY,
    "conclusion": research.CONCLUSION,
    "search_query": research.SEARCH_QUERY,
    "navigation_step": research.NAVIGATION_STEP,
    "page_load_status": research.PAGE_LOAD_STATUS,
    "direct_quote": research.DIRECT_QUOTE,
    "statistical_result": research.STATISTICAL_RESULT,
    "system_state": operations.SYSTEM_STATE,
    "anomaly": operations.ANOMALY,
    "alert": operations.ALERT,
    "metric_value": operations.METRIC_VALUE,
    "command_run": operations.COMMAND_RUN,
    "incident_timeline": operations.INCIDENT_TIMELINE,
    "routine_health_check": operations.ROUTINE_HEALTH_CHECK,
    "heartbeat": operations.HEARTBEAT,
}
"""Classes of single lines."""

PARAGRAPHS: Final[Mapping[str, Callable[[Reading, Line], bool]]] = {
    "code_snippet": coding.code_snippet,
    "configuration_change": coding.configuration_change,
}
"""Classes of lines that belong together: whether a paragraph is of the class."""
