"""The gateway's counters, as OpenTelemetry instruments; ``/metrics`` shows them in Prometheus' text form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation


class Metrics:
    """
    Counters of one gateway, in a separate registry.

    Args:
        open_lanes: Returns the number of lanes in memory.

    """

    def __init__(self, open_lanes: Callable[[], int]) -> None:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from opentelemetry.metrics import Observation
        from opentelemetry.sdk.metrics import MeterProvider
        from prometheus_client import REGISTRY

        self._registry = REGISTRY
        self._provider = MeterProvider(metric_readers=[PrometheusMetricReader()])
        meter = self._provider.get_meter("gc_gateway")

        def lanes(_options: CallbackOptions) -> Iterable[Observation]:
            yield Observation(open_lanes())

        self._requests = meter.create_counter("gc_gateway_requests", description="Requests by dialect and status.")
        self._bodies = meter.create_counter("gc_gateway_bodies", description="Generation requests by what was sent.")
        self._passed = meter.create_counter("gc_gateway_passed", description="Requests sent as they came, by reason.")
        self._seconds = meter.create_histogram(
            "gc_gateway_added_seconds", unit="s", description="Seconds before the request went upstream."
        )
        meter.create_observable_gauge("gc_gateway_open_lanes", [lanes], description="Lanes in memory.")

    def request(self, dialect: str, status: int) -> None:
        """Count a request."""
        self._requests.add(1, {"dialect": dialect, "status": str(status)})

    def added(self, dialect: str, seconds: float) -> None:
        """Record the seconds from a generation request's arrival until it is sent on, its body included."""
        self._seconds.record(seconds, {"dialect": dialect})

    def unchanged(self) -> None:
        """Count a request whose bytes are the client's."""
        self._bodies.add(1, {"sent": "unchanged"})

    def changed(self) -> None:
        """Count a request whose messages were changed."""
        self._bodies.add(1, {"sent": "changed"})

    def recovered(self) -> None:
        """Count a second try after a refusal for length."""
        self._bodies.add(1, {"sent": "recovered"})

    def passed(self, reason: str) -> None:
        """Count a request that was not collected for."""
        self._passed.add(1, {"reason": reason})

    def page(self) -> tuple[bytes, str]:
        """Return the metrics in Prometheus' text form, and its content type."""
        from prometheus_client import generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_LATEST

        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def close(self) -> None:
        """End them."""
        self._provider.shutdown()
