"""A few requests of every kind, for runs of so few checks that nothing else sends them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from conformance.checks.aims import identifier
from conformance.wire import call
from conformance.wire.call import Credential

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


def basics(run: Run) -> list[Exchange]:
    """Both lists and the organization are read; one request each is invalid, without a key, and for nothing."""
    missing = str(uuid.UUID(int=run.random("basics").getrandbits(128), version=4))
    return run.send_all(
        [
            call.get_organization(),
            call.list_members(),
            call.list_engagements(),
            call.list_engagements(page="abc"),
            call.get_engagement(missing),
            call.get_organization().with_key(Credential("none", None)),
        ]
    )


def lifecycle(run: Run) -> list[Exchange]:
    """An engagement is created, read, updated, archived and deleted."""
    created = run.send(call.create_engagement({"name": run.name("life")}))
    found = identifier(created)
    if found is None:
        return [created]
    steps = (
        call.get_engagement(found),
        call.update_engagement(found, {"description": "updated"}),
        call.archive_engagement(found),
        call.list_engagements(status="archived", sort="updatedAt", order="desc"),
        call.delete_engagement(found),
    )
    return [created, *(run.send(step) for step in steps)]
