"""Additions to a host's loop: tools for the model, a tool worker, a memory tool, telemetry."""
