"""Requests beyond a limit that count as wrongly served."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance.oracle.outcomes import CheckOutcome
from conformance.scenarios.limits.exhaust_window import ExhaustedWindow, _ensure_unused, exhaust, is_made
from conformance.scenarios.limits.recovery import clocks_apart
from conformance.scenarios.limits.throttling import _Attempt, _is_of_another_organization, _passed_again
from conformance.targets.fixtures import Member
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


def limited(operation: str, status: int, limit: int, remaining: int) -> Exchange:
    """Return a response that states a limit and the remaining requests."""
    exchange = make_exchange(operation, status, {"data": {}} if status < 300 else {"error": {}})
    assert exchange.received is not None
    headers = [(name, value) for name, value in exchange.received.headers if not name.startswith("X-RateLimit")]
    named = [("X-RateLimit-Limit", str(limit)), ("X-RateLimit-Remaining", str(remaining))]
    received = replace(exchange.received, headers=(*headers, *named))
    return replace(exchange, request=replace(exchange.request, expects_429=True), received=received)


@pytest.mark.parametrize(
    ("status", "limit", "remaining", "counts"),
    [(201, 10, 0, True), (201, 10, 3, False), (201, 50, 0, False), (429, 10, 0, False)],
)
def test_a_creation_that_is_counted_apart_is_no_fault(status: int, limit: int, remaining: int, *, counts: bool) -> None:
    """A success that states the refusals' limit as used up fails; one with a limit of its own passes."""
    around = [limited("getCurrentOrganization", 429, 10, 0) for _ in range(2)]
    attempt = _Attempt(ExhaustedWindow(10), between=[limited("createEngagement", status, limit, remaining)])
    attempt.before, attempt.after = around[:1], around[1:]

    assert bool(attempt.passed) is counts


@pytest.mark.parametrize(
    ("statuses", "counts"),
    [
        ((429, 201, 201, 429), True),
        ((429, 201, 409, 429), True),  # a second invitation of an address
        ((429, 201, 429, 429), False),
        ((200, 201, 201, 429), False),
        ((429, 201, 201, 200), False),
    ],
)
def test_a_single_request_may_get_a_refilled_token(statuses: tuple[int, ...], *, counts: bool) -> None:
    """A request counts as served beyond the limit if it passes twice more at once, between refused reads."""
    answers, creation = iter(statuses), limited("createEngagement", 201, 10, 0)
    run = FakeRun(lambda sent: make_exchange(sent, next(answers), {}))

    found = _passed_again(run, Credential.bearer("throttled", "slow"), [creation])

    assert found == ([creation] if counts else [])
    assert [sent.operation.id for sent in run.sent[1:3]] == ["createEngagement"] * 2


@pytest.mark.parametrize(
    ("status", "remaining", "ahead", "says"),
    [
        (200, 9, 4, None), (200, 1, 29, None), (429, 0, 4, "used up at its first request"),
        (200, 0, 4, "used up at its first request"), (200, 9, 57, "a reset 57 s ahead"), (429, 3, 4, None),
    ],
)  # fmt: skip
def test_a_new_key_is_not_waited_for(status: int, remaining: int, ahead: float, says: str | None) -> None:
    """A new key that is used up at once, or has a long window, gives a reason instead of a wait."""
    first = _resetting(limited("getCurrentOrganization", status, 10, remaining), ahead)

    if says is None:
        _ensure_unused(first)
    else:
        with pytest.raises(CheckOutcome, match=says):
            _ensure_unused(first)


def test_a_key_that_the_run_has_used_up_is_waited_for() -> None:
    """A scenario that starts again after a broken connection continues with its key."""
    key, asked = Credential.bearer("throttled", "slow"), requests.get_organization()
    answers = iter([(429, 0), *((200, left) for left in range(9, -1, -1)), *[(429, 0)] * 9])
    run = FakeRun(
        lambda _: _resetting(limited("getCurrentOrganization", (answer := next(answers))[0], 10, answer[1]), 4),
        [make_exchange(asked.with_key(key))],
    )
    exhausted = exhaust(run, key)
    assert (len(exhausted.served), exhausted.missed is None) == (9, False)


@pytest.mark.parametrize(
    ("after_miss", "is_beyond"), [(lambda left: left - 1, False), (lambda _: 0, False), (lambda _: 4, True)]
)
def test_a_missing_resource_does_not_restore_the_window(after_miss: Callable[[int], int], *, is_beyond: bool) -> None:
    """A read of it may count once, or for all that is left; then no refusal came early."""
    key, left = Credential.bearer("throttled", "slow"), 4

    def respond(sent: Request) -> Exchange:
        nonlocal left
        is_missed = sent.operation.id == "getEngagement"
        status = 429 if left == 0 else 404 if is_missed else 200
        left = max(0, after_miss(left) if is_missed else left - 1)
        return _resetting(limited(sent.operation.id, status, 4, left), 9)

    exhausted = exhaust(FakeRun(respond), key)
    assert (exhausted.beyond is not None, exhausted.early) == (is_beyond, None)


@pytest.mark.parametrize("status", [400, 403])
def test_another_status_beyond_the_limit_counts(status: int) -> None:
    """Although the read of a missing resource took the last request of the window, it does not end the scenario."""
    key, left = Credential.bearer("throttled", "slow"), 4

    def respond(sent: Request) -> Exchange:
        nonlocal left
        is_left, left = left > 0, max(0, left - 1)
        served = 404 if sent.operation.id == "getEngagement" else 200
        return _resetting(limited(sent.operation.id, served if is_left else status, 4, left), 9)

    exhausted = exhaust(FakeRun(respond), key)
    assert exhausted.beyond is not None
    assert exhausted.beyond.status == status


