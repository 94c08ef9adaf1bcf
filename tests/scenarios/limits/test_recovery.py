"""Resets by the clock of a gateway or of the application."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

from conformance.scenarios.limits.exhaust_window import at_once
from conformance.scenarios.limits.recovery import send_after_reset
from conformance.wire import requests
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import RATE_LIMIT, RESPONDED_AT, make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

KEY = Credential.bearer("throttled", "a-key-that-is-throttled")
WINDOW = 3.0


class Service(FakeRun):
    """A run with a right Date and a slow clock, whose key is served again after three seconds."""

    service_clock = 0.0

    def __init__(self, behind: float) -> None:
        super().__init__(self._respond)
        self.behind = behind
        created = {"data": {"id": "eng_1", "createdAt": self.own_time(0).strftime("%Y-%m-%dT%H:%M:%S.000Z")}}
        self.exchanges.append(self.dated("createEngagement", 201, created))

    def own_time(self, seconds: float) -> datetime:
        """Return the time of the service's own clock after some seconds."""
        return RESPONDED_AT + timedelta(seconds=seconds - self.behind)

    def dated(self, operation: str, status: int, body: object) -> Exchange:
        """Return a response with the gateway's Date."""
        date = ("Date", format_datetime(self.now(), usegmt=True))
        reset = ("X-RateLimit-Reset", str(int(self.own_time(WINDOW).timestamp())))
        return make_exchange(operation, status, body, headers=(*RATE_LIMIT[:2], reset, date))

    def _respond(self, asked: Request) -> Exchange:
        return self.dated(asked.operation.id, 429 if self.passed < WINDOW else 200, {"data": {}})


@pytest.mark.parametrize("behind", [0.0, 2.0, 20.0, 240.0, 299.0])
def test_service_is_waited_for_by_whichever_clock_the_reset_is_of(behind: float) -> None:
    """The suite waits for the reset by either clock: a gateway's Date may be minutes ahead of the application."""
    service = Service(behind)

    response, _ = send_after_reset(service, KEY, service.send(at_once(requests.get_organization(), KEY)))

    assert response is not None
    assert response.status == 200


@pytest.mark.parametrize(("later", "status"), [(WINDOW, 200), (0.0, 429)])
def test_a_window_that_the_run_has_used_up_itself(later: float, status: int) -> None:
    """A key that was served in a later window than that of its refusal was served again, whatever comes then."""
    service = Service(0.0)
    service.respond = lambda asked: service.dated(asked.operation.id, 429, {})
    refusal = service.send(asked := at_once(requests.get_organization(), KEY))
    reset = str(int(service.own_time(WINDOW + later).timestamp()))
    served = make_exchange("getCurrentOrganization", 200, headers=(*RATE_LIMIT[:2], ("X-RateLimit-Reset", reset)))
    service.exchanges.append(replace(served, request=asked, number=refusal.number + 1))

    response, _ = send_after_reset(service, KEY, refusal)

    assert response is not None
    assert response.status == status
