"""Sequences of requests about an engagement, each with other keys than the main one, for the ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.oracle import read
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.access.two_organizations import two_organizations
from conformance.scenarios.engagements.histories import histories
from conformance.scenarios.members.role_changes import key_of_bystander
from conformance.scenarios.samples import ALONE, shuffled
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.requests import Credential, Request

_Keys = Callable[[str], "Credential | None"]
"""Returns the key for an operationId; None for the main key."""

_Step = Callable[[str], "Request"]
"""Returns a request about an engagement, given by its id, or a list that should show it."""


_READERS: Final = 2
"""Keys that request a list, or the organization, in a quick run."""


_DESCRIPTIONS: Final = ("Described on the tour", "The first line\nand the second", "")
"""One that no service has a reason to refuse, one of two lines, which a service may refuse, and an empty one."""


def _listed(**query: object) -> _Step:
    return lambda _: requests.list_engagements(**query)


def _sequences(run: Run) -> Iterator[tuple[_Step, ...]]:
    """Yield the requests about one engagement each, after its creation; quick runs send the first ones only."""
    get, archive, unarchive, delete = (
        requests.get_engagement, requests.archive_engagement, requests.unarchive_engagement, requests.delete_engagement
    )  # fmt: skip

    def describe(identifier: str) -> Request:
        return requests.update_engagement(identifier, {"description": next(descriptions)})

    def edit(identifier: str) -> Request:
        return requests.update_engagement(identifier, {"name": next(names), "description": mark})

    def edit_archived(identifier: str) -> Request:
        return requests.update_engagement(identifier, next(refused))

    def few_members(_: str) -> Request:
        return requests.list_members(perPage=1, page=2, role=next(roles))

    roles = cycle((None, "owner"))  # perhaps past the end
    mark = run.name("toured")
    # So that the numbers of the last pages have two digits.
    size = max(2, ((run.engagements_before or 0) + len(histories(run))) // 12)
    names = cycle(texts := shuffled(ALONE, run.random("texts of the tour")))
    descriptions = cycle((*_DESCRIPTIONS, *reversed(texts)))
    refused = cycle([{"description": None}, {"description": ""}, {"name": mark}])
    yield (
        *(get, _listed(sort="createdAt", perPage=2), describe, get),
        *(archive, get, _listed(status="archived", sort="updatedAt", perPage=3), edit_archived, get),
        *(unarchive, get, edit, _listed(sort="updatedAt", order="desc"), get, archive, get),
        lambda _: requests.list_members(perPage=1, role="member"),  # in another order than elsewhere
        few_members,
        *(lambda _: requests.get_organization(), delete, get),
        *(_listed(sort="name", order="asc", perPage=size, page=page) for page in (1, 2)),
    )
    if run.effort is Effort.QUICK:
        return
    yield archive, unarchive, archive, get, unarchive, get, delete, describe, archive, unarchive, delete
    yield describe, get, edit, get, delete, _listed(status="active", sort="createdAt", order="asc")
    yield archive, describe, edit, get, delete, _listed(status="archived", perPage=5)
    yield archive, unarchive, describe, archive, edit, unarchive, get, delete
    yield delete, get


@scenario(alone=True)
def tour(run: Run) -> None:
    """Create, change and delete engagements with a member's key, single permissions, and another organization's key.

    The keys take turns, each on its own engagement, so that a value which a service keeps for a key shows with another.
    """
    if run.mode is Mode.READ_ONLY:
        return
    for steps in _sequences(run):
        body = {"name": run.name("tour"), "description": "Before the tour has begun"}
        keys_by_id = {}
        for keys in _all_keys(run):
            (created,) = run.send_permitted([_with(keys, requests.create_engagement(body))])
            if created is not None and (identifier := read.identifier_or_none(created)) is not None:
                keys_by_id[identifier] = keys
        for place, step in enumerate(steps):
            batch = [_with(keys, step(identifier)) for identifier, keys in keys_by_id.items()]
            if run.effort is Effort.QUICK and len(batch) > _READERS and batch[0].identifier is None:
                batch.pop(-1 if batch[0].operation.family == "organizations" else place % len(batch))
            run.send_permitted(batch)


def _with(keys: _Keys, request: Request) -> Request:
    return replace(request, credential=keys(request.operation.id))


def _all_keys(run: Run) -> Iterator[_Keys]:
    """Yield the keys of each sequence, as far as the run has used them already."""
    if (member := key_of_bystander(run)) is not None:
        # The main key sends deletions: it may delete what others created.
        yield lambda operation: None if operation == "deleteEngagement" else member
    allowed = run.scenarios.result_if_any(single_permissions)
    if allowed is not None:
        scoped = {scope: run.fixtures.scoped_key(scope) for scope in SCOPES if scope not in allowed.missing_means}
        yield lambda operation: scoped.get(OPERATIONS[operation].scope or "")
    tried = run.scenarios.result_if_any(two_organizations)
    if tried is not None and tried.own[0] != tried.other[0]:
        other = run.fixtures.other_organization()
        yield lambda _: other
