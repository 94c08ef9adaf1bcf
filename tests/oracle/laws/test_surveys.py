"""Surveys: the results of a law over many responses, and the one failure for all offenders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.oracle.laws.survey import Survey, conclude, survey
from conformance.oracle.outcomes import CantTell, Evidence, Inapplicable, NonConformity
from conformance.wire.exchange import Exchange
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import described


def law(exchange: Exchange) -> bool:
    """Hold for 200, not apply to 204, be undecided for 409, and fail for other statuses."""
    status = exchange.status
    if status == 409:
        raise CantTell(f"response {exchange.number} is open", exchange)
    if status not in {200, 204}:
        raise NonConformity("it is odd", exchange, expected="even", actual=f"a {status}", pointer="/data")
    return status == 200


def responses(*statuses: int | None, operation: str = "getEngagement") -> list[Exchange]:
    """Return responses numbered from 1 on."""
    return [make_exchange(operation, status, {}, number=number) for number, status in enumerate(statuses, 1)]


def fault_of(found: Survey) -> NonConformity:
    """Return the failure of a survey."""
    with pytest.raises(NonConformity) as raised:
        conclude(found)
    return raised.value


def test_the_results_of_a_law() -> None:
    """Responses are kept, broken or unclear; those that the law does not apply to are in none."""
    made = responses(200, 204, 500, 409, 200, 404)
    found = survey(law, iter(made))

    assert found.kept == [made[0], made[4]]
    assert [(exchange, fault.actual) for exchange, fault in found.broken] == [(made[2], "a 500"), (made[5], "a 404")]
    assert [doubt.exchanges for doubt in found.unclear] == [(made[3],)]


@pytest.mark.parametrize(
    ("statuses", "applied"), [((), False), ((204,), False), ((204, 200), True), ((500,), True), ((409,), True)]
)
def test_whether_there_was_anything_to_judge(statuses: tuple[int, ...], *, applied: bool) -> None:
    """One response that the law applies to is enough."""
    assert survey(law, responses(*statuses)).applied is applied


def test_responses_that_are_not_judged() -> None:
    """Missing and gateway responses are skipped; those after them are judged."""
    beside = make_exchange(status=500, body={})
    beside = replace(beside, request=replace(beside.request, unjudged=True))
    last = make_exchange(status=500, body={}, number=9)

    found = survey(law, [*responses(None, 502, 503, 504), beside, last])
    assert [exchange for exchange, _ in found.broken] == [last]
    assert not found.kept


def test_a_429_before_a_retry_is_judged() -> None:
    """It is cited as received."""
    (made,) = responses(429)

    found = survey(law, [made])
    assert [exchange for exchange, _ in found.broken] == [made]
    assert not found.broken[0][0].request.expects_429


def test_a_law_that_held() -> None:
    """Responses are evidence, up to a limit."""
    made = responses(*[200] * 30)

    with Evidence() as evidence:
        conclude(survey(law, made))
    assert evidence.exchanges == made[:25]


@pytest.mark.parametrize("statuses", [(), (204, 204), (None,)])
def test_a_law_that_applied_to_no_response(statuses: tuple[int | None, ...]) -> None:
    """The message says what was missing."""
    with pytest.raises(Inapplicable, match=r"^no response of the run was of this kind$"):
        conclude(survey(law, responses(*statuses)))
    with pytest.raises(Inapplicable, match=r"^there was none$"):
        conclude(survey(law, responses(*statuses)), nothing="there was none")


def test_a_law_with_an_undecided_response() -> None:
    """The first reason is raised with its exchanges, although the law held elsewhere."""
    made = responses(200, 409, 409)

    with pytest.raises(CantTell, match=r"^response 2 is open$") as raised:
        conclude(survey(law, made))
    assert raised.value.exchanges == (made[1],)


def test_one_offender() -> None:
    """The failure counts it among the responses that were judged, whatever else is undecided."""
    made = responses(200, 409, 500)
    fault = fault_of(survey(law, made))

    assert described(fault) == ("it is odd (1 of 2 responses: getEngagement 1)", "even", "a 500", "/data")
    assert fault.exchanges == (made[2],)


def test_many_offenders() -> None:
    """They are counted by operation, the most frequent first; five are cited, and the first failure is shown."""
    made = responses(500, 200, 200) + responses(*[500] * 6, operation="listMembers")
    fault = fault_of(survey(law, made))

    message = "it is odd (7 of 9 responses: listMembers 6, getEngagement 1)"
    assert described(fault) == (message, "even", "a 500", "/data")
    assert fault.exchanges == (made[0], *made[3:7])


@pytest.mark.parametrize(
    ("statuses", "actual"),
    [
        ((500, 500), "a 500"),
        ((500, 404, 404), "a 500; elsewhere a 404"),
        ((404, 500, 400, 404), "a 404; elsewhere a 500; a 400"),
        ((404, 500, 400, 403), "a 404; elsewhere a 500; a 400; and 1 more"),
        ((404, 500, 400, 403, 401, 500), "a 404; elsewhere a 500; a 400; and 2 more"),
    ],
)
def test_offenders_of_several_kinds(statuses: tuple[int, ...], actual: str) -> None:
    """Two other kinds are shown, and more are counted."""
    assert fault_of(survey(law, responses(*statuses))).actual == actual
