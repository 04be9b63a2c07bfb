"""What a host adds around its loop: tools for the model, a tool worker, a memory tool, telemetry."""
