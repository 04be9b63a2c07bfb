"""The built-in profiles; the first two are the seed's, verbatim."""

from __future__ import annotations

from typing import Final

from gc_core.relevance.profiles.profile import CompressionProfile

GENERAL_PROFILE: Final = CompressionProfile(name="general")
"""Changes nothing: every line has the weight of what it carries."""

CODING_PROFILE: Final = CompressionProfile(
    name="coding",
    high_importance=("file_path", "function_signature", "test_result", "error_message", "git_diff"),
    low_importance=("verbose_log", "package_install_output", "full_file_listing"),
    preserve_verbatim=("code_snippet", "configuration_change"),
    tool_output_trim={"file_read": 500, "shell_exec": 200, "search_results": 300},
)
"""For agents that write code: paths, signatures, test results, errors and diffs first."""

RESEARCH_PROFILE: Final = CompressionProfile(
    name="research",
    high_importance=("source_citation", "key_finding", "data_point", "methodology", "conclusion"),
    low_importance=("search_query", "navigation_step", "page_load_status"),
    preserve_verbatim=("direct_quote", "statistical_result"),
    tool_output_trim={"web_search": 400, "document_read": 600, "database_query": 300},
)
"""For agents that read sources: citations, findings, figures, methods and conclusions first."""

OPERATIONS_PROFILE: Final = CompressionProfile(
    name="operations",
    high_importance=("system_state", "anomaly", "alert", "metric_value", "error_message"),
    low_importance=("routine_health_check", "heartbeat", "verbose_log", "package_install_output"),
    preserve_verbatim=("incident_timeline", "command_run", "configuration_change"),
    tool_output_trim={"log_query": 400, "metric_query": 300, "shell_exec": 400},
)
"""For agents that run systems: states, anomalies, alerts and measured values first; timelines and commands whole."""

BUILT_IN_PROFILES: Final = (GENERAL_PROFILE, CODING_PROFILE, RESEARCH_PROFILE, OPERATIONS_PROFILE)
