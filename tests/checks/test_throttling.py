"""Which requests beyond a limit count as served although they must not be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.throttling import Filling, _Scene
from tests.conftest import make_exchange

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange


def limited(operation: str, status: int, limit: int, remaining: int) -> Exchange:
    """An answer that names a limit and what is left of it."""
    one = make_exchange(operation, status, {"data": {}} if status < 300 else {"error": {}})
    assert one.received is not None
    headers = [(name, value) for name, value in one.received.headers if not name.startswith("X-RateLimit")]
    named = [("X-RateLimit-Limit", str(limit)), ("X-RateLimit-Remaining", str(remaining))]
    received = replace(one.received, headers=(*headers, *named))
    return replace(one, call=replace(one.call, expects_429=True), received=received)


@pytest.mark.parametrize(
    ("status", "limit", "remaining", "counts"),
    [(201, 10, 0, True), (201, 10, 3, False), (201, 50, 0, False), (429, 10, 0, False)],
)
def test_a_creation_that_is_counted_apart_is_no_fault(status: int, limit: int, remaining: int, *, counts: bool) -> None:
    """One that names the refusals' limit, used up, has passed it; one with a limit of its own has not."""
    around = [limited("getCurrentOrganization", 429, 10, 0) for _ in range(2)]
    scene = _Scene(Filling(10), creation=limited("createEngagement", status, limit, remaining))
    scene.before, scene.after = around[:1], around[1:]

    assert bool(scene.passed_creation) is counts
