"""Loggers: structlog in front, the standard library's logging behind, so that the application decides what is shown."""

from __future__ import annotations

import logging
from typing import cast

import structlog


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger that is silent below WARNING unless the application configures ``logging`` otherwise."""
    wrapped = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[structlog.stdlib.filter_by_level, structlog.processors.LogfmtRenderer(key_order=["event"])],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return cast("structlog.stdlib.BoundLogger", wrapped)
