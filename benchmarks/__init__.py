"""Measurements of gc-core: ``python -m benchmarks`` runs them all and prints a table each."""
