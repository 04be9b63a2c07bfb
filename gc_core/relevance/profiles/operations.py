"""Importance for running systems: recognisers of lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gc_core.relevance.profiles.matchers import Line, LineClass, Reading, cues
from gc_core.values.patterns import regex

_STATES = (
    *cues("status:", "state:", "phase:", "ready:", "replicas:", "health:", small=True, opens=True),
    *cues("active (running)", "inactive (dead)", "activating (", "failed (result", "unhealthy", small=True),
    *cues("CrashLoopBackOff", "ImagePullBackOff", "OOMKilled", "Evicted", "NotReady", "Terminating", "Pending  "),
    *cues("Running ", pattern=r"Running {2,20}\d", apart=True),
    *cues("Up ", pattern=r"Up (?:\d{1,4} |About |Less )", apart=True),
    *cues("is running", "is stopped", "is down", "is not running", "listening on", "out of sync", small=True),
)
SYSTEM_STATE: Final = LineClass(cues=_STATES, sought=_STATES)
"""Lines that state the condition of a service, a process or a node."""

_ODD = cues(
    *("spike", "anomal", "outlier", "unusual", "unexpected", "degraded", "saturat", "out of memory", "oom-kill"),
    *("memory leak", "deadlock", "backlog", "exhausted", "throttl", "dropped packets", "retrying", "timed out"),
    *("connection refused", "no space left", "too many open files", "exceeded"),
    small=True,
    apart=True,
)
ANOMALY: Final = LineClass(cues=_ODD, sought=_ODD)
"""Lines that report something unusual."""

_ALERTS = (
    *cues("ALERT", "CRITICAL", "FIRING", "EMERGENCY", "WARN", pattern=r"[A-Z]{4,9}(?:ING)?\b(?![_.(=])", apart=True),
    *cues("alertname", "pagerduty", "[firing", "severity:", "severity=", "alert:", "paged ", small=True),
    *cues("SEV", pattern=r"SEV-?[0-5]\b", apart=True),
)
ALERT: Final = LineClass(cues=_ALERTS, sought=_ALERTS)
"""Lines in which a monitor alerts someone."""

_FIGURE = r"\d[\d,.]{0,14} ?$"
_METRICS = (
    *cues("%", "ms", "MB", "GB", "KB", "MiB", "GiB", "Mi ", "Gi ", "rps", "qps", "req/s", "µs", before=_FIGURE),
    *cues("load average", "p50", "p95", "p99", "latency", "throughput", pattern=r"[^\n\d]{2,40}\d", small=True),
)
METRIC_VALUE: Final = LineClass(cues=_METRICS, sought=_METRICS)
"""Lines with a measured value and its unit."""

_COMMANDS = (
    *cues("$ ", pattern=r"\$ (?:sudo |[a-z][\w.-]{1,20} (?:-|[a-z/]))", opens=True),
    *cues("kubectl ", "systemctl ", "journalctl ", pattern=r"\w{4,10} [a-z-]", apart=True),
    *cues("docker ", "helm ", "terraform ", pattern=r"\w{4,10} [a-z]{2,10}\b", apart=True),
    *cues("sudo ", pattern=r"sudo [a-z]", apart=True),
    *cues("aws ", "gcloud ", pattern=r"\w{2,6} [a-z][a-z-]{1,20} [a-z-]", apart=True),
)
COMMAND_RUN: Final = LineClass(cues=_COMMANDS, sought=_COMMANDS)
"""Lines with a command that was run on a system."""

_EVENTS = cues(
    *("deploy", "rolled back", "rollback", "restart", "started", "stopped", "failed", "resolved", "escalated"),
    *("detected", "mitigated", "acknowledged", "triggered", "recovered", "incident", "scaled"),
    small=True,
)
_CLOCK = regex(r"\b[0-2]?\d:[0-5]\d(?::[0-5]\d)?\b")
_CLOCK_WITHIN = 60


def _timed(reading: Reading) -> Iterator[Line]:
    """Yield lines with an event that have a time of day near their beginning, before the event."""
    if _CLOCK.search(reading.text):
        for start, end in reading.with_cues(_EVENTS):
            if _CLOCK.search(reading.text, start, min(end, start + _CLOCK_WITHIN)):
                yield start, end


INCIDENT_TIMELINE: Final = LineClass(also=_timed)
"""Lines that say when something was done or happened."""

# -- low importance -------------------------------------------------------------------------------------------

ROUTINE_HEALTH_CHECK: Final = LineClass(
    cues=cues(
        *("get /health", "/healthz", "/readyz", "/livez", "health check passed", "health check ok", "health: ok"),
        *("healthcheck passed", "probe succeeded", "check passed", "all checks passed", "ping ok", "status=healthy"),
        small=True,
    )
)
"""Lines of checks that found nothing."""

HEARTBEAT: Final = LineClass(
    cues=cues("heartbeat", "keepalive", "keep-alive", "still alive", "lease renewed", small=True, apart=True)
)
"""Lines that only say that something is alive."""
