"""Faults of what lists make of page and perPage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext

    Given = dict[str, str]
    Values = dict[str, Any]

_DEFAULT = 20
_CAP = 50
_LISTS = ("list-engagements", "list-members")
_CHECKS = {"list-engagements": "check_engagement_list", "list-members": "check_member_list"}
_WORDS = {"list-engagements": "engagements", "list-members": "members"}


def _asked(which: str, label: str, says: str, change: Callable[[Given, Values], Values], *breaks: str) -> Fault:
    """A list that makes something else of page and perPage; ``change`` is given the parameters and what they say."""
    honest = getattr(Service, _CHECKS[which])

    def check(self: Service, context: RequestContext) -> Values:
        values: Values = honest(self, context)
        return change(dict(context.request.query_params), values)

    return made(f"{which}-{label}", f"The list of {_WORDS[which]} {says}.", *breaks, **{_CHECKS[which]: check})


def _per_page(number: int, *, where: Callable[[Given, int], bool]) -> Callable[[Given, Values], Values]:
    return lambda given, honest: {**honest, "perPage": number} if where(given, honest["perPage"]) else honest


PARAMETERS = tuple(
    fault
    for which in _LISTS
    for fault in (
        _asked(
            which,
            "perpage-ignored",
            "ignores perPage",
            _per_page(_DEFAULT, where=lambda _, size: size < _DEFAULT),
            f"{which}-paging-honoured",
        ),
        _asked(
            which,
            "perpage-capped",
            "has at most 50 a page",
            _per_page(_CAP, where=lambda _, size: size > _CAP),
            f"{which}-paging-honoured",
        ),
        _asked(
            which, "page-ignored", "ignores page", lambda _, honest: {**honest, "page": 1}, f"{which}-paging-honoured"
        ),
        _asked(
            which,
            "default-10",
            "has 10 a page by default",
            _per_page(10, where=lambda given, _: "perPage" not in given),
            f"{which}-defaults",
        ),
        _asked(
            which,
            "default-25",
            "has 25 a page by default",
            _per_page(25, where=lambda given, _: "perPage" not in given),
            f"{which}-defaults",
        ),
        _asked(
            which,
            "default-page-2",
            "begins with page 2 by default",
            lambda given, honest: honest if "page" in given else {**honest, "page": 2},
            f"{which}-defaults",
        ),
    )
)
