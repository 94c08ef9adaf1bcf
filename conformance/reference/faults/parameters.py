"""Faults of query parameters: nonsense that is let through."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext


_LISTS = {"listEngagements": "list-engagements", "listMembers": "list-members"}


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]*", text) is not None


_RIGHT: dict[str, Callable[[str], bool]] = {
    "page": _is_integer,
    "perPage": _is_integer,
    "status": {"", "active", "archived"}.__contains__,
    "sort": {"", "createdAt", "updatedAt", "name"}.__contains__,
    "order": {"", "asc", "desc"}.__contains__,
    "role": {"", "owner", "admin", "member"}.__contains__,
}
"""What each parameter may be; an empty one is as good as none."""


def _parameter(operation: str, name: str, label: str, says: str) -> Fault:
    """A list that ignores a parameter whose value is nonsense."""

    def read_parameters(self: Service, context: RequestContext) -> dict[str, str]:
        given = Service.read_parameters(self, context)
        if context.operation.id == operation and not _RIGHT[name](given.get(name, "")):
            return {key: value for key, value in given.items() if key != name}
        return given

    which = _LISTS[operation]
    title = f"The list of {which.partition('-')[2]} {says}."
    return made(f"{which}-{label}", title, f"{which}-refuses-invalid", read_parameters=read_parameters)


def _anything(operation: str) -> Fault:
    """A list that ignores every parameter whose value is nonsense."""

    def read_parameters(self: Service, context: RequestContext) -> dict[str, str]:
        given = Service.read_parameters(self, context)
        if context.operation.id != operation:
            return given
        return {name: value for name, value in given.items() if _RIGHT.get(name, str)(value)}

    which = _LISTS[operation]
    title = f"The list of {which.partition('-')[2]} ignores every parameter that makes no sense."
    return made(f"{which}-takes-anything", title, f"{which}-refuses-invalid", read_parameters=read_parameters)


PARAMETERS = (
    *map(_anything, _LISTS),
    _parameter("listEngagements", "page", "page-abc", "ignores a page that is no number"),
    _parameter("listEngagements", "perPage", "perpage-abc", "ignores a perPage that is no number"),
    _parameter("listEngagements", "status", "status-nonsense", "ignores a status that is none"),
    _parameter("listEngagements", "sort", "sort-nonsense", "ignores a sort that is none"),
    _parameter("listEngagements", "order", "order-nonsense", "ignores an order that is none"),
    _parameter("listMembers", "page", "page-abc", "ignores a page that is no number"),
    _parameter("listMembers", "perPage", "perpage-abc", "ignores a perPage that is no number"),
    _parameter("listMembers", "role", "role-nonsense", "ignores a role that is none"),
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
