"""Runs without a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.running.options import Effort, RunOptions
from conformance.running.run import Run
from conformance.targets.names import RunNames
from conformance.targets.profile import Profile
from conformance.targets.secret import Secret
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request
from tests.fakes.exchanges import RESPONDED_AT

T = TypeVar("T")
if TYPE_CHECKING:
    AnyRun = Any  # it may stand for the run of the suite
else:
    AnyRun = object

PROFILE = Profile(name="fake", base_url="http://service.test", api_key=Secret("key-of-the-target"))


def real_run(**parts: Any) -> Run:
    """Return a run of the suite with these parts alone."""
    lacking = dict.fromkeys(("wire", "fixtures", "journal"))
    usual = {"profile": PROFILE, "options": RunOptions(), "names": RunNames("cf-abcdefgh-")}
    return Run(**{**lacking, **usual, **parts})


def unexpected(request: Request) -> Exchange:
    """Respond to no request."""
    raise AssertionError(f"{request.operation.id} was not expected")


class FakeRun(AnyRun):  # type: ignore[misc]
    """A run that is its own wire and clock: it responds by a function, and records everything.

    Args:
        respond: Returns the response to a request; its exchange gets the request, number and time of the run.
        exchanges: The exchanges so far.
        pace: Seconds that pass with each request.
        parts: Further attributes.

    Attributes:
        sent: The requests.
        disturbed: Whether other writes of the run could overlap each of them.
        checks: The names of the senders.
        pauses: The pauses in seconds.
        passed: Seconds since the start.
    """

    effort = Effort.QUICK
    engagements_before = None
    fixtures = SimpleNamespace(members={})
    is_over = False
    names = RunNames("cf-")
    options = RunOptions()
    profile = PROFILE
    scenarios = SimpleNamespace(wait_for=lambda _: None, result_if_any=lambda _: None)

    def __init__(
        self,
        respond: Callable[[Request], Exchange] = unexpected,
        exchanges: Iterable[Exchange] = (),
        *,
        pace: float = 0.0,
        **parts: Any,
    ) -> None:
        self.respond = respond
        self.exchanges = [*exchanges]
        self.pace = pace
        self.sent: list[Request] = []
        self.disturbed: list[bool] = []
        self.checks: list[str] = []
        self.pauses: list[float] = []
        self.passed = 0.0
        self.wire = self.clock = self
        self._quiet = False
        self.__dict__.update(parts)

    def send(self, request: Request) -> Exchange:
        """Respond to a request."""
        self.sent.append(request)
        self.disturbed.append(not self._quiet)
        exchange = replace(
            self.respond(request),
            request=request,
            number=len(self.exchanges) + 1,
            check=self.checks[-1] if self.checks else "test",
            started_at=self.now(),
        )
        self.passed += self.pace
        self.exchanges.append(exchange)
        return exchange

    def send_all(self, requests: Iterable[Request]) -> list[Exchange]:
        """Respond to requests, one after the other."""
        return [self.send(request) for request in requests]

    send_in_turn = send_all

    def send_permitted(self, requests: Iterable[Request]) -> list[Exchange]:
        """Send requests one after another; no guard withholds any."""
        return self.send_all(requests)

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Exclude other writes."""
        before, self._quiet = self._quiet, True
        yield
        self._quiet = before

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Permit requests after the end of the run."""
        yield

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Name the sender."""
        self.checks.append(name)
        yield

    def sleep(self, seconds: float) -> None:
        """Let time pass, but not while other writes wait."""
        assert not self._quiet
        self.pauses.append(seconds)
        self.passed += seconds

    def now(self) -> datetime:
        """Return the time."""
        return RESPONDED_AT + timedelta(seconds=self.passed)

    def wait_until(self, condition: Callable[[], bool], **_: float) -> bool:
        """Evaluate a condition once."""
        return condition()

    def name(self, label: str) -> str:
        """Return the name for a label."""
        return self.names.name(label)

    def random(self, purpose: str) -> Random:
        """Return the choices for a purpose."""
        return Random(purpose)

    def recorded_value(self, _: str, find: Callable[[], T]) -> T:
        """Find a value."""
        return find()
