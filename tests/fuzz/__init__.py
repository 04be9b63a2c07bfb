"""The session fuzzer: ``python -m tests.fuzz``; see docs/how-to/fuzz.md. It knows gc-core by its public API alone."""
