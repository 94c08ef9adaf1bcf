"""Requests that must be refused, in combinations of operation, key and state that the run has not tried before."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING

from conformance.oracle.coverage import CHANGED, CHANGED_BACK, MADE, NONE, REMOVED_MEMBER, RENAMED, WRONG, Cell, reached
from conformance.oracle.permissions import MATRIX, Permission
from conformance.running.options import Effort, Mode
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import (
    OTHER_ROLE,
    OperationInputs,
    label,
    member_pages,
)
from conformance.scenarios.access.reserved_engagements import ReservedEngagements, engagements_in_every_state
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.access.unauthenticated import NO_KEY, bad_keys, new_member
from conformance.scenarios.members.removal import removal
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request


@scenario(alone=True)
def untried_refusals(run: Run) -> tuple[Exchange, ...]:
    """Send what keys must be refused: about engagements in every state, a member, and the organization.

    The run has not tried these combinations of operation, key and state yet. A walk begins this while the organization
    is renamed. A run that is not quick also changes the role of a member that was made for it, and changes it back.

    Returns:
        The exchanges with the key of the removed member.
    """
    member = _member(run)
    role = OTHER_ROLE["member" if member is None else member.role or "member"]
    sent = _try(run, member, MADE, role)
    if member is not None and run.effort is not Effort.QUICK:
        for state, now in ((CHANGED, role), (CHANGED_BACK, OTHER_ROLE[role])):
            run.send(requests.update_member_role(member.user_id, {"role": now}))
            sent += _try(run, member, state, OTHER_ROLE[now])
        member_pages(run)
    return tuple(sent)


def _try(run: Run, member: Member | None, state: str, role: str) -> list[Exchange]:
    """Send what was not tried yet; return the exchanges with the key of the removed member."""
    keys, tried, lost = dict(_keys(run)), reached(run.wire.exchanges), _lost_operations(run)
    asked = {
        cell: request
        for cell, request in _refusals(run, keys, member, state, role)
        if cell not in tried and (cell.key != REMOVED_MEMBER or (cell.operation in lost and _is_valid(run, request)))
    }
    turns = {kind: cycle(of_kind) for kind, of_kind in keys.items()}
    batch = [replace(request, credential=next(turns[cell.key]), repeatable=True) for cell, request in asked.items()]
    sent = zip(asked, run.send_permitted(batch), strict=True)
    return [exchange for cell, exchange in sent if cell.key == REMOVED_MEMBER and exchange is not None]


def _keys(run: Run) -> Iterator[tuple[str, list[Credential]]]:
    """Yield the kinds of keys that must be refused something, with the keys of each that the run has used."""
    yield NONE, [NO_KEY]
    bad = run.scenarios.result_if_any(bad_keys)
    unknown = [] if bad is None else [sent.exchange.request.credential for sent in bad.sent["unknown"]]
    if any(unknown):
        yield WRONG, [key for key in unknown if key is not None]
    if (single := run.scenarios.result_if_any(single_permissions)) is not None:
        used = {scope: exchanges[0].request.credential for (scope, _), exchanges in single.cells.items()}
        yield from ((scope, [key]) for scope, key in used.items() if key is not None and not single.is_unknown(scope))
    done = run.scenarios.result_if_any(removal)
    if done is not None and done.response.accepted and done.member.credential is not None:
        yield REMOVED_MEMBER, [done.member.credential]


def _lost_operations(run: Run) -> frozenset[str]:
    """Return the operations that the key of the removed member was allowed before; only they must be refused now."""
    done = run.scenarios.result_if_any(removal)
    return frozenset(attempt.before.request.operation.id for attempt in (() if done is None else done.attempts))


def _is_valid(run: Run, request: Request) -> bool:
    """Whether the state of an engagement is no other reason to refuse a request."""
    reserved = run.scenarios.result_if_any(engagements_in_every_state)
    if reserved is None or request.operation.parameter != "id":
        return True
    status = reserved.status(request.identifier or "")
    needed = {"updateEngagement": "active", "archiveEngagement": "active", "unarchiveEngagement": "archived"}
    return status is not None and needed.get(request.operation.id, status) == status


def _refusals(
    run: Run, kinds: Iterable[str], member: Member | None, state_of_member: str, role: str
) -> Iterator[tuple[Cell, Request]]:
    """Yield what each kind of key must be refused; each request would have a visible effect if it were carried out.

    Args:
        run: The run.
        kinds: The kinds of keys.
        member: The member that requests are about; None for no such requests.
        state_of_member: Its state.
        role: The role that it does not have.
    """
    reserved = run.scenarios.result_if_any(engagements_in_every_state) or ReservedEngagements({}, {})
    name = label(run, "untried")
    inputs = OperationInputs(
        engagement="",
        user="",
        role=role,
        organization=name,
        address=run.address("untried"),
        name=name,
        description=name,
        renamed=name,
    )
    organization: dict[str, str | None] = {RENAMED: None} if run.mode is Mode.DISPOSABLE else {}
    targets: dict[str | None, Mapping[str, str | None]] = {
        None: organization,
        "id": {str(state): identifier for state, identifier in reserved.ids.items()},
        "userId": {} if member is None else {state_of_member: member.user_id},
    }
    for operation, request in inputs.batch().items():
        for state, identifier in targets[request.operation.parameter].items():
            for kind in kinds:
                if MATRIX.get((kind, operation), Permission.REFUSED) is Permission.REFUSED:
                    yield Cell(operation, kind, state), replace(request, identifier=identifier)


def _member(run: Run) -> Member | None:
    """Return the member for requests that must be refused, if it was made for the run and not removed since."""
    member = new_member(run)
    done = [exchange.request for exchange in run.wire.exchanges if exchange.accepted]
    gone = {request.identifier for request in done if request.operation.id == "removeMember"}
    return None if member is None or member.user_id in gone else member
