"""Joins a session's options and a host's own arguments to the arguments of a provider's client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gc_core.errors import MessageError
from gc_core.values.validators import check_kind

HEADERS: Final = "extra_headers"
BODY: Final = "extra_body"
EDITS: Final = "context_management"
"""The arguments in which clients take headers, fields of the body, and edits of the window."""


def joined(options: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return both; headers and fields of the body are joined, and the host's value wins where both set one."""
    if not options or not own:
        return {**options, **own}
    both = {**options, **own}
    for field in (HEADERS, BODY):
        if field in both:
            check_kind(field, own.get(field, {}), Mapping, "an object, as your client takes it", error=MessageError)
            both[field] = {**options.get(field, {}), **own.get(field, {})}
    return {name: value for name, value in both.items() if value or name not in {HEADERS, BODY}}


def edit_kind(edit: Mapping[str, Any]) -> str:
    """Return the type of an edit without its date."""
    return str(edit.get("type")).rstrip("0123456789").rstrip("_")


def not_set_by_host(
    edits: Iterable[Mapping[str, Any]], hosts: Iterable[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """Return the edits of kinds that the host did not set: each kind is requested once."""
    kinds = {edit_kind(edit) for edit in hosts}
    return (edit for edit in edits if edit_kind(edit) not in kinds)
