"""
OpenTelemetry for a session: ``instrument(session)``; needs the extra ``otel``.

No text of the conversation leaves through here: attributes are names, ids and numbers. Nothing in gc-core imports this
package, so sessions that are not instrumented do not load OpenTelemetry.
"""

from __future__ import annotations

from gc_core.errors import ConfigError

try:
    from gc_core.integrations.telemetry.instrumentation import Instrumentation, instrument
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("opentelemetry"):
        raise
    raise ConfigError('telemetry needs opentelemetry-api: pip install "gc-core[otel]"') from error

__all__ = ["Instrumentation", "instrument"]
