"""Section 5: a key acts on a single organization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.oracle import expect, read
from conformance.oracle.laws import responses as laws
from conformance.oracle.lists.tenancy import expect_apart
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_COMPARED: Final = 2


@pytest.mark.stage(Stage.WEIGHING)
@requirement("key-stays-with-organization")
def test_key_stays_with_its_organization(run: Run) -> None:
    """Every read of the organization with the main key has the same id."""
    if len(_reads(run)) < _COMPARED:
        run.send(requests.get_organization())
        run.send(requests.get_organization())
    reads = _reads(run)
    if len(reads) < _COMPARED:
        raise CantTell("the organization could not be read twice", *run.wire.exchanges[-1:])

    first, identifier = reads[0]
    for exchange, other in reads[1:]:
        expect.equal("id", other, identifier, first, exchange, pointer="/data/id")


@pytest.mark.stage(Stage.WEIGHING)
@requirement("isolation-lists")
def test_no_list_of_the_run_holds_another_organizations(run: Run) -> None:
    """No list of the run, with any parameters, held what the run created with another organization's key."""
    run.scenarios.result(two_organizations).ensure_two()

    expect_apart(run.wire.exchanges, (MAIN_KEY, OTHER_KEY))


def _reads(run: Run) -> list[tuple[Exchange, str]]:
    """Return every read of the organization with the main key, and its id."""
    return [
        (exchange, identifier)
        for exchange in run.wire.exchanges
        if exchange.request.operation.id == "getCurrentOrganization" and exchange.request.credential is None
        for resource in laws.readable_resources(exchange)
        if (identifier := read.id_of(resource)) is not None
    ]
