"""Responses whose Remaining counts more requests than their key sent."""

from __future__ import annotations

import pytest

from conformance.oracle.laws.per_key_limits import limit_evidence
from conformance.wire.requests import Credential
from tests.fakes.exchanges import RATE_LIMIT, make_exchange

KEY = Credential.bearer("made", "key-made-for-the-run")
LIMIT, _, RESET = RATE_LIMIT
FEW = ("X-RateLimit-Remaining", "50")


@pytest.mark.parametrize(
    ("status", "headers", "doubtful"),
    [
        (200, (LIMIT, FEW, RESET), True),
        (429, (LIMIT, FEW, RESET), True),
        (401, (LIMIT, FEW, RESET), False),
        (200, (LIMIT, FEW), False),
        (200, (LIMIT, RESET), False),
        (200, (FEW, RESET), False),
    ],
    ids=["success", "throttled", "invalid key", "no Reset", "no Remaining", "no Limit"],
)
def test_a_first_response_with_few_requests_left(
    status: int, headers: tuple[tuple[str, str], ...], *, doubtful: bool
) -> None:
    """It is doubtful if it describes the limit of the key, and has all three headers."""
    response = make_exchange("getEngagement", status, {}, headers=headers, key=KEY)

    assert limit_evidence([response], {KEY.name}).doubtful == [response] * doubtful
