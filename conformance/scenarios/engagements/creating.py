"""Creations with and without a description, and with fields of the service."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.oracle import read
from conformance.oracle.outcomes import CantTell
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import unknown_like
from conformance.scenarios.basics import QUOTED, ensure_responses, or_with_long_description
from conformance.scenarios.lists.finding import Search, search
from conformance.wire import requests

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


_EARLIER: Final = "2001-02-03T04:05:06.789Z"


@dataclass(frozen=True, slots=True)
class Creation:
    """A creation, and a read of the created engagement.

    Attributes:
        sent: The body.
        response: The response to the creation.
        read: The read; None if the response had no identifier.
    """

    sent: dict[str, Any]
    response: Exchange
    read: Exchange | None

    def after(self) -> Exchange:
        """Return the read of the engagement.

        Raises:
            CantTell: There is none.
        """
        if self.read is None:
            raise CantTell("the creation gave no identifier to read by", self.response)
        return self.read


@dataclass(frozen=True, slots=True)
class Creating:
    """Creations of two engagements, a second creation with a name, and the search for them in the list."""

    bare: Creation
    described: Creation
    namesake: Exchange
    found: Search

    @property
    def proper(self) -> tuple[Creation, Creation]:
        """The creations that every service should accept."""
        return self.bare, self.described


def create(run: Run, *bodies: dict[str, Any], insist: bool = False) -> list[Creation]:
    """Create engagements with longer descriptions if needed, and read the created ones.

    Their JSON is on several lines and has an escape in the name of a member, which parsers must not care about.
    """
    indented = [json.dumps(body, ensure_ascii=False, indent=2).replace('"name"', '"n\\u0061me"', 1) for body in bodies]
    responses = run.send_all([requests.create_engagement({}).with_body(body.encode()) for body in indented])
    if insist:
        responses = [or_with_long_description(run, response) for response in responses]
    ids = [read.identifier_or_none(response) for response in responses]
    reads = iter(run.send_all([requests.get_engagement(identifier) for identifier in ids if identifier is not None]))
    return [
        Creation(response.sent_fields, response, None if identifier is None else next(reads))
        for response, identifier in zip(responses, ids, strict=True)
    ]


@scenario
def creating(run: Run) -> Creating:
    """Create and read two engagements and a second one with the first name; search for all in the list."""
    bare = {"name": run.name("create")}
    described = {"name": run.name("create-described"), "description": "What the engagement is about"}
    first, second = create(run, bare, described, insist=True)
    ids = read.identifiers((first.response, second.response))
    namesake = run.send(requests.create_engagement(bare))
    ensure_responses([first.response, second.response, namesake])
    return Creating(first, second, namesake, search(run, ids, sort="name", order="desc"))


@scenario
def own_values_at_creation(run: Run) -> list[Creation]:
    """Send values that the service sets with a creation: all at once, and singly if that is refused."""
    known = read.identifier_or_none(run.scenarios.result(creating).bare.response)
    values = {
        "id": unknown_like(known, run.random("own-values-at-creation")),
        "status": "archived",
        "createdAt": _EARLIER,
        "updatedAt": _EARLIER,
    }
    together = create(run, {"name": run.name("own-values"), "description": QUOTED, **values})
    if together[0].response.succeeded:
        return together
    return together + create(run, *({"name": run.name(f"own-{name}"), name: value} for name, value in values.items()))
