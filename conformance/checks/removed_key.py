"""What a member's key is allowed before the member's removal, and the same sent again after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.checks.role_changes import OTHER_ROLE
from conformance.oracle import read
from conformance.oracle.judgement import Undecided
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.wire.call import Call, Credential
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Attempt:
    """One operation with the member's key, allowed before the removal and tried again after it."""

    before: Exchange
    after: Exchange


@dataclass(frozen=True, slots=True)
class Allowed:
    """An operation that the member's key was allowed, and the call to send after the removal.

    The later call is proper in itself, on what is there then, so that nothing but the removal can refuse it.
    """

    before: Exchange
    later: Call

    @property
    def removes(self) -> bool:
        """Whether it is the removal of a member."""
        return self.later.operation.id == "removeMember"


def beforehand(run: Run, key: Credential, others: Sequence[tuple[str, str]]) -> tuple[Allowed, ...]:
    """Use a member's key for every operation, on engagements of the run and on members that it may touch.

    Args:
        run: The run.
        key: The member's key.
        others: Identifiers and roles of further members that the run may touch: the first one's role is changed, and
            it must not be removed after; the second one is removed now.

    Returns:
        The operations that it was allowed, those that only read first.
    """
    organization = run.send(call.get_organization())
    name = read.text(read.data(organization), "name", organization)
    edited, archived = (_id(made) for made in run.send_all([_creation(run), _creation(run)]))
    pairs = [
        (call.get_organization(), call.get_organization()),
        (call.list_engagements(), call.list_engagements()),
        (call.list_members(), call.list_members()),
        (call.get_engagement(edited), call.get_engagement(edited)),
        (call.update_organization({"name": name}), call.update_organization({"name": name})),
        (_edit(run, edited), _edit(run, edited)),
        (_invitation(run), _invitation(run)),
        (_creation(run), _creation(run)),
        (call.archive_engagement(archived), call.archive_engagement(edited)),
        *_on_members(others),
    ]
    allowed = _try(run, key, pairs)
    allowed += _try(run, key, _on_own(allowed, archived))
    # What is unarchived after the removal is archived then, as it was when that was allowed.
    run.send(call.archive_engagement(archived))
    return tuple(allowed)


def afterwards(run: Run, allowed: tuple[Allowed, ...]) -> tuple[Attempt, ...]:
    """Send everything that was allowed once more, at once."""
    later = run.send_all([one.later for one in allowed])
    return tuple(Attempt(one.before, after) for one, after in zip(allowed, later, strict=True))


def _try(run: Run, key: Credential, pairs: list[tuple[Call, Call]]) -> list[Allowed]:
    answers = run.send_all([before.with_key(key) for before, _ in pairs])
    return [
        Allowed(answer, later.with_key(key))
        for answer, (_, later) in zip(answers, pairs, strict=True)
        if answer.succeeded
    ]


def _on_members(others: Sequence[tuple[str, str]]) -> list[tuple[Call, Call]]:
    if not others:
        return []
    stays, role = others[0]
    change, back = (call.update_member_role(stays, {"role": given}) for given in (OTHER_ROLE[role], role))
    return [(change, back), *[(call.remove_member(leaves), call.remove_member(stays)) for leaves, _ in others[1:2]]]


def _on_own(allowed: list[Allowed], archived: str) -> list[tuple[Call, Call]]:
    """Unarchive what was archived, and delete what was created, with the member's key in both cases."""
    unarchive = call.unarchive_engagement(archived)
    created = [one.before for one in allowed if one.before.call.operation.id == "createEngagement"]
    later = call.delete_engagement(archived)
    return [(unarchive, unarchive), *[(call.delete_engagement(_id(exchange)), later) for exchange in created]]


def _creation(run: Run) -> Call:
    return call.create_engagement({"name": run.name("membership")})


def _edit(run: Run, identifier: str) -> Call:
    return call.update_engagement(identifier, {"description": run.name("edit")})


def _invitation(run: Run) -> Call:
    return call.invite_member({"email": run.address("by-member"), "role": "member"})


def _id(exchange: Exchange) -> str:
    try:
        return read.text(read.data(exchange), "id", exchange)
    except Undecided as doubt:
        raise Undecided(f"no engagement to use the member's key on: {doubt.message}", exchange) from doubt
