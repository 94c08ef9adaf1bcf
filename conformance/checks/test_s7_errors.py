"""Section 7: requests that end the service, and observations of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import observes, requirement
from conformance.json_text import text_or_none
from conformance.oracle import read
from conformance.oracle.observe import describe_response
from conformance.scenarios.lost_service import expect_no_request_ends_service
from conformance.verdicts.stages import Stage
from conformance.wire.exchange import NoResponse
from conformance.wire.statuses import ERRORS_FROM

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(Stage.EVERY_RESPONSE)


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("no-server-error")
def test_no_request_ends_the_service(run: Run) -> None:
    """The service does not become unreachable twice after the same request."""
    expect_no_request_ends_service(run)


@observes("error-messages")
def test_error_messages(run: Run) -> None:
    """Observe whether errors have an empty message."""
    messages = [(exchange, message) for exchange in run.wire.exchanges if (message := _message(exchange)) is not None]
    empty = [exchange for exchange, message in messages if not message.strip()]

    if messages:
        run.observe("error-messages", "some are empty" if empty else "none is empty", *(empty or [messages[0][0]])[:3])


@observes("error-statuses-seen")
def test_error_statuses_seen(run: Run) -> None:
    """Observe the statuses of errors."""
    first: dict[str, Exchange] = {}
    for exchange in run.wire.exchanges:
        if exchange.received is not None and exchange.received.status >= ERRORS_FROM:
            first.setdefault(
                describe_response(exchange) if exchange.judgeable else str(exchange.received.status), exchange
            )

    if first:
        run.observe("error-statuses-seen", ", ".join(sorted(first)), *first.values())


def _message(exchange: Exchange) -> str | None:
    try:
        error = read.error_or_none(exchange) if exchange.judgeable and not exchange.succeeded else None
    except NoResponse:
        return None
    return text_or_none((error or {}).get("message"))
