"""Requests that must be refused, in combinations of operation, key and state that the run has not tried before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS
from conformance.oracle.permissions import MATRIX, Rule
from conformance.running.coverage import (
    CHANGED,
    CHANGED_BACK,
    MADE,
    NONE,
    REMOVED_MEMBER,
    RENAMED,
    WRONG,
    Cell,
    reached,
)
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import OTHER_ROLE, OperationInputs, label, member_pages
from conformance.scenarios.access.reserved_engagements import ReservedEngagements, engagements_in_every_state
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.access.unauthenticated import NO_KEY, new_member, wrong_keys
from conformance.scenarios.members.member_list import removed_members
from conformance.scenarios.members.removal import removal
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request


_BY_TURNS: Final = ((NONE, WRONG), ("organizations:read", "organizations:write"))
"""Kinds of keys that are refused for the same reason, and that a quick run tries in different states."""


@scenario(alone=True)
def untried_refusals(run: Run) -> tuple[Exchange, ...]:
    """Send what keys must be refused: about engagements in every state, a member, and the organization.

    The run has not tried these combinations of operation, key and state yet. A walk begins this while the organization
    is renamed. A run that is not quick also changes the role of a member that was made for it, and changes it back.

    Returns:
        The exchanges with the key of the removed member.
    """
    member, kinds = new_member(run), [*_kinds(run)]
    if member is not None and member.user_id in removed_members(run):
        member = None
    role = OTHER_ROLE["member" if member is None else member.role or "member"]
    sent = _try(run, kinds, member, MADE, role)
    if member is not None and run.effort is not Effort.QUICK:
        for state, now in ((CHANGED, role), (CHANGED_BACK, OTHER_ROLE[role])):
            run.send(requests.update_member_role(member.user_id, {"role": now}))
            sent += _try(run, kinds, member, state, OTHER_ROLE[now])
        member_pages(run)
    return tuple(sent)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of key.

    Attributes:
        name: Its name in the coverage of a run.
        keys: The keys of this kind that the run has used, at least one.
        refused: The operations that it must be refused, whatever the state of their targets.
        only_valid: Whether a state that is another reason to refuse a request rules it out.
    """

    name: str
    keys: Sequence[Credential]
    refused: Collection[str]
    only_valid: bool = False


def _try(run: Run, kinds: Sequence[_Kind], member: Member | None, state: str, role: str) -> list[Exchange]:
    """Send what was not tried yet; return the exchanges with the key of the removed member."""
    tried = reached(run.wire.exchanges)
    asked = {cell: request for cell, request in _refusals(run, kinds, member, state, role) if cell not in tried}
    turns = {kind.name: cycle(kind.keys) for kind in kinds}
    batch = [replace(request, credential=next(turns[cell.key]), repeatable=True) for cell, request in asked.items()]
    sent = zip(asked, run.send_permitted(batch), strict=True)
    return [exchange for cell, exchange in sent if cell.key == REMOVED_MEMBER and exchange is not None]


def _kinds(run: Run) -> Iterator[_Kind]:
    """Yield the kinds of keys that must be refused something, of those that the run has used."""
    yield _Kind(NONE, [NO_KEY], OPERATIONS)
    wrong = run.scenarios.result_if_any(wrong_keys)
    unknown = [] if wrong is None else [sent.exchange.request.credential for sent in wrong.sent["unknown"]]
    if known := [key for key in unknown if key is not None]:
        yield _Kind(WRONG, known, OPERATIONS)
    single = run.scenarios.result_if_any(single_permissions)
    for scope, key in () if single is None else single.used_keys:
        yield _Kind(scope, [key], {name for name in OPERATIONS if MATRIX[scope, name] is Rule.REFUSED})
    done = run.scenarios.result_if_any(removal)
    if done is not None and done.response.accepted and done.member.credential is not None:
        lost = {attempt.before.operation_id for attempt in done.attempts}
        yield _Kind(REMOVED_MEMBER, [done.member.credential], lost, only_valid=True)


def _refusals(
    run: Run, kinds: Sequence[_Kind], member: Member | None, state_of_member: str, role: str
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
    for row, (operation, request) in enumerate(inputs.batch().items()):
        for column, (state, identifier) in enumerate(targets[request.operation.parameter].items()):
            is_valid = request.operation.parameter != "id" or reserved.permits(operation, identifier)
            refused = {kind.name for kind in kinds if operation in kind.refused and (is_valid or not kind.only_valid)}
            for alike in _BY_TURNS if run.effort is Effort.QUICK else ():
                if refused.issuperset(alike):
                    refused.remove(alike[(row + column) % 2])
            for kind in kinds:
                if kind.name in refused:
                    yield Cell(operation, kind.name, state), replace(request, identifier=identifier)
