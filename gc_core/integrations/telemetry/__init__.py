"""
What a session does, told to OpenTelemetry: ``instrument(session)``; needs the extra ``otel``.

No text of the conversation leaves through here: attributes are names, ids and numbers. Nothing of gc-core imports this
package, so a session that no one instruments knows nothing of OpenTelemetry.
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
