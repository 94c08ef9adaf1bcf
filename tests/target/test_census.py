from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.target.census import take_census
from conformance.target.names import RunNames
from conformance.wire.exchange import Exchange, Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.call import Call

NAMES = RunNames("cf-abcdefgh-")
UNTOLD = {"id": None, "name": None, "memberCount": None, "engagementCount": None, "ownEngagements": None}


def test_an_organization_is_counted(service: Any) -> None:
    """Id, name, counts and own engagements are told in two requests, all of them reads."""
    service.engagements = {"e_1": "cf-abcdefgh-a", "e_2": "Audit", "e_3": "cf-abcdefgh-b"}

    census = take_census(service.send, NAMES)

    assert census == {"id": "org_1", "name": "Acme", "memberCount": 2, "engagementCount": 3, "ownEngagements": 2}
    assert (len(service.calls), service.writes) == (2, [])


@pytest.mark.parametrize("status", [None, 401, 404, 500, 503])
def test_what_cannot_be_told_is_none(service: Any, status: int | None) -> None:
    """Without an answer, or with a refusal, the census is empty and no error."""
    service.overrides = {"getCurrentOrganization": status, "listEngagements": status}

    assert take_census(service.send, NAMES) == UNTOLD


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
def test_an_answer_of_another_shape_is_none(make_exchange: Callable[..., Exchange], body: bytes) -> None:
    """Whatever the body is, what it does not say is None."""
    census = take_census(lambda call: make_exchange(call, 200, body), NAMES)

    assert {name: value for name, value in census.items() if name != "ownEngagements"} == {
        name: None for name in UNTOLD if name != "ownEngagements"
    }


def test_a_run_that_is_over_is_counted_as_untold() -> None:
    """Where sending is over there is no census and no error."""

    def stopped(_call: Call) -> Exchange:
        raise Unanswered("the run is over")

    assert take_census(stopped, NAMES) == UNTOLD
