"""Several answers judged at once: those that are wrong are told together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.oracle import bulk
from conformance.oracle.bulk import Sent
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.wire.exchange import Exchange, NoResponse
from tests.conftest import make_exchange
from tests.oracle.pages import page, told

ENGAGEMENT = {
    "id": "eng_1",
    "name": "n",
    "description": "d",
    "status": "active",
    "createdAt": "2026-01-02T03:04:05.006Z",
    "updatedAt": "2026-01-02T03:04:06.007Z",
}


def sent(status: int | None, number: int = 1, *, label: str = "") -> Sent:
    """A creation that was answered so, or not at all."""
    return Sent(f"body {number}", make_exchange("createEngagement", status, {}, number=number), label)


def expects_429(request: Sent) -> Sent:
    """The same, sent to meet the rate limit."""
    return replace(
        request, exchange=replace(request.exchange, request=replace(request.exchange.request, expects_429=True))
    )


def read_of(engagement: object, number: int) -> Exchange:
    """A read of ``eng_1``."""
    return make_exchange("getEngagement", 200, {"data": engagement}, number=number)


# --- statuses


def test_a_request_is_told_by_its_operation_and_what_was_sent() -> None:
    """A request of a batch has no label and no kind unless it is given one."""
    request = Sent("an empty name", make_exchange("createEngagement"))

    assert request.told == "createEngagement with an empty name"
    assert (request.label, request.kind) == ("", "")


@pytest.mark.parametrize("statuses", [(), (200,), (200, 201, 299)])
def test_permitted_statuses(statuses: tuple[int, ...]) -> None:
    """All that were judged are evidence."""
    batch = [sent(status, number) for number, status in enumerate(statuses)]

    with Evidence() as evidence:
        bulk.every_status(iter(batch), lambda status: status < 300, "any 2xx")
    assert evidence.exchanges == [request.exchange for request in batch]


def test_wrong_statuses_are_told_together() -> None:
    """Each is named with what was sent and cited; the statuses are told once each, in order."""
    batch = [sent(500, 1), sent(200, 2), sent(404, 3), sent(500, 4)]

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        bulk.every_status(iter(batch), lambda status: status == 200, "exactly 200")
    message = (
        "createEngagement with body 1 returned 500; createEngagement with body 3 returned 404; "
        "createEngagement with body 4 returned 500"
    )
    assert told(raised.value) == (message, "exactly 200", "404, 500", None)
    assert [exchange.number for exchange in raised.value.exchanges] == [1, 3, 4]
    assert [exchange.number for exchange in evidence.exchanges] == [1, 2, 3, 4]


@pytest.mark.parametrize(("count", "more"), [(6, ""), (7, "; and 1 more"), (9, "; and 3 more")])
def test_many_wrong_statuses_are_counted(count: int, more: str) -> None:
    """Six are told in words; all are cited."""
    with pytest.raises(NonConformity) as raised:
        bulk.every_status([sent(500, number) for number in range(count)], lambda _: False, "none")
    assert raised.value.message.count("returned 500") == 6
    assert raised.value.message.endswith("createEngagement with body 5 returned 500" + more)
    assert len(raised.value.exchanges) == count


@pytest.mark.parametrize("lost", [None, 502, 503, 504, 429])
def test_what_has_no_response_is_passed_over_where_another_is_wrong(lost: int | None) -> None:
    """Before it and after it; it is neither named nor cited nor evidence."""
    for batch in ([sent(lost, 1), sent(500, 2)], [sent(500, 2), sent(lost, 1)]):
        with Evidence() as evidence, pytest.raises(NonConformity) as raised:
            bulk.every_status(batch, lambda status: status == 200, "200")
        assert raised.value.message == "createEngagement with body 2 returned 500"
        assert [exchange.number for exchange in raised.value.exchanges] == [2]
        assert [exchange.number for exchange in evidence.exchanges] == [2]


def test_what_has_no_response_decides_nothing_where_none_is_wrong() -> None:
    """The first that has none is told."""
    with pytest.raises(NoResponse) as raised:
        bulk.every_status([sent(200, 1), sent(None, 2), sent(503, 3)], lambda status: status == 200, "200")
    assert [exchange.number for exchange in raised.value.exchanges] == [2]


@pytest.mark.parametrize("status", [400, 422])
def test_invalid_requests_that_are_refused(status: int) -> None:
    """One of two statuses, which one is open."""
    bulk.every_invalid_refused([sent(status), sent(422)])


@pytest.mark.parametrize("status", [200, 201, 401, 403, 404, 409, 413, 415, 421, 423, 500])
def test_invalid_requests_that_are_not_refused_as_such(status: int) -> None:
    """Nothing else is a refusal of what is invalid."""
    with pytest.raises(NonConformity) as raised:
        bulk.every_invalid_refused([sent(400, 1), sent(status, 2)])
    message = f"createEngagement with body 2 returned {status}"
    assert told(raised.value) == (message, "400 or 422", str(status), None)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(399, False), (400, True), (422, True), (499, True), (500, False), (200, False), (503, False), (None, False)],
)
def test_a_refusal_is_a_4xx(status: int | None, *, expected: bool) -> None:
    """A request without an answer was not refused."""
    assert bulk.refused(sent(status)) is expected


def test_a_request_that_was_limited_in_rate_was_refused() -> None:
    """Nothing was done for it either."""
    assert bulk.refused(expects_429(sent(429)))


# --- what refused requests leave


def fails() -> None:
    """A judgement that finds a fault."""
    raise NonConformity("it is odd", expected="even", actual="odd")


@pytest.mark.parametrize("statuses", [(), (400,), (404, 499)])
def test_a_fault_after_refusals_is_a_fault(statuses: tuple[int, ...]) -> None:
    """It is told as it is; where there is none nothing is said, whatever became of the requests."""
    with pytest.raises(NonConformity) as raised:
        bulk.only_if_refused([sent(status) for status in statuses], fails)
    assert told(raised.value) == ("it is odd", "even", "odd", None)


@pytest.mark.parametrize("status", [200, 204, 302, 399, 500])
def test_a_fault_is_doubtful_where_something_was_not_refused(status: int) -> None:
    """What was not refused may have made the change; it is named and cited, all of it."""
    with pytest.raises(CantTell) as raised:
        bulk.only_if_refused([sent(400, 1), sent(status, 2), sent(404, 3), sent(201, 4)], fails)
    assert raised.value.message == "it is odd, but createEngagement with body 2 was not refused"
    assert [exchange.number for exchange in raised.value.exchanges] == [2, 4]


def test_a_fault_is_open_where_something_has_no_response() -> None:
    """Nobody knows what such a request has done."""
    with pytest.raises(NoResponse):
        bulk.only_if_refused([sent(400), sent(None)], fails)


@pytest.mark.parametrize("status", [200, 400, None])
def test_what_holds_is_asked_of_nobody(status: int | None) -> None:
    """Where the judgement passes, or is itself open, the requests make no difference."""

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
def test_an_engagement_as_before(more: dict[str, object]) -> None:
    """Members that are not those of an engagement may differ; all that was compared is evidence."""
    with Evidence() as evidence:
        untouched(read_of(ENGAGEMENT | more, 9), 400, 404)
    assert [exchange.number for exchange in evidence.exchanges] == [1, 2, 3, 9]
    untouched(read_of(ENGAGEMENT, 9), 200)


@pytest.mark.parametrize("name", ["name", "description", "status", "createdAt", "updatedAt"])
def test_an_engagement_that_a_refused_request_has_changed(name: str) -> None:
    """Every field must be as before; the reads and what was between them are cited."""
    after = read_of(ENGAGEMENT | {name: "other"}, 9)

    with pytest.raises(NonConformity) as raised:
        untouched(after, 400, 404)
    message = f"{name} of the engagement has changed"
    assert told(raised.value) == (message, f'"{ENGAGEMENT[name]}"', '"other"', f"/data/{name}")
    assert [exchange.number for exchange in raised.value.exchanges] == [1, 2, 3, 9]
    with pytest.raises(CantTell, match="was not refused"):
        untouched(after, 400, 200)


def test_an_engagement_that_is_gone() -> None:
    """A refused request has not left it as it was either."""
    after = make_exchange("getEngagement", 404, {}, number=9)

    with pytest.raises(NonConformity) as raised:
        untouched(after, 400, 404)
    assert told(raised.value) == ("the engagement no longer exists", "the engagement as before", "404", None)
    assert [exchange.number for exchange in raised.value.exchanges] == [1, 2, 3, 9]
    with pytest.raises(
        CantTell, match="the engagement no longer exists, but createEngagement with body 2 was not refused"
    ):
        untouched(after, 204)


@pytest.mark.parametrize("status", [403, 500])
def test_an_engagement_that_cannot_be_read_decides_nothing(status: int) -> None:
    """Before or afterwards."""
    failed = make_exchange("getEngagement", status, {}, number=9)

    with pytest.raises(CantTell, match=f"getEngagement returned {status}"):
        untouched(failed, 400)
    with pytest.raises(CantTell, match=f"getEngagement returned {status}"):
        bulk.engagement_untouched(failed, read_of(ENGAGEMENT, 1), [sent(400)])
    with pytest.raises(NoResponse):
        untouched(make_exchange("getEngagement", None), 400)


# --- what refused creations leave


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
    """In its name or in its description, and nowhere else."""
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
def test_creations_that_left_nothing_they_should_not(creation: Sent) -> None:
    """Only what was refused must have left nothing, and only what carried a label can be told."""
    listed = [page([{"name": "with one"}, {"description": "two"}]), page([])]

    with Evidence() as evidence:
        bulk.none_created([creation], listed)
    assert evidence.exchanges == listed


def test_creations_that_were_refused_and_made() -> None:
    """They are told together, and cited with the list, whichever page they are on."""
    listed = [page([{"name": "x"}], number=10), page([{"name": "of two"}, {"description": "of four"}], number=11)]
    batch = [sent(400, 1, label="one"), sent(400, 2, label="two"), sent(201, 3, label="x"), sent(409, 4, label="four")]
    made: Callable[[int], str] = "createEngagement with body {} was refused, but its engagement is in the list".format

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        bulk.none_created(iter(batch), listed)
    expected = "no engagement of a refused creation"
    assert told(raised.value) == (f"{made(2)}; {made(4)}", expected, "2 in the list", None)
    assert [exchange.number for exchange in raised.value.exchanges] == [2, 4, 10, 11]
    assert evidence.exchanges == listed


def test_a_list_that_cannot_be_read_tells_nothing_of_creations() -> None:
    """A page that was refused or never came may hold them."""
    with pytest.raises(CantTell):
        bulk.none_created([sent(400, label="one")], [page([]), make_exchange("listEngagements", 403, {})])
    with pytest.raises(NoResponse):
        bulk.none_created([sent(400, label="one")], [make_exchange("listEngagements", None)])
