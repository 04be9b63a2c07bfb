"""Errors of the gateway itself."""

from __future__ import annotations

from gc_core.errors import GCError


class GatewayError(GCError):
    """The gateway cannot start, or cannot take a request; names what is wrong."""


class RequestError(GatewayError):
    """
    A request that the gateway refuses.

    Attributes:
        status: The HTTP status.
        field: The field of the body that is wrong, where it is one.

    """

    def __init__(self, status: int, text: str, field: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.field = field
