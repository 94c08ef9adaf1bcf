"""The first request of a run: is the target there, and is the key good?"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from conformance.targets.queries import data_of
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


def reach(run: Run) -> Exchange | str:
    """Ask for the organization; the wire asks again while the options let it wait for the service.

    Returns:
        The answer of a target that can be tested, or why it cannot, as a sentence; then nothing more is sent.
    """
    try:
        with run.wire.checking("reaching the target"):
            exchange = run.send(requests.get_organization())
        status = exchange.status
    except NoResponse as no_response:
        return _given_up(run, str(no_response))
    if status == HTTPStatus.UNAUTHORIZED:
        return _given_up(run, "the service refuses the main key with 401")
    told = data_of(exchange.response).get("engagementCount")
    run.engagements_before = told if isinstance(told, int) and not isinstance(told, bool) else None
    return exchange


def _given_up(run: Run, why: str) -> str:
    run.wire.stop(why)
    return f"The target could not be tested: {why}."
