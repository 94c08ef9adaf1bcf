"""Section 7: unusual requests get a success or a refusal, and no server error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.checks.markers import requirement
from conformance.oracle.laws import errors as error_laws
from conformance.oracle.outcomes import evidence

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange


@requirement("no-server-error")
def test_odd_requests_cause_no_server_error(odd_requests: list[Exchange]) -> None:
    """No request gets an unexpected server error, however odd."""
    responded = [exchange for exchange in odd_requests if exchange.judgeable]
    evidence(*responded)

    for exchange in responded:
        error_laws.no_server_error(exchange)
