"""First request of a run, which tests the target's address and the main key."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.json_text import integer_or_none
from conformance.targets.responses import data_of
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

REACHING: Final = "reaching the target"
"""The sender of the first request."""


def reach(run: Run) -> Exchange | str:
    """Request the organization; the wire retries within the options' wait.

    Returns:
        The exchange with a target that can be tested, or why it cannot, as a sentence; nothing more is sent then.
    """
    try:
        with run.wire.checking(REACHING):
            exchange = run.send(requests.get_organization())
        status = exchange.status
    except NoResponse as no_response:
        return _given_up(run, str(no_response))
    if status == HTTPStatus.UNAUTHORIZED:
        return _given_up(run, "the service refuses the main key with 401")
    run.engagements_before = integer_or_none(data_of(exchange.response).get("engagementCount"))
    return exchange


def _given_up(run: Run, why: str) -> str:
    run.wire.stop(why)
    return f"The target could not be tested: {why}."
