"""The requirements that the OpenAPI document can show broken, and the responses that each is about."""

from __future__ import annotations

from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle.laws.errors import ERROR_CODES
from conformance.oracle.laws.responses import STATED
from conformance.oracle.laws.shapes import PROMISES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.wire.exchange import Exchange

    Belongs = Callable[[Exchange], bool]

_LISTS: Final = {"listMembers": "list-members", "listEngagements": "list-engagements"}


def _of(*operations: str) -> Belongs:
    """Return the predicate of successes of some operations."""
    return lambda exchange: exchange.operation_id in operations and exchange.accepted


def _about(kind: str) -> Belongs:
    """Return the predicate of successes whose data is a list, or a single resource."""
    return lambda exchange: exchange.request.operation.response == kind and exchange.accepted


def _with_status(status: int) -> Belongs:
    return lambda exchange: exchange.received is not None and exchange.received.status == status


def _every(_: Exchange) -> bool:
    return True


RULES: Final[Mapping[str, Belongs]] = MappingProxyType(
    {
        **{promise: _of(operation) for operation, promise in PROMISES.items()},
        **{rule: _of(operation) for operation, rule in STATED.items()},
        "no-redirect": _every,
        "success-data-object": _about("resource"),
        "list-data-array": _about("list"),
        "list-meta-object": _about("list"),
        "list-meta-fields": _about("list"),
        "list-paging-limits-truthful": _about("list"),
        **{f"{name}-total": _of(operation) for operation, name in _LISTS.items()},
        **{f"{name}-total-pages": _of(operation) for operation, name in _LISTS.items()},
        "timestamp-format": attrgetter("accepted"),
        "member-roles-known": _of("listMembers"),
        "engagement-status-known": _of("listEngagements", "createEngagement", "getEngagement", "archiveEngagement"),
        "update-role-answers-what-was-sent": _of("updateMemberRole"),
        "invite-answers-what-was-sent": _of("inviteMember"),
        "remove-member-answers-true": _of("removeMember"),
        "delete-engagement-answers-true": _of("deleteEngagement"),
        "error-envelope": attrgetter("refused"),
        "error-status-code-agrees": attrgetter("refused"),
        **{f"error-code-{status}": _with_status(status) for status in ERROR_CODES},
        "rate-limit-headers-present": _every,
        "rate-limit-limit-positive": _every,
        "rate-limit-remaining-in-range": _every,
        "rate-limit-reset-is-time": _every,
    }
)
"""The requirements that the document can show broken, each with its responses."""


def rule_of_meta(operation: str, place: Sequence[Any], keyword: str) -> str:
    """Return the requirement that states the value at a place in the ``meta`` of a list.

    Args:
        operation: The operationId.
        place: The names from the body to the place.
        keyword: The JSON Schema keyword that is broken there.
    """
    if len(place) == 1:
        return "list-meta-object"
    if keyword in {"type", "required"}:
        return "list-meta-fields"
    totals = {"total": f"{_LISTS[operation]}-total", "totalPages": f"{_LISTS[operation]}-total-pages"}
    return totals.get(str(place[1]), "list-paging-limits-truthful")
