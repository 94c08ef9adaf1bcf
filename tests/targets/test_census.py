from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.census import OtherEngagements, take_census
from conformance.targets.names import RunNames
from conformance.targets.queries import Listed, QueryClient, latest_items
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from conformance.wire.requests import Request

NAMES = RunNames("cf-abcdefg2-")
UNTOLD = {"id": None, "name": None, "memberCount": None, "engagementCount": None, "ownEngagements": None}


def test_an_organization_is_counted(service: Any) -> None:
    """Two reads return id, name, counts and own engagements."""
    service.engagements = {"e_1": "cf-abcdefg2-a", "e_2": "Audit", "e_3": "cf-abcdefg2-b"}

    census, _ = take_census(QueryClient(service.send), NAMES)

    assert census == {"id": "org_1", "name": "Acme", "memberCount": 2, "engagementCount": 3, "ownEngagements": 2}
    assert (len(service.requests), service.writes) == (2, [])


@pytest.mark.parametrize("status", [None, 401, 404, 500, 503])
def test_unknown_values_are_none(service: Any, status: int | None) -> None:
    """Without a response, or with a refusal, the census is empty without an error."""
    service.overrides = {"getCurrentOrganization": status, "listEngagements": status}

    assert take_census(QueryClient(service.send), NAMES)[0] == UNTOLD


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"data": []}',
        b'{"data": {"name": 7, "memberCount": "2"}}',
        b"[" * 500,
        b'{"data": {"memberCount": true}}',
    ],
)
def test_a_response_of_another_shape_is_none(body: bytes) -> None:
    """Absent values of any body are None."""
    census, _ = take_census(QueryClient(lambda request: make_exchange(request, 200, body)), NAMES)

    assert {name: value for name, value in census.items() if name != "ownEngagements"} == {
        name: None for name in UNTOLD if name != "ownEngagements"
    }


def test_a_run_that_is_over_has_an_empty_census() -> None:
    """After the end of the run the census is empty without an error."""

    def stopped(_request: Request) -> Exchange:
        raise NoResponse("the run is over")

    assert take_census(QueryClient(stopped), NAMES)[0] == UNTOLD


def test_engagements_of_others_that_are_gone_are_named(service: Any) -> None:
    """An engagement that is gone after the run is named."""
    service.engagements = {f"f_{number}": f"Audit {number}" for number in range(3)}
    queries = QueryClient(service.send)
    before = OtherEngagements.of(latest_items(queries))
    del service.engagements["f_1"]
    service.engagements["cf-abcdefg2-a"] = "cf-abcdefg2-a"

    assert before.missing(queries, latest_items(queries)) == ['f_1 "Audit 1"']


@pytest.mark.parametrize("operation", ["getEngagement", "listEngagements"])
def test_engagements_that_cannot_be_read_are_not_called_gone(service: Any, operation: str) -> None:
    """Only a read that returns 404 or 410 shows that an engagement is gone."""
    service.engagements = {"f_1": "Audit"}
    queries = QueryClient(service.send)
    before = OtherEngagements.of(latest_items(queries))
    service.engagements.clear()
    service.overrides[operation] = 500

    assert before.missing(queries, latest_items(queries)) == []


def test_engagements_that_a_list_leaves_out_are_not_gone(service: Any) -> None:
    """Newer engagements may have pushed an old one off the pages that are read."""
    service.engagements = {"f_1": "Audit"}
    queries = QueryClient(service.send)
    before = OtherEngagements.of(latest_items(queries))

    assert before.missing(queries, Listed((), complete=False, created=())) == []
