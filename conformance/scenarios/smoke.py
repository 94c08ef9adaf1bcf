"""A few requests of every kind, for runs with so few checks that nothing else sends them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from conformance.oracle import read
from conformance.scenarios.access.unauthenticated import NO_KEY
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


def basics(run: Run) -> list[Exchange]:
    """Read both lists and the organization; send an invalid request, a request without a key, and a read of nothing."""
    missing = str(uuid.UUID(int=run.random("basics").getrandbits(128), version=4))
    return run.send_all(
        [
            requests.get_organization(),
            requests.list_members(),
            requests.list_engagements(),
            requests.list_engagements(page="abc"),
            requests.get_engagement(missing),
            requests.get_organization().with_key(NO_KEY),
        ]
    )


def lifecycle(run: Run) -> list[Exchange]:
    """Create, read, update, archive and delete an engagement."""
    created = run.send(requests.create_engagement({"name": run.name("life")}))
    found = read.identifier_or_none(created)
    if found is None:
        return [created]
    steps = (
        requests.get_engagement(found),
        requests.update_engagement(found, {"description": "updated"}),
        requests.archive_engagement(found),
        requests.list_engagements(status="archived", sort="updatedAt", order="desc"),
        requests.delete_engagement(found),
    )
    return [created, *(run.send(step) for step in steps)]
