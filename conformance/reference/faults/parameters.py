"""Faults of query parameters: nonsense that is let through."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.call import Call
    from conformance.reference.faults import Fault


_LISTS = {"listEngagements": "list-engagements", "listMembers": "list-members"}


def _parameter(operation: str, name: str, is_right: Callable[[str], bool], label: str, says: str) -> Fault:
    """A list that ignores a parameter whose value is nonsense."""

    def read_parameters(self: Service, call: Call) -> dict[str, str]:
        given = Service.read_parameters(self, call)
        if call.operation.id == operation and not is_right(given.get(name, "")):
            return {key: value for key, value in given.items() if key != name}
        return given

    which = _LISTS[operation]
    title = f"The list of {which.partition('-')[2]} {says}."
    return made(f"{which}-{label}", title, f"{which}-refuses-invalid", read_parameters=read_parameters)


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]*", text) is not None


PARAMETERS = (
    _parameter("listEngagements", "page", _is_integer, "page-abc", "ignores a page that is no number"),
    _parameter("listEngagements", "perPage", _is_integer, "perpage-abc", "ignores a perPage that is no number"),
    _parameter(
        "listEngagements",
        "status",
        lambda text: text in {"", "active", "archived"},
        "status-nonsense",
        "ignores a status that is none",
    ),
    _parameter(
        "listEngagements",
        "sort",
        lambda text: text in {"", "createdAt", "updatedAt", "name"},
        "sort-nonsense",
        "ignores a sort that is none",
    ),
    _parameter(
        "listEngagements",
        "order",
        lambda text: text in {"", "asc", "desc"},
        "order-nonsense",
        "ignores an order that is none",
    ),
    _parameter("listMembers", "page", _is_integer, "page-abc", "ignores a page that is no number"),
    _parameter("listMembers", "perPage", _is_integer, "perpage-abc", "ignores a perPage that is no number"),
    _parameter(
        "listMembers",
        "role",
        lambda text: text in {"", "owner", "admin", "member"},
        "role-nonsense",
        "ignores a role that is none",
    ),
)


def _empty_list(operation: str, parameter: str) -> Fault:
    """A list that finds nothing for a filter that is nonsense."""

    def choice(self: Service, field: str, value: str, permitted: Any) -> str:  # noqa: ANN401 - as the parent's
        try:
            return Service.choice(self, field, value, permitted)
        except Refusal:
            if field == parameter:
                return value
            raise

    which = _LISTS[operation]
    title = f"The list of {which.partition('-')[2]} is empty for a {parameter} that is none."
    return made(f"{which}-empty-for-nonsense", title, f"{which}-refuses-invalid", choice=choice)


EMPTY = (_empty_list("listEngagements", "status"),)
