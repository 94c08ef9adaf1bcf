"""Section 4, GET /api/v1/engagements/:id: a read returns the requested engagement."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from conformance.checks.markers import requirement
from conformance.oracle import expect, read
from conformance.oracle.outcomes import CantTell, CheckOutcome
from conformance.scenarios.basics import expect_missing
from conformance.scenarios.engagements.creating import Creating, creating
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.scenarios.engagements.editing import Editing


@requirement("get-engagement-succeeds")
def test_reading_succeeds(creating: Creating, editing: Editing) -> None:
    """Reading an engagement gives 200."""
    for creation in creating.proper:
        after = creation.after()
        if (
            after.status == HTTPStatus.NOT_FOUND
            and read.identifier_or_none(creation.response) not in creating.found.ids
        ):
            raise CantTell("the engagement is not in the list either, so it was not created", after)
        expect.success(after)

    for done in editing.all:
        expect.success(done.after)


@requirement("get-unknown-engagement")
def test_unknown_engagement_cannot_be_read(run: Run) -> None:
    """A missing engagement cannot be read, even if its identifier begins like that of an existing one."""
    known = _known(run)
    unknown = run.name("missing") if known is None else f"{known}xyz"
    expect_missing(run.send(requests.get_engagement(unknown)))


def _known(run: Run) -> str | None:
    """Return the identifier of an engagement of the run, if it has one."""
    try:
        return read.identifier_or_none(run.scenarios.result(creating).bare.response)
    except (CheckOutcome, NoResponse, MissingMeans):
        return None
