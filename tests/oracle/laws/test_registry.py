"""The registry of laws: its entries, and responses of a run that the rest of the run excuses."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from conformance.catalogue import load_catalogue
from conformance.interface.operations import OPERATIONS
from conformance.oracle.laws.rate_limits import RESET
from conformance.oracle.laws.registry import LAWS, Law
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange

ARCHIVED = {"data": {"id": "eng_1", "status": "archived", "updatedAt": "2026-01-02T03:04:05.006Z"}}


def archive(number: int, body: object = None) -> Exchange:
    """Return the response to an archive, a second after the one before."""
    made = make_exchange("archiveEngagement", body=ARCHIVED if body is None else body, number=number)
    request = replace(made.request, identifier="eng_1")
    return replace(made, request=request, started_at=made.started_at + timedelta(seconds=number))


@pytest.mark.parametrize("identifier", LAWS)
def test_an_entry(identifier: str) -> None:
    """An entry has a requirement, a description, and operations that the requirement concerns."""
    law = LAWS[identifier]

    assert re.match(r"Require .+\.", law.judge.__doc__ or "")
    assert set(law.operations) <= set(load_catalogue().requirements[identifier].operations) <= set(OPERATIONS)


def test_the_exchanges_that_a_law_concerns() -> None:
    """A law concerns its operations, or all; OPTIONS requests are for browsers."""
    listed, read = make_exchange("listMembers"), make_exchange("getEngagement")
    options = replace(read, request=read.request.as_probe("OPTIONS", read.request.path))
    every, some = Law(bool), Law(bool, ("listMembers",))

    assert [every.concerns(exchange) for exchange in (listed, read, options)] == [True, True, False]
    assert [some.concerns(exchange) for exchange in (listed, read, options)] == [True, False, False]


@pytest.mark.parametrize("identifier", ["archive-engagement-fields", "engagement-status-known"])
def test_the_response_to_a_change_without_effect_is_not_judged(identifier: str) -> None:
    """Archiving an archived engagement may return anything, and what it returns is no evidence."""
    law, wrong = LAWS[identifier], {"data": {"id": "eng_1", "status": "gone"}}

    judge = law.among([archive(1), archive(2)])
    assert [judge(archive(1)), judge(archive(2)), judge(archive(2, wrong))] == [True, False, False]
    with pytest.raises(NonConformity):
        judge(archive(1, wrong))


def test_an_open_response_need_not_repeat_the_request() -> None:
    """A second archive may show another status; if it shows the right status, that is evidence."""
    judge = LAWS["archive-sets-status"].among([archive(1), archive(2)])

    active = {"data": {"id": "eng_1", "status": "active"}}
    assert [judge(archive(1)), judge(archive(2)), judge(archive(2, active))] == [True, True, False]
    with pytest.raises(NonConformity):
        judge(archive(1, active))


def test_a_reset_before_the_clock_was_set_back_is_not_judged() -> None:
    """A window may have begun before the service's clock was set back."""
    earlier = make_exchange(headers=(("Date", "Sat, 03 Jan 2026 03:04:05 GMT"),), number=1)
    wrong = make_exchange(headers=((RESET, "7"), ("Date", "Fri, 02 Jan 2026 03:04:05 GMT")), number=2)
    law = LAWS["rate-limit-reset-is-time"]

    with pytest.raises(CantTell, match="the service's clock was set back during the run"):
        law.among([earlier, wrong])(wrong)
    with pytest.raises(NonConformity):
        law.among([wrong])(wrong)


def test_two_laws_of_one_requirement() -> None:
    """They apply if either does; each can be broken."""
    judge = LAWS["list-members-role-filter"].judge
    members = {"data": [{"id": "u", "role": "owner"}], "meta": {"total": 1, "page": 1, "perPage": 20, "totalPages": 1}}
    query = (("role", "owner"),)

    assert judge(make_exchange("listMembers", body=members, query=query)) is True
    assert judge(make_exchange("listMembers", body=members)) is False
    for wrong in ({**members, "data": [{"id": "u", "role": "admin"}]}, {**members, "data": []}):
        with pytest.raises(NonConformity):
            judge(make_exchange("listMembers", body=wrong, query=query))
