"""Resets by the clock of a gateway or of the application."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from conformance.scenarios.limits.exhaust_window import at_once
from conformance.scenarios.limits.recovery import resume
from conformance.wire import requests
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import RESPONDED_AT, make_exchange

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

KEY = Credential.bearer("throttled", "a-key-that-is-throttled")
WINDOW = 3.0


class Service:
    """A fake service with a right Date and a slow clock, which serves the key again after three seconds."""

    def __init__(self, behind: float) -> None:
        self.behind = behind
        self.passed = 0.0
        created = {"data": {"id": "eng_1", "createdAt": self.own_time(0).strftime("%Y-%m-%dT%H:%M:%S.000Z")}}
        self.exchanges = [self.dated(make_exchange("createEngagement", 201, created))]

    @property
    def run(self) -> Run:
        """Return a run against the service."""
        wire = SimpleNamespace(exchanges=self.exchanges, service_clock=0.0)
        clock = SimpleNamespace(now=lambda: RESPONDED_AT + timedelta(seconds=self.passed))
        profile = SimpleNamespace(keys={}, members=())
        return cast("Run", SimpleNamespace(wire=wire, clock=clock, sleep=self.sleep, send=self.send, profile=profile))

    def own_time(self, seconds: float) -> datetime:
        """Return the time of the service's own clock after some seconds."""
        return RESPONDED_AT.astimezone(UTC) + timedelta(seconds=seconds - self.behind)

    def dated(self, exchange: Exchange) -> Exchange:
        """Set the gateway's Date in a response."""
        assert exchange.received is not None
        at = RESPONDED_AT.astimezone(UTC) + timedelta(seconds=self.passed)
        headers = {**dict(exchange.received.headers), "Date": at.strftime("%a, %d %b %Y %H:%M:%S GMT")}
        headers["X-RateLimit-Reset"] = str(int(self.own_time(WINDOW).timestamp()))
        return replace(exchange, received=replace(exchange.received, headers=tuple(headers.items())), started_at=at)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.passed += seconds

    def send(self, asked: Request) -> Exchange:
        """Refuse the key until the window ends."""
        status = 429 if self.passed < WINDOW else 200
        response = make_exchange("getCurrentOrganization", status, {"data": {}})
        return self.dated(replace(response, request=asked))


@pytest.mark.parametrize("behind", [0.0, 2.0, 20.0, 240.0, 299.0])
def test_service_is_waited_for_by_whichever_clock_the_reset_is_of(behind: float) -> None:
    """The suite waits for the reset by either clock: a gateway's Date may be minutes ahead of the application."""
    service = Service(behind)

    response, _ = resume(service.run, KEY, service.send(at_once(requests.get_organization(), KEY)))

    assert response is not None
    assert response.status == 200
