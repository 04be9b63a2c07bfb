"""The session fuzzer: ``python -m tests.fuzz``; see docs/fuzzing.md. It knows gc-core by its public API alone."""
