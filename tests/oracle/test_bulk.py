"""Assertions over several responses: one failure names every wrong one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle import bulk
from conformance.oracle.bulk import Sent
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange, page
from tests.oracle.failures import described

ENGAGEMENT = {
    "id": "eng_1",
    "name": "n",
    "description": "d",
    "status": "active",
    "createdAt": "2026-01-02T03:04:05.006Z",
    "updatedAt": "2026-01-02T03:04:06.007Z",
}


def sent(status: int | None, number: int = 1, *, label: str = "") -> Sent:
    """Return a creation with this status, or without a response."""
    return Sent(f"body {number}", make_exchange("createEngagement", status, {}, number=number), label)


def expects_429(request: Sent) -> Sent:
    """Return the same request, sent to meet the rate limit."""
    return replace(
        request, exchange=replace(request.exchange, request=replace(request.exchange.request, expects_429=True))
    )


def read_of(engagement: object, number: int) -> Exchange:
    """Return a read of ``eng_1``."""
    return make_exchange("getEngagement", 200, {"data": engagement}, number=number)


# --- statuses


def test_a_request_is_described_by_operation_and_input() -> None:
    """Label and kind of a request are empty by default."""
    request = Sent("an empty name", make_exchange("createEngagement"))

    assert request.summary == "createEngagement with an empty name"
    assert (request.label, request.kind) == ("", "")


@pytest.mark.parametrize("statuses", [(), (200,), (200, 201, 299)])
def test_permitted_statuses(statuses: tuple[int, ...]) -> None:
    """Every judged exchange is evidence."""
    batch = [sent(status, number) for number, status in enumerate(statuses)]

    with Evidence() as evidence:
        bulk.every_status(iter(batch), lambda status: status < 300, "any 2xx")
    assert evidence.exchanges == [request.exchange for request in batch]


def test_wrong_statuses_are_reported_together() -> None:
    """Every wrong request is named and cited; each status occurs once, in order."""
    batch = [sent(500, 1), sent(200, 2), sent(404, 3), sent(500, 4)]

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        bulk.every_status(iter(batch), lambda status: status == 200, "exactly 200")
    message = (
        "createEngagement with body 1 returned 500; createEngagement with body 3 returned 404; "
        "createEngagement with body 4 returned 500 (3 of 4 responses)"
    )
    assert described(raised.value) == (message, "exactly 200", "404, 500", None)
    assert [exchange.number for exchange in raised.value.exchanges] == [1, 3, 4]
    assert [exchange.number for exchange in evidence.exchanges] == [1, 2, 3, 4]


def test_a_sentence_occurs_once() -> None:
    """Requests that differ in nothing that the message shows have one sentence; all are counted and cited."""
    with pytest.raises(NonConformity) as raised:
        bulk.every_status([sent(500), sent(200, 2), sent(500)], lambda status: status == 200, "exactly 200")

    message = "createEngagement with body 1 returned 500 (2 of 3 responses)"
    assert described(raised.value) == (message, "exactly 200", "500", None)
    assert len(raised.value.exchanges) == 2


@pytest.mark.parametrize(("count", "more"), [(6, ""), (7, "; and 1 more"), (9, "; and 3 more")])
def test_many_wrong_statuses_are_counted(count: int, more: str) -> None:
    """The message names six requests and counts the rest; all are cited."""
    with pytest.raises(NonConformity) as raised:
        bulk.every_status([sent(500, number) for number in range(count)], lambda _: False, "none")
    assert raised.value.message.count("returned 500") == 6
    assert raised.value.message.endswith("createEngagement with body 5 returned 500" + more)
    assert len(raised.value.exchanges) == count


@pytest.mark.parametrize("lost", [None, 502, 503, 504, 429])
def test_missing_responses_are_skipped_if_another_is_wrong(lost: int | None) -> None:
    """A request without a response is neither named nor cited nor evidence."""
    for batch in ([sent(lost, 1), sent(500, 2)], [sent(500, 2), sent(lost, 1)]):
        with Evidence() as evidence, pytest.raises(NonConformity) as raised:
            bulk.every_status(batch, lambda status: status == 200, "200")
        assert raised.value.message == "createEngagement with body 2 returned 500"
        assert [exchange.number for exchange in raised.value.exchanges] == [2]
        assert [exchange.number for exchange in evidence.exchanges] == [2]


def test_a_missing_response_is_raised_if_none_is_wrong() -> None:
    """The first missing response is raised."""
    with pytest.raises(NoResponse) as raised:
        bulk.every_status([sent(200, 1), sent(None, 2), sent(503, 3)], lambda status: status == 200, "200")
    assert [exchange.number for exchange in raised.value.exchanges] == [2]


@pytest.mark.parametrize("status", [400, 422])
def test_invalid_requests_that_are_refused(status: int) -> None:
    """Both 400 and 422 are permitted."""
    bulk.every_invalid_refused([sent(status), sent(422)])


@pytest.mark.parametrize("status", [200, 201, 401, 403, 404, 409, 413, 415, 421, 423, 500])
def test_invalid_requests_with_another_status(status: int) -> None:
    """No other status refuses an invalid request."""
    with pytest.raises(NonConformity) as raised:
        bulk.every_invalid_refused([sent(400, 1), sent(status, 2)])
    message = f"createEngagement with body 2 returned {status} (1 of 2 responses)"
    assert described(raised.value) == (message, "400 or 422", str(status), None)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(399, False), (400, True), (422, True), (499, True), (500, False), (200, False), (503, False), (None, False)],
)
def test_a_refusal_is_a_4xx(status: int | None, *, expected: bool) -> None:
    """A request without a response was not refused."""
    assert bulk.refused(sent(status)) is expected


def test_a_429_is_a_refusal() -> None:
    """A rate-limited request had no effect either."""
    assert bulk.refused(expects_429(sent(429)))


# --- state after refused requests


def fails() -> None:
    """Raise a failure."""
    raise NonConformity("it is odd", expected="even", actual="odd")


@pytest.mark.parametrize("statuses", [(), (400,), (404, 499)])
def test_a_failure_after_refusals_is_a_failure(statuses: tuple[int, ...]) -> None:
    """The failure is raised unchanged."""
    with pytest.raises(NonConformity) as raised:
        bulk.only_if_refused([sent(status) for status in statuses], fails)
    assert described(raised.value) == ("it is odd", "even", "odd", None)


@pytest.mark.parametrize("status", [200, 204, 302, 399, 500])
def test_a_failure_is_undecided_if_a_request_was_not_refused(status: int) -> None:
    """An accepted request may have made the change; it is named, and all accepted requests are cited."""
    with pytest.raises(CantTell) as raised:
        bulk.only_if_refused([sent(400, 1), sent(status, 2), sent(404, 3), sent(201, 4)], fails)
    assert raised.value.message == "it is odd, but createEngagement with body 2 was not refused"
    assert [exchange.number for exchange in raised.value.exchanges] == [2, 4]


def test_a_failure_is_undecided_if_a_response_is_missing() -> None:
    """The effect of a request without a response is unknown."""
    with pytest.raises(NoResponse):
        bulk.only_if_refused([sent(400), sent(None)], fails)


@pytest.mark.parametrize("status", [200, 400, None])
def test_requests_do_not_matter_without_a_failure(status: int | None) -> None:
    """If the judgement passes or is undecided itself, the requests make no difference."""

    def open_() -> None:
        raise CantTell("open")

    bulk.only_if_refused([sent(status)], lambda: None)
    with pytest.raises(CantTell, match=r"^open$"):
        bulk.only_if_refused([sent(status)], open_)


def untouched(after: Exchange, *statuses: int) -> None:
    """Judge what refused requests left of an engagement."""
    batch = [sent(status, number) for number, status in enumerate(statuses, 2)]
    bulk.engagement_untouched(read_of(ENGAGEMENT, 1), after, batch)


@pytest.mark.parametrize("more", [{}, {"extra": 1}, {"id": "other"}])
def test_an_unchanged_engagement(more: dict[str, object]) -> None:
    """Unknown members may differ; every compared exchange is evidence."""
    with Evidence() as evidence:
        untouched(read_of(ENGAGEMENT | more, 9), 400, 404)
    assert [exchange.number for exchange in evidence.exchanges] == [1, 2, 3, 9]
    untouched(read_of(ENGAGEMENT, 9), 200)


@pytest.mark.parametrize("name", ["name", "description", "status", "createdAt", "updatedAt"])
def test_an_engagement_that_a_refused_request_has_changed(name: str) -> None:
    """Every field must be unchanged; the reads and the requests between them are cited."""
    after = read_of(ENGAGEMENT | {name: "other"}, 9)

    with pytest.raises(NonConformity) as raised:
        untouched(after, 400, 404)
    message = f"{name} of the engagement has changed"
    assert described(raised.value) == (message, f'"{ENGAGEMENT[name]}"', '"other"', f"/data/{name}")
    assert [exchange.number for exchange in raised.value.exchanges] == [1, 2, 3, 9]
    with pytest.raises(CantTell, match="was not refused"):
        untouched(after, 400, 200)


def test_an_engagement_that_no_longer_exists() -> None:
    """A refused request must not delete it either."""
    after = make_exchange("getEngagement", 404, {}, number=9)

    with pytest.raises(NonConformity) as raised:
        untouched(after, 400, 404)
    assert described(raised.value) == ("the engagement no longer exists", "the engagement as before", "404", None)
    assert [exchange.number for exchange in raised.value.exchanges] == [1, 2, 3, 9]
    with pytest.raises(
        CantTell, match="the engagement no longer exists, but createEngagement with body 2 was not refused"
    ):
        untouched(after, 204)


@pytest.mark.parametrize("status", [403, 500])
def test_an_unreadable_engagement_is_undecided(status: int) -> None:
    """Either read may be unreadable."""
    failed = make_exchange("getEngagement", status, {}, number=9)

    with pytest.raises(CantTell, match=f"getEngagement returned {status}"):
        untouched(failed, 400)
    with pytest.raises(CantTell, match=f"getEngagement returned {status}"):
        bulk.engagement_untouched(failed, read_of(ENGAGEMENT, 1), [sent(400)])
    with pytest.raises(NoResponse):
        untouched(make_exchange("getEngagement", None), 400)


# --- lists after refused creations


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"name": "xlabely"}, True),
        ({"description": "label"}, True),
        ({"name": None, "description": "a label"}, True),
        ({"name": "Label", "description": "lab el"}, False),
        ({"id": "label", "status": "label"}, False),
        ({"name": 7, "description": ["label"]}, False),
        ({}, False),
    ],
)
def test_an_engagement_carries_a_label(item: dict[str, Any], *, expected: bool) -> None:
    """A label counts in the name or the description only."""
    assert bulk.carries(item, "label") is expected


@pytest.mark.parametrize(
    "creation",
    [
        sent(400, label="absent"),
        sent(201, label="one"),
        sent(400),
        sent(None, label="one"),
        sent(503, label="one"),
    ],
    ids=["not-listed", "accepted", "no-label", "lost", "gateway"],
)
def test_refused_creations_without_an_engagement(creation: Sent) -> None:
    """Only refused creations with a label are judged."""
    listed = [page([{"name": "with one"}, {"description": "two"}]), page([])]

    with Evidence() as evidence:
        bulk.none_created([creation], listed)
    assert evidence.exchanges == listed


def test_refused_creations_that_are_listed() -> None:
    """One failure names all of them and cites them with every page of the list."""
    listed = [page([{"name": "x"}], number=10), page([{"name": "of two"}, {"description": "of four"}], number=11)]
    batch = [sent(400, 1, label="one"), sent(400, 2, label="two"), sent(201, 3, label="x"), sent(409, 4, label="four")]
    made: Callable[[int], str] = "createEngagement with body {} was refused, but its engagement is in the list".format

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        bulk.none_created(iter(batch), listed)
    expected = "no engagement of a refused creation"
    assert described(raised.value) == (f"{made(2)}; {made(4)}", expected, "2 in the list", None)
    assert [exchange.number for exchange in raised.value.exchanges] == [2, 4, 10, 11]
    assert evidence.exchanges == listed


def test_an_unreadable_list_of_creations_is_undecided() -> None:
    """A refused or missing page may hold the engagements."""
    with pytest.raises(CantTell):
        bulk.none_created([sent(400, label="one")], [page([]), make_exchange("listEngagements", 403, {})])
    with pytest.raises(NoResponse):
        bulk.none_created([sent(400, label="one")], [make_exchange("listEngagements", None)])
