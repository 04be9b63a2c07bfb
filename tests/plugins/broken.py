"""A plugin that cannot be loaded: it misses what it needs."""

import there_is_no_such_module  # noqa: F401  # pragma: no cover