@pytest.mark.parametrize("served", [3, 2, 1])
def test_a_refused_read_of_a_missing_resource_may_come_early(monkeypatch: pytest.MonkeyPatch, served: int) -> None:
    """A window that serves fewer requests than its limit is seen, whichever request meets its end."""
    monkeypatch.setattr("conformance.scenarios.limits.exhaust_window.is_made", lambda *_: True)
    key, sent_before = Credential.bearer("throttled", "slow"), 0

    def respond(sent: Request) -> Exchange:
        nonlocal sent_before
        sent_before += 1
        is_served = sent_before <= served
        status = 429 if not is_served else 404 if sent.operation.id == "getEngagement" else 200
        return _resetting(limited(sent.operation.id, status, 4, 4 - sent_before if is_served else 0), 9)

    assert exhaust(FakeRun(respond), key).early is not None


def _resetting(exchange: Exchange, ahead: float) -> Exchange:
    """Return a dated response with a reset, some seconds ahead."""
    assert exchange.received is not None
    reset = ("X-RateLimit-Reset", str(int(exchange.started_at.timestamp() + ahead)))
    date = ("Date", format_datetime(exchange.started_at, usegmt=True))
    return replace(exchange, received=replace(exchange.received, headers=(*exchange.received.headers, reset, date)))


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("throttled", True), ("engagements:read", True), ("organizations:read", False), ("api_key", False),
        ("member_1", False), ("member_2", True), ("unknown_key", False),
    ],
)  # fmt: skip
def test_which_keys_only_the_run_uses(name: str, *, made: bool) -> None:
    """Only keys that the provisioner made in the run count as used by the run alone."""
    run = FakeRun(profile=SimpleNamespace(keys={"organizations:read": "k"}))
    listed, created = (Credential.bearer(f"member_{number}", "k") for number in (1, 2))
    members = {"one": Member("one", None, None, listed), "two": Member("two", "a@b.test", "member", created)}
    run.fixtures = SimpleNamespace(members=members)

    assert is_made(run, name) is made


def dated(ahead: float, began: float = 0.0, seconds: float = 0.1) -> Exchange:
    """Return a response whose Date is some seconds ahead of the request, cut to whole seconds."""
    exchange = make_exchange("getCurrentOrganization", 200, {})
    began_at = exchange.started_at + timedelta(seconds=began)
    date = format_datetime((began_at + timedelta(seconds=ahead)).replace(microsecond=0), usegmt=True)
    assert exchange.received is not None
    others = [(name, value) for name, value in exchange.received.headers if name != "Date"]
    received = replace(exchange.received, headers=(*others, ("Date", date)))
    return replace(exchange, started_at=began_at, seconds=seconds, received=received)


@pytest.mark.parametrize(
    ("exchanges", "apart"),
    [
        ([], 0),
        ([replace(dated(0), received=None)], 0),
        ([dated(3)], 0),
        ([dated(3), dated(3, began=0.9), dated(3, began=7.5)], 0),
        ([dated(3), dated(4)], 0),
        ([dated(-4), dated(0), dated(6)], 8.9),
        ([dated(0, seconds=9), dated(6)], 4.9),
        ([dated(0), dated(6, seconds=9)], 0),
    ],
    ids=["none", "unanswered", "one", "one-clock", "a-second", "three-clocks", "slow-behind", "slow-ahead"],
)
def test_clocks_are_apart_by_the_unexplained_difference(exchanges: list[Exchange], apart: float) -> None:
    """The distance of clocks is what cut seconds and slow responses do not explain."""
    assert clocks_apart(exchanges) == pytest.approx(apart)


@pytest.mark.parametrize(
    ("main", "throttled", "another"),
    [(["org_1"], ["org_1"], False), (["org_1"], ["org_2"], True), ([], ["org_2"], False), (["org_1"], [], False)],
)
def test_a_throttled_key_may_be_another_organizations(main: list[str], throttled: list[str], *, another: bool) -> None:
    """With a throttled key of another organization, no engagement of the main key is a target."""
    own, others = (
        [make_exchange("getCurrentOrganization", 200, {"data": {"id": identifier}}, key=key) for identifier in read]
        for key, read in ((None, main), (Credential.bearer("throttled", "k"), throttled))
    )

    assert _is_of_another_organization(FakeRun(exchanges=[*own, *others]), ExhaustedWindow(8, served=others)) is another


def in_window(status: int, remaining: int, reset: str = "60") -> Exchange:
    """Return a response with a limit of 3 in a window."""
    exchange = limited("getCurrentOrganization", status, 3, remaining)
    assert exchange.received is not None
    headers = (*exchange.received.headers, ("X-RateLimit-Reset", reset))
    return replace(exchange, received=replace(exchange.received, headers=headers))


@pytest.mark.parametrize(
    ("remaining", "refusal", "exclusive", "early"),
    [
        ([2, 1, 0], in_window(429, 0), True, False),
        ([2, 1], in_window(429, 0), True, True),
        ([1], in_window(429, 0), True, True),
        ([2, 1], in_window(429, 0), False, False),
        ([2, 1], in_window(429, 1), True, False),
        ([2, 1], in_window(429, 0, "90"), True, False),
    ],
    ids=["used up", "one left", "a later window", "shared key", "too many at once", "another window"],
)
def test_a_refusal_before_the_limit(remaining: list[int], refusal: Exchange, *, exclusive: bool, early: bool) -> None:
    """A key that only the run uses is served while the last response of the window has a request left."""
    exhausted = ExhaustedWindow(3, exclusive=exclusive)
    for left in remaining:
        exhausted.take(in_window(200, left))
    exhausted.take(refusal)

    assert (exhausted.early is refusal) is early
    assert exhausted.shows_what_is_left is (exclusive and remaining[0] == 2)
