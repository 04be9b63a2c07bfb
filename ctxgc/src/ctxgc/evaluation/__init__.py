"""Recorded sessions, replayed and judged."""
