"""Operations that a member's key is allowed before the member's removal, sent again after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.access.every_operation import OTHER_ROLE
from conformance.scenarios.access.reserved_engagements import LastChange, engagements_in_every_state
from conformance.scenarios.basics import field_or_none
from conformance.scenarios.keys_in_turn import RetryNewKeys
from conformance.scenarios.renaming import harmless_name
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request


@dataclass(frozen=True, slots=True)
class RepeatedUse:
    """An operation with the member's key, allowed before the removal and tried again after it."""

    before: Exchange
    after: Exchange

    @property
    def is_conclusive(self) -> bool:
        """Whether the effect of the first request was complete at its response, so that it shows that of the second.

        Unarchiving may take effect later.
        """
        return self.before.operation_id != "unarchiveEngagement" or field_or_none(self.before, "status") == "active"


@dataclass(frozen=True, slots=True)
class AllowedOperation:
    """An operation that the member's key was allowed, and the request to send after the removal.

    The later request is valid for the state at that time, so that only the removal is a reason to refuse it.
    """

    before: Exchange
    later: Request


def use_before_removal(
    run: Run, key: Credential, others: Sequence[tuple[str, str]], *, renames: bool
) -> tuple[AllowedOperation, ...]:
    """Use a member's key for every operation, on engagements of the run and on members that it may change.

    The later requests are about the engagement that the key created, if it was allowed to: a removal might overlook
    exactly what belongs to the member.

    Args:
        run: The run.
        key: The member's key.
        others: Identifiers and roles of further members that the run may change: the first one's role is changed, and
            it must not be removed afterwards; the second one is removed now.
        renames: Whether the organization gets another name; otherwise it is updated without a change.

    Returns:
        The operations that were allowed, reads first.
    """
    name = run.name("by-member") if renames else harmless_name(run.send(requests.get_organization()))
    sender, rename = RetryNewKeys(run), requests.update_organization({} if name is None else {"name": name})
    again = requests.update_organization({"name": run.name("by-removed")}) if renames else rename
    renamings = _try(sender, key, [(rename, again)])
    archived = _id(run.send(_creation(run)))
    freed = requests.create_engagement({"name": _freed_name(run)})  # the name of a deleted engagement is no duplicate
    creations = _try(sender, key, [(_creation(run), _creation(run)), (freed, _creation(run))])
    own, *others_created = [_id(creation.before) for creation in creations] or [_id(run.send(_creation(run)))]
    others_created = [identifier for identifier in others_created if identifier not in {own, archived}]
    pairs = [
        (requests.get_organization(), requests.get_organization()),
        (requests.list_engagements(status="active"), requests.list_engagements(status="active")),
        (requests.list_members(), requests.list_members()),
        (requests.get_engagement(own), requests.get_engagement(own)),
        (_edit(run, own, claims=True), _edit(run, own)),
        (_invitation(run, "admin"), _invitation(run, "member")),
        (requests.archive_engagement(archived), requests.archive_engagement(own)),
        *_on_members(others),
    ]
    unarchive = requests.unarchive_engagement(archived)
    last = [
        (unarchive, unarchive),
        *[(requests.delete_engagement(identifier), requests.delete_engagement(own)) for identifier in others_created],
    ]
    allowed = [*_try(sender, key, pairs), *renamings, *creations[:1], *_try(sender, key, last)]
    if not any(operation.before.operation_id == "inviteMember" for operation in allowed):  # of an admin
        allowed += _try(sender, key, [(_invitation(run, "member"), _invitation(run, "member"))])
    # The engagement to unarchive is archived again first, as it was when unarchiving was allowed.
    run.send(requests.archive_engagement(archived))
    return tuple(allowed)


def use_after_removal(run: Run, allowed: tuple[AllowedOperation, ...]) -> tuple[RepeatedUse, ...]:
    """Send everything that was allowed again, all at once."""
    later = run.send_permitted([operation.later for operation in allowed])
    pairs = zip(allowed, later, strict=True)
    return tuple(RepeatedUse(operation.before, after) for operation, after in pairs if after is not None)


def _try(sender: RetryNewKeys, key: Credential, pairs: list[tuple[Request, Request]]) -> list[AllowedOperation]:
    responses = sender.send_permitted([before.with_key(key) for before, _ in pairs])
    return [
        AllowedOperation(response, later.with_key(key))
        for response, (_, later) in zip(responses, pairs, strict=True)
        if response is not None and response.succeeded
    ]


def _on_members(others: Sequence[tuple[str, str]]) -> list[tuple[Request, Request]]:
    if not others:
        return []
    stays, role = others[0]
    change, back = (requests.update_member_role(stays, {"role": given}) for given in (OTHER_ROLE[role], role))
    return [
        (change, back),
        *[(requests.remove_member(leaves), requests.remove_member(stays)) for leaves, _ in others[1:2]],
    ]


def _creation(run: Run) -> Request:
    return requests.create_engagement({"name": run.name("membership")})


def _freed_name(run: Run) -> str:
    reserved = run.scenarios.result_if_any(engagements_in_every_state)
    return run.name("membership") if reserved is None or LastChange.DELETED not in reserved.ids else reserved.freed


def _edit(run: Run, identifier: str, *, claims: bool = False) -> Request:
    """Return an edit, with a status of the client if the service has ignored one from the main key."""
    sent = {"name": run.name("edit"), "description": run.name("edit")}
    claim = {"status": "archived"} if claims and _ignores_status(run) else {}
    return requests.update_engagement(identifier, sent | claim)


def _ignores_status(run: Run) -> bool:
    """Whether the service has accepted an edit of the main key with a status."""
    return any(
        edit.by_main_key and edit.accepted and "status" in edit.sent_fields
        for edit in of_operation(run.wire.exchanges, "updateEngagement")
    )


def _invitation(run: Run, role: str) -> Request:
    return requests.invite_member({"email": run.address("by-member"), "role": role})


def _id(exchange: Exchange) -> str:
    try:
        return read.identifier(exchange)
    except CantTell as doubt:
        raise CantTell(f"no engagement to use the member's key on: {doubt.message}", exchange) from doubt
