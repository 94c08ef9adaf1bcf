"""Section 5: a key acts on one organization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.marks import requirement
from conformance.oracle import expect, laws
from conformance.oracle.judgement import Undecided
from conformance.oracle.words import shown
from conformance.wire import call

if TYPE_CHECKING:
    from conformance.running.run import Run


@pytest.mark.stage(2)
@requirement("key-stays-with-organization")
def test_key_stays_with_its_organization(run: Run) -> None:
    """Every read of the organization with the main key gave the organization of the same id."""
    last = run.send(call.get_organization())
    if len(run.wire.exchanges) == 1:
        last = run.send(call.get_organization())
    reads = [
        (exchange, resource["id"])
        for exchange in run.wire.exchanges
        if exchange.call.operation.id == last.call.operation.id and exchange.call.credential is None
        for resource in laws.readable_resources(exchange)
        if isinstance(resource.get("id"), str)
    ]
    if not reads:
        raise Undecided("no read of the organization gave an id", last)

    first, identifier = reads[0]
    for exchange, other in reads[1:] or reads:
        actual = shown(other)
        expect.holds(
            other == identifier,
            "the key reads another organization than before",
            first,
            exchange,
            expected=shown(identifier),
            actual=actual,
            pointer="/data/id",
        )
