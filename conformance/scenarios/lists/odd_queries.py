"""Scenario of list requests whose parameters are out of bounds, odd or unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.lists.seeded_engagements import seeded_engagements
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

Responses = dict[str, "Exchange"]

_FAR: Final = 100_000
"""A page that no organization reaches."""

_PLAIN: Final[Mapping[str, Request]] = {"engagements": requests.list_engagements(), "members": requests.list_members()}
_OUT_OF_BOUNDS: Final[Mapping[str, Request]] = {
    "page-zero": requests.list_engagements(page=0),
    "page-negative": requests.list_engagements(page=-1),
    "per-page-zero": requests.list_engagements(perPage=0),
    "per-page-negative": requests.list_engagements(perPage=-1),
    "per-page-above-maximum": requests.list_engagements(perPage=101),
    "members-per-page-above-maximum": requests.list_members(perPage=101),
    "members-all-zero": requests.list_members(page=0, perPage=0, unheard_of="x"),
}
_FURTHER_OUT_OF_BOUNDS: Final[Mapping[str, Request]] = {
    "members-per-page-zero": requests.list_members(perPage=0),
    "members-page-zero": requests.list_members(page=0),
    "per-page-huge": requests.list_engagements(perPage=1000),
    "members-page-negative": requests.list_members(page=-1),
    "members-per-page-negative": requests.list_members(perPage=-1),
    "members-per-page-huge": requests.list_members(perPage=1000),
}
_PAST_THE_END: Final[Mapping[str, Request]] = {
    "page-past-the-end": requests.list_engagements(page=_FAR),
    "members": requests.list_members(page=_FAR),
}
_ODD: Final[Mapping[str, Request]] = {
    "page-empty": requests.list_engagements(page=""),
    "page-leading-zero": requests.list_engagements(page="01", perPage=1),
    "page-decimal": requests.list_engagements(page="1.0", perPage=1),
    "cursor": requests.list_engagements(cursor="x", perPage=1),
    "unknown-parameter": requests.list_engagements(unheard_of="x", perPage=1),
    "repeated-parameter": replace(requests.list_engagements(), query=(("perPage", "1"), ("perPage", "2"))),
    "status-empty": requests.list_engagements(status="", perPage=1),
    "sort-status": requests.list_engagements(sort="status", perPage=1),
    "order-capitals": requests.list_engagements(sort="createdAt", order="DESC", perPage=5),
    "role-capital": requests.list_members(role="Admin"),
}


@dataclass(frozen=True, slots=True)
class ListQueries:
    """The responses of both lists, by the name of the parameters.

    Attributes:
        plain: The lists without any parameter.
        out_of_bounds: A page or perPage below 1, or a perPage above 100.
        past_the_end: A page that does not exist.
        odd: Parameters that the interface does not describe.
    """

    plain: Responses
    out_of_bounds: Responses
    past_the_end: Responses
    odd: Responses


@scenario
def list_queries(run: Run) -> ListQueries:
    """Request both lists with every parameter that the interface leaves open, after more than 20 engagements exist."""
    run.scenarios.wait_for(seeded_engagements)
    bounds = {**_OUT_OF_BOUNDS, **({} if run.effort is Effort.QUICK else _FURTHER_OUT_OF_BOUNDS)}
    # A page past the end is compared with the plain list, so few requests should lie between them.
    groups = {"plain": _PLAIN, "past_the_end": _PAST_THE_END, "out_of_bounds": bounds, "odd": _ODD}
    responses = iter(run.send_all([asked for group in groups.values() for asked in group.values()]))
    return ListQueries(
        **{name: {parameters: next(responses) for parameters in group} for name, group in groups.items()}
    )
