"""The journey of keys that have one permission each: what they may do, and what they must be refused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.checks.aims import (
    Aim,
    identifier,
    label,
    latest_engagements,
    member_of,
    member_pages,
    spare_member,
    unknown_like,
)
from conformance.operations import OPERATIONS, SCOPES
from conformance.oracle import read
from conformance.oracle.judgement import Judgement, Undecided
from conformance.oracle.permissions import MATRIX, Permission
from conformance.running.options import Mode
from conformance.target.capabilities import Unavailable
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.running.run import Run
    from conformance.wire.call import Call, Credential
    from conformance.wire.exchange import Exchange

_LIFE: Final = ("getEngagement", "updateEngagement", "archiveEngagement", "unarchiveEngagement", "deleteEngagement")
"""The operations of one engagement, in an order in which each can succeed."""
MEMBERSHIP: Final = ("updateMemberRole", "removeMember")
"""The operations of one member."""
_UNAUTHORIZED: Final = 401


@dataclass(slots=True)
class Permissions:
    """What came of keys with a single permission.

    Attributes:
        cells: The exchange of each permission and operationId that could be tried.
        lacking: Why a permission has no key.
        kept: Reads of the engagements that only refused requests were aimed at, before and after, by operationId.
        label: What refused requests would have left in the list or as the organization's name.
        newest: The newest engagements after the refusals.
        organization: The organization after the refusals; None where it was not to be renamed.
        user: The member whom only refused requests were aimed at; None where there is none.
        no_member: Why there is none.
        members: The list of members before and after the refusals.
        unknown: Updates of an engagement that does not exist, by keys without that permission.
        invalid: Creations with an invalid body, by keys without that permission.
    """

    label: str
    cells: dict[tuple[str, str], Exchange] = field(default_factory=dict)
    lacking: dict[str, Unavailable] = field(default_factory=dict)
    kept: dict[str, tuple[Exchange, Exchange]] = field(default_factory=dict)
    newest: tuple[Exchange, ...] = ()
    organization: Exchange | None = None
    user: str | None = None
    no_member: Unavailable | Undecided | None = None
    members: tuple[tuple[Exchange, ...], tuple[Exchange, ...]] = ((), ())
    unknown: list[Exchange] = field(default_factory=list)
    invalid: list[Exchange] = field(default_factory=list)

    def cell(self, scope: str, operation: str) -> Exchange:
        """The exchange of a permission and an operation.

        Raises:
            Unavailable: There is no key with that permission, or no member to try it on.
            Undecided: The service made no engagement to try it on.
        """
        if scope in self.lacking:
            raise Unavailable(f"key:{scope}", self.lacking[scope].reason)
        if (scope, operation) in self.cells:
            return self.cells[scope, operation]
        if operation in MEMBERSHIP and self.no_member is not None:
            raise self.no_member
        raise Undecided(f"there was no engagement that {operation} could be tried on")

    def is_unknown(self, scope: str) -> bool:
        """Whether the service takes the key of a permission for none at all."""
        answers = [one for (own, _), one in self.cells.items() if own == scope and one.judgeable]
        return bool(answers) and all(one.status == _UNAUTHORIZED for one in answers)


def single_permissions(run: Run) -> Permissions:
    """Every operation is called with keys that have one permission each."""
    tried = Permissions(label(run, "forbidden"))
    keys = _keys(run, tried)
    _try_refusals(run, keys, tried)
    _try_the_rest(run, keys, tried)
    return tried


def _keys(run: Run, tried: Permissions) -> dict[str, Credential]:
    keys = {}
    for scope in SCOPES:
        try:
            keys[scope] = run.fixtures.scoped_key(scope)
        except Unavailable as reason:
            tried.lacking[scope] = reason
    return keys


# --- what must be refused


def _try_refusals(run: Run, keys: Mapping[str, Credential], tried: Permissions) -> None:
    """Try what must be refused, permission after permission, on what exists and is the run's own."""
    targets = _refusal_targets(run)
    before = _reads(run, targets)
    pages = _find_member(run, tried)
    aim = _aim(run, tried, next(iter(targets.values()), None))
    for scope, key in keys.items():
        calls = {
            name: replace(one, identifier=targets.get(name, one.identifier), credential=key, repeatable=True)
            for name, one in aim.calls().items()
            if MATRIX[scope, name] is Permission.REFUSED and _may_be_tried(run, name, targets, tried)
        }
        exchanges = run.send_all(list(calls.values()))
        tried.cells |= {(scope, name): one for name, one in zip(calls, exchanges, strict=True)}
    _try_order(run, keys, aim, tried)
    after = _reads(run, targets)
    tried.kept = {name: (before[name], after[name]) for name in targets}
    tried.newest = tuple(latest_engagements(run, status="active", sort="name")) if targets else ()
    tried.organization = run.send(call.get_organization()) if run.mode is Mode.DISPOSABLE else None
    tried.members = (pages, tuple(member_pages(run)) if tried.user is not None else ())


