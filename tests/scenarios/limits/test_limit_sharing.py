"""Separate limits of keys: services that count in many ways, and the outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity
from conformance.scenarios.limits.limit_sharing import expect_limits_apart
from conformance.targets.capabilities import MissingMeans
from conformance.targets.fixtures import NEW_KEY, Member
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import RESPONDED_AT, make_exchange
from tests.fakes.runs import FakeRun

MADE, LIMIT = Credential.bearer("engagements:read", "k"), 1000
FIRST, SECOND, THIRD = (Credential.bearer(f"member_{number}", f"m{number}") for number in (1, 2, 3))
Count = Callable[["Service", str], int]
"""Maps the recorded requests and a key to the remaining requests."""


class Service(FakeRun):
    """A run with a service that responds within a tenth of a second, and states the remaining requests.

    Args:
        count: The function for the remaining requests.
        limit: The stated limit.
        window: Seconds of a window; 0 for a window that slides with every request.
    """

    def __init__(self, count: Count, limit: int = LIMIT, window: float = 3600) -> None:
        nothing = SimpleNamespace(finish_background=lambda: None)
        made = {key.name: Member(key.name, "a@b.test", "member", key) for key in (FIRST, SECOND, THIRD)}
        fixtures = SimpleNamespace(new_key=self._new_key, members=made)
        super().__init__(self._respond, pace=0.1, scenarios=nothing, fixtures=fixtures)
        self.count, self.limit, self.window = count, limit, window
        self.counted: Counter[str] = Counter()
        self.keys = 0

    def _new_key(self, _: str) -> Credential:
        self.keys += 1
        return Credential.bearer(NEW_KEY, "n")

    def _respond(self, asked: Request) -> Exchange:
        name = asked.credential.name if asked.credential else "api_key"
        self.counted[name] += 1
        end = (self.passed // self.window + 1) * self.window if self.window else self.passed + 60
        left = max(0, self.count(self, name))
        headers = (
            ("X-RateLimit-Limit", str(self.limit)), ("X-RateLimit-Remaining", str(left)),
            ("X-RateLimit-Reset", f"{RESPONDED_AT.timestamp() + end:.1f}"),
            ("Date", format_datetime(self.now(), usegmt=True)),
        )  # fmt: skip
        return make_exchange("getCurrentOrganization", 200, {"data": {}}, headers=headers, seconds=0.05)

    def used(self, *keys: Credential | None) -> Service:
        """Return the service after requests with these keys; None is the main key."""
        for key in keys:
            asked = requests.get_organization()
            self.send(asked if key is None else asked.with_key(key))
        return self


def of_each(service: Service, name: str) -> int:
    """A separate limit for each key."""
    return service.limit - service.counted[name]


def of_all(service: Service, name: str) -> int:
    """A shared limit for all keys."""
    del name
    return service.limit - service.counted.total()


def of_members(service: Service, name: str) -> int:
    """A separate limit for each key, but one for all members."""
    members = sum(number for key, number in service.counted.items() if key.startswith("member_"))
    return service.limit - (members if name.startswith("member_") else service.counted[name])


def dear(service: Service, name: str) -> int:
    """A separate limit, with a cost of three for each request."""
    return service.limit - 3 * service.counted[name]


def of_three_nodes(service: Service, name: str) -> int:
    """Three servers with separate counts that take turns."""
    turn = len(service.exchanges) % 3
    return service.limit - sum(1 for number in range(service.counted[name]) if number % 3 == turn)


def late(service: Service, name: str) -> int:
    """Requests are counted by the dozen."""
    return service.limit - service.counted[name] // 12 * 12


MANY: Sequence[Credential | None] = [MADE, *[None] * 30, MADE]


@pytest.mark.parametrize(
    ("service", "requests"),
    [
        (Service(of_each).used(*MANY), 0),
        (Service(late).used(*MANY), 0),
        (Service(of_three_nodes).used(*MANY), 0),
        (Service(of_each), 24),
        (Service(of_each, window=12).used(*MANY), 0),
        (Service(dear).used(*MANY), 24),
        (Service(of_three_nodes), 24),
        (Service(late), 24),
    ],
    ids=["each", "late", "nodes", "nothing-seen", "short-windows", "dear", "nodes-tried", "late-tried"],
)
def test_a_limit_of_each_key_is_no_fault(service: Service, requests: int) -> None:
    """A separate limit passes with any way of counting; it rarely needs further requests."""
    before = len(service.exchanges)

    expect_limits_apart(service)

    assert len(service.exchanges) - before == requests


@pytest.mark.parametrize("used", [MANY, [], [None] * 30], ids=["seen", "nothing-seen", "main-key-only"])
def test_a_limit_of_all_keys_is_a_fault(used: Sequence[Credential | None]) -> None:
    """A shared limit fails: a new key twice lost what another key used."""
    service = Service(of_all).used(*used)

    with pytest.raises(NonConformity, match="fell by 21 and by 21 with one request of its own") as fault:
        expect_limits_apart(service)

    assert service.keys == 1
    assert [exchange.request.credential.name for exchange in fault.value.exchanges if exchange.request.credential] == [
        NEW_KEY
    ] * 6


def test_a_limit_of_all_members_is_a_fault() -> None:
    """A limit that members share fails: a new member lost what another member used, beside the main key."""
    service = Service(of_members).used(*[FIRST, SECOND] * 5)
    service.fixtures.member = lambda *, with_key: SimpleNamespace(credential=with_key and THIRD)

    with pytest.raises(NonConformity, match="fell by 14 and by 14 with one request of its own"):
        expect_limits_apart(service)

    assert service.keys == 0


def test_windows_that_slide_tell_as_much() -> None:
    """Sliding windows count: responses belong together although each window has a new end."""
    with pytest.raises(NonConformity, match="fell by 21 and by 21"):
        expect_limits_apart(Service(of_all, window=0).used(*MANY))

    expect_limits_apart(Service(of_each, window=0).used(*MANY))


def test_windows_that_are_over_at_once_tell_nothing() -> None:
    """If windows end at once, no two responses are comparable, and no request is sent."""
    service = Service(of_each, window=0.01).used(*MANY)
    before = len(service.exchanges)

    with pytest.raises(Inapplicable, match="end at once"):
        expect_limits_apart(service)

    assert len(service.exchanges) == before


def test_windows_that_are_too_short_tell_nothing() -> None:
    """If windows are too short, a doubt stays undecided."""
    service = Service(of_all, window=1.0).used(MADE, *[None] * 5, MADE)

    with pytest.raises(CantTell, match="fewer requests left than it sent itself"):
        expect_limits_apart(service)


def test_without_a_new_key_doubts_remain() -> None:
    """Without a new key a doubt stays undecided; without a doubt no key is needed."""

    def none(_: str) -> Credential:
        raise MissingMeans("key:organizations:read", "There is no provisioner.")

    doubtful, quiet = Service(of_all).used(*MANY), Service(of_each)
    doubtful.fixtures.new_key = quiet.fixtures.new_key = none

    with pytest.raises(CantTell, match="fewer requests left than it sent itself"):
        expect_limits_apart(doubtful)
    with pytest.raises(Inapplicable, match=r"There is no provisioner\."):
        expect_limits_apart(quiet)