def _try_order(run: Run, keys: Mapping[str, Credential], aim: Aim, tried: Permissions) -> None:
    """Ask with a key without permission for what cannot be done either: which refusal comes first?"""
    key = next((key for scope, key in keys.items() if MATRIX[scope, "createEngagement"] is Permission.REFUSED), None)
    if key is None or run.mode is Mode.READ_ONLY:
        return
    update = call.update_engagement(aim.engagement, {"description": aim.description})
    tried.unknown.append(run.send(replace(update.with_key(key), repeatable=True)))
    tried.invalid.append(run.send(replace(call.create_engagement([]).with_key(key), repeatable=True)))


def _aim(run: Run, tried: Permissions, shape: str | None) -> Aim:
    """What the refused calls say; each would show, were it carried out."""
    return Aim(
        engagement=unknown_like(shape, run.random("engagements without permission")),
        user=tried.user or "",
        role="admin",
        organization=tried.label,
        address=run.address("forbidden"),
        name=tried.label,
        description=tried.label,
    )


def _may_be_tried(run: Run, name: str, targets: Mapping[str, str], tried: Permissions) -> bool:
    operation = OPERATIONS[name]
    if operation.parameter is not None:
        return name in targets if operation.family == "engagements" else tried.user is not None
    if not operation.changes:
        return True
    return run.mode is Mode.DISPOSABLE if operation.family == "organizations" else run.mode is not Mode.READ_ONLY


def _find_member(run: Run, tried: Permissions) -> tuple[Exchange, ...]:
    """Choose the member for requests that must be refused, who must be there for them to be refused rightly."""
    try:
        user_id = run.journeys.result(spare_member).user_id
    except Unavailable as reason:
        tried.no_member = reason
        return ()
    pages = tuple(member_pages(run))
    if member_of(pages, user_id) is None:
        tried.no_member = Undecided("the member to try it on is not in the list", *pages)
    else:
        tried.user = user_id
    return pages


def _refusal_targets(run: Run) -> dict[str, str]:
    """The engagement for each operation, so that none that is wrongly carried out spoils the refusal of another."""
    made = _engagements(run, ("updateEngagement", "archiveEngagement", "deleteEngagement"))
    return made | ({"getEngagement": made["updateEngagement"]} if "updateEngagement" in made else {})


def _reads(run: Run, targets: Mapping[str, str]) -> dict[str, Exchange]:
    """A read of each target, those that are the same read once."""
    reads = {target: run.send(call.get_engagement(target)) for target in dict.fromkeys(targets.values())}
    return {name: reads[target] for name, target in targets.items()}


def _engagements(run: Run, names: tuple[str, ...]) -> dict[str, str]:
    """An engagement of the run for each name, where engagements may be made and the service makes them."""
    if run.mode is Mode.READ_ONLY:
        return {}
    made = run.send_all([call.create_engagement({"name": run.name(f"for-{name}")}) for name in names])
    return {name: found for name, one in zip(names, made, strict=True) if (found := identifier(one)) is not None}


# --- what is allowed, and what is open


def _try_the_rest(run: Run, keys: Mapping[str, Credential], tried: Permissions) -> None:
    """Try what is allowed or open, on what nothing else needs any more: step by step, all keys at once."""
    spent = _engagements(run, ("engagements:write", "engagements:delete", "other"))
    organization = _name(tried.organization)
    planned: list[tuple[str, str, Call]] = []
    for scope, key in keys.items():
        aim = Aim(
            engagement=spent.get(scope, spent.get("other", "")),
            user="",
            role="",
            organization=organization,
            address=run.address("permitted"),
            name=run.name("permitted"),
            description="A key with one permission wrote this.",
        )
        planned += [(scope, name, one.with_key(key)) for name, one in _rest(run, scope, aim)]
    for step in ([name for name in OPERATIONS if name not in _LIFE], *[[name] for name in _LIFE]):
        calls = [one for one in planned if one[1] in step]
        exchanges = run.send_all([one for _, _, one in calls])
        tried.cells |= {(scope, name): one for (scope, name, _), one in zip(calls, exchanges, strict=True)}
    if "organizations:write" in keys and run.mode is Mode.DISPOSABLE:
        _try_membership(run, keys["organizations:write"], tried)


def _rest(run: Run, scope: str, aim: Aim) -> list[tuple[str, Call]]:
    """The calls that a key may make or perhaps make, members aside."""
    calls = aim.calls()
    names = ["getCurrentOrganization", "listMembers", "listEngagements"]
    if run.mode is not Mode.READ_ONLY:
        names.append("createEngagement")
    if run.mode is Mode.DISPOSABLE:
        names += ["updateCurrentOrganization", "inviteMember"]
    if aim.engagement:
        names += _LIFE
    return [(name, calls[name]) for name in names if MATRIX[scope, name] is not Permission.REFUSED]


def _name(organization: Exchange | None) -> str | None:
    """The name that the organization has; None where that was not, or cannot be, read."""
    try:
        return None if organization is None else read.text(read.data(organization), "name", organization)
    except Judgement:
        return None


def _try_membership(run: Run, key: Credential, tried: Permissions) -> None:
    """Change and remove a member with the key that may."""
    try:
        user_id = run.fixtures.member().user_id
    except Unavailable as reason:
        tried.no_member = tried.no_member or reason
        return
    calls = (call.update_member_role(user_id, {"role": "admin"}), call.remove_member(user_id))
    for name, one in zip(MEMBERSHIP, calls, strict=True):
        tried.cells["organizations:write", name] = run.send(one.with_key(key))
