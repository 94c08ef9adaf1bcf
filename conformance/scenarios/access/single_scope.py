"""Scenario of keys with few permissions: what they may do, and what they must be refused."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.outcomes import CantTell
from conformance.oracle.permissions import KEYS, MATRIX, Rule, keys_with
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import (
    ON_ENGAGEMENT,
    OTHER_ROLE,
    OperationInputs,
    by_untouchable_member,
    label,
    latest_engagements,
    member_of,
    member_pages,
    unknown_like,
    untouchable_member,
)
from conformance.scenarios.access.reserved_engagements import ReservedEngagements, engagements_in_every_state
from conformance.scenarios.basics import send_creations
from conformance.scenarios.keys_in_turn import RetryNewKeys, key_named
from conformance.scenarios.lists.finding import latest
from conformance.scenarios.renaming import harmless_name
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import Mode
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_MEMBERSHIP: Final = ("updateMemberRole", "removeMember")
"""The operations on a member."""


@dataclass(slots=True)
class Permissions:
    """The results of keys with few permissions, which are named as in ``KEYS``.

    Attributes:
        keys: The keys that the target has.
        cells: The exchanges of each tried key and operationId; several if they must be refused.
        missing_means: The reason why there is no such key.
        missing: Reads with the main key of engagements that an allowed key did not find, each right after that, by id.
        reserved: The engagements that got refused requests only.
        label: The text that refused requests would have left in the list or in the organization's name.
        newest: The newest engagements after the refusals, and after the creations of the allowed key.
        lost: The main key's read of the allowed key's creation, if the list does not show it.
        organization: The organization after the refusals; None if it must not be renamed.
        user: The member that got refused requests only; None if there is none.
        no_member: The reason why there is none.
        members: The list of members before and after the refusals.
        unknown: Updates of a missing engagement, by keys without that permission.
        invalid: Creations with an invalid body, by keys without that permission.
    """

    label: str
    reserved: ReservedEngagements
    keys: dict[str, Credential] = field(default_factory=dict)
    cells: dict[tuple[str, str], list[Exchange]] = field(default_factory=dict)
    missing_means: dict[str, MissingMeans] = field(default_factory=dict)
    missing: dict[str, Exchange] = field(default_factory=dict)
    newest: tuple[Exchange, ...] = ()
    lost: Exchange | None = None
    organization: Exchange | None = None
    user: str | None = None
    no_member: MissingMeans | CantTell | None = None
    members: tuple[tuple[Exchange, ...], tuple[Exchange, ...]] = ((), ())
    unknown: list[Exchange] = field(default_factory=list)
    invalid: list[Exchange] = field(default_factory=list)

    def cell(self, scope: str, operation: str) -> list[Exchange]:
        """Return the exchanges of a key and an operation, at least one.

        Raises:
            MissingMeans: There is no such key, or no member to try it on.
            CantTell: The service created no engagement to try it on, or a guard withheld the request.
        """
        if scope in self.missing_means:
            raise MissingMeans(self.missing_means[scope].need, self.missing_means[scope].reason)
        if (scope, operation) in self.cells:
            return self.cells[scope, operation]
        if operation in _MEMBERSHIP and self.no_member is not None:
            raise self.no_member
        if not self.reserved.ids and OPERATIONS[operation].parameter is not None:
            raise CantTell(f"there was no engagement that {operation} could be tried on")
        raise CantTell(f"{operation} could not be tried without harm to others' data")

    @property
    def used_keys(self) -> tuple[tuple[str, Credential], ...]:
        """The keys that were tried and that the service knows, with their names."""
        tried = {scope for scope, _ in self.cells}
        return tuple((scope, key) for scope, key in self.keys.items() if scope in tried and not self.is_unknown(scope))

    def is_unknown(self, scope: str) -> bool:
        """Whether the service does not know a key."""
        responses = [
            exchange.received
            for (own, _), exchanges in self.cells.items()
            for exchange in exchanges
            if own == scope and exchange.judgeable
        ]
        return bool(responses) and all(
            response is not None and response.status == HTTPStatus.UNAUTHORIZED for response in responses
        )


@scenario(alone=True)
def single_permissions(run: Run) -> Permissions:
    """Call every operation with keys that have a single permission, several, or none."""
    tried = Permissions(label(run, "forbidden"), run.scenarios.result(engagements_in_every_state))
    sender = RetryNewKeys(run)
    _find_keys(run, tried)
    _try_refusals(run, sender, tried)
    _try_other_requests(run, sender, tried)
    return tried


def _find_keys(run: Run, tried: Permissions) -> None:
    for scope in KEYS:
        try:
            tried.keys[scope] = key_named(run, scope)
        except MissingMeans as missing:
            tried.missing_means[scope] = missing


# --- requests that must be refused


def _try_refusals(run: Run, sender: RetryNewKeys, tried: Permissions) -> None:
    """Send requests that must be refused, permission by permission, on existing resources of the run."""
    pages = _find_member(run, sender, tried)
    inputs = _refused_inputs(run, tried, pages)
    for scope, key in tried.keys.items():
        batch = [
            (name, replace(request, credential=key, repeatable=True))
            for name, request in _refused_requests(run, scope, inputs, tried)
            if _may_be_tried(run, name, tried)
        ]
        exchanges = sender.send_permitted([request for _, request in batch])
        for (name, _), exchange in zip(batch, exchanges, strict=True):
            if exchange is not None:
                tried.cells.setdefault((scope, name), []).append(exchange)
    _try_refusal_order(run, inputs, tried)
    if tried.reserved.ids:
        run.send(latest(run, sort="updatedAt", order="desc"))  # for the ledger
    tried.organization = run.send(requests.get_organization()) if run.mode is Mode.DISPOSABLE else None
    tried.members = (pages, tuple(member_pages(run)) if tried.user is not None else ())


def _refused_requests(
    run: Run, scope: str, inputs: OperationInputs, tried: Permissions
) -> Iterator[tuple[str, Request]]:
    """Yield the requests that a key must be refused, on active engagements; other scenarios try the other states.

    In a quick run each key sends one form of a request, and the keys together all of them.
    """
    for name, request in inputs.batch().items():
        if MATRIX[scope, name] is not Rule.REFUSED:
            continue
        keys = keys_with(Rule.REFUSED, name)
        first, is_last = keys.index(scope), scope == [key for key in tried.keys if key in keys][-1]
        shapes: tuple[Request, ...] = _shapes(name, inputs, is_last=is_last) or (request,)
        here = shapes[first % len(shapes) :][:1] if run.effort is Effort.QUICK else shapes
        for number, shape in enumerate(here):
            is_on_engagement = shape.identifier == inputs.engagement
            target = tried.reserved.turn(first + number, "active") if is_on_engagement else None
            yield name, shape if target is None else replace(shape, identifier=target)


def _shapes(operation: str, inputs: OperationInputs, *, is_last: bool) -> tuple[Request, ...]:
    """Return the variants of an operation's request for a key, which may be the last; none if there is only one."""
    name, description = {"name": inputs.name}, {"description": inputs.description}
    match operation:
        case "listMembers":
            return (
                requests.list_members(page=2),
                requests.list_members(role="member"),
                requests.list_members(),
                requests.list_members(role="admin", perPage=1),
            )
        case "inviteMember":
            return tuple(
                requests.invite_member({"email": inputs.address, "role": role}) for role in ("member", "admin")
            )
        case "updateMemberRole":
            # The last change is to another role than the member has, so that it shows if all are carried out.
            roles = (inputs.role,) if is_last else (OTHER_ROLE[inputs.role], *[inputs.role] * 3)
            return tuple(requests.update_member_role(inputs.user, {"role": role}) for role in roles)
        case "createEngagement":
            return requests.create_engagement(name), requests.create_engagement({**name, **description})
        case "updateEngagement":
            bodies = (description, name, {**name, **description}, {"name": inputs.renamed})
            return tuple(requests.update_engagement(inputs.engagement, body) for body in bodies)
    return ()


def _try_refusal_order(run: Run, inputs: OperationInputs, tried: Permissions) -> None:
    """Send impossible requests with a key without permission, to observe which refusal comes first."""
    without = keys_with(Rule.REFUSED, "createEngagement")
    key = next((key for scope, key in tried.keys.items() if scope in without), None)
    if key is None or run.mode is Mode.READ_ONLY:
        return
    update = requests.update_engagement(inputs.engagement, {"description": inputs.description})
    tried.unknown.append(run.send(replace(update.with_key(key), repeatable=True)))
    tried.invalid.append(run.send(replace(requests.create_engagement([]).with_key(key), repeatable=True)))


def _refused_inputs(run: Run, tried: Permissions, pages: Sequence[Exchange]) -> OperationInputs:
    """Return the inputs of the refused requests; each would have a visible effect, but for the name that stands."""
    member = None if tried.user is None else member_of(pages, tried.user)
    return OperationInputs(
        engagement=unknown_like(tried.reserved.active, run.random("engagements without permission")),
        user=tried.user or "",
        role=OTHER_ROLE.get(str((member or {}).get("role")), "admin"),
        organization=tried.label,
        address=run.address("forbidden"),
        name=tried.label,
        description=tried.label,
        renamed=tried.reserved.name,
    )


def _may_be_tried(run: Run, name: str, tried: Permissions) -> bool:
    operation = OPERATIONS[name]
    if operation.parameter is not None:
        return bool(tried.reserved.ids) if operation.family == "engagements" else tried.user is not None
    if not operation.changes:
        return True
    return run.mode is Mode.DISPOSABLE if operation.family == "organizations" else run.mode is not Mode.READ_ONLY


def _find_member(run: Run, sender: RetryNewKeys, tried: Permissions) -> tuple[Exchange, ...]:
    """Choose the member for requests that must be refused; it must exist for a right refusal."""
    try:
        user_id = run.scenarios.result(untouchable_member).user_id
    except MissingMeans as missing:
        tried.no_member = missing
        return ()
    sender.send_all(by_untouchable_member(run))
    pages = tuple(member_pages(run))
    if member_of(pages, user_id) is None:
        tried.no_member = CantTell("the member to try it on is not in the list", *pages)
    else:
        tried.user = user_id
    return pages


def _engagements(run: Run, names: tuple[str, ...]) -> dict[str, str]:
    """Create an engagement of the run for each name, if the mode allows that and the service creates them."""
    if run.mode is Mode.READ_ONLY:
        return {}
    bodies = [{"name": run.name(f"for-{name}"), "description": "Made for a single key"} for name in names]
    made = send_creations(run, bodies)
    return {
        name: found
        for name, creation in zip(names, made, strict=True)
        if (found := read.identifier_or_none(creation)) is not None
    }


# --- requests that are allowed, and requests that are open


def _try_other_requests(run: Run, sender: RetryNewKeys, tried: Permissions) -> None:
    """Send requests that are allowed or open, on resources that nothing else needs: step by step, all keys at once."""
    targets = _engagements(run, ("engagements:write", "engagements:delete", "four permissions", "other"))
    organization = harmless_name(tried.organization)
    planned: list[tuple[str, str, Request]] = []
    for scope, key in tried.keys.items():
        inputs = OperationInputs(
            engagement=targets.get(scope, targets.get("other", "")),
            organization=organization,
            address=run.address("permitted"),
            name=run.name("permitted"),
            description="With a single permission",
            renamed=run.name("permitted"),
        )
        own = _own_resources(scope, tried.reserved)
        planned += [
            (scope, name, replace(request, identifier=own.get(name, request.identifier), credential=key))
            for name, request in _other_requests(run, scope, inputs)
        ]
    after_reading = _refused_after_reading(run, tried)
    for step in ([name for name in OPERATIONS if name not in ON_ENGAGEMENT], *[[name] for name in ON_ENGAGEMENT]):
        batch = [entry for entry in planned if entry[1] in step]
        due = [cell for cell in after_reading if any(exchange.accepted for exchange in tried.cells.get(cell, []))]
        batch += [after_reading.pop(cell) for cell in due]
        exchanges = sender.send_permitted([request for _, _, request in batch])
        for (scope, name, request), exchange in zip(batch, exchanges, strict=True):
            if exchange is None:
                continue
            tried.cells.setdefault((scope, name), []).append(exchange)
            if MATRIX[scope, name] is Rule.ALLOWED and request.identifier is not None and exchange.missed:
                tried.missing[request.identifier] = run.send(requests.get_engagement(request.identifier))
    _look_for_created(run, tried)
    if "organizations:write" in tried.keys and run.mode is Mode.DISPOSABLE:
        _try_membership(run, tried.keys["organizations:write"], tried)


def _refused_after_reading(run: Run, tried: Permissions) -> dict[tuple[str, str], tuple[str, str, Request]]:
    """Return changes that a key must be refused, by the key and its read of the same resource, which comes before.

    A service may remember that. It may confuse requests at once, so they are sent with others that are allowed.
    """
    edit = requests.update_engagement(tried.reserved.active or "", {"description": tried.label})
    renaming = requests.update_organization({"name": tried.label})
    changes = {("engagements:read", "getEngagement"): edit, ("organizations:read", "getCurrentOrganization"): renaming}
    return {
        (scope, reading): (
            scope,
            change.operation.id,
            replace(change, credential=tried.keys[scope], repeatable=True),
        )
        for (scope, reading), change in changes.items()
        if scope in tried.keys and _may_be_tried(run, change.operation.id, tried)
    }


def _own_resources(scope: str, reserved: ReservedEngagements) -> dict[str, str]:
    """Return the resources that a key does not share with others, by operationId.

    Reads use what refused requests left unchanged. A key that may not archive gets an archived engagement to unarchive,
    so that a later list shows whether a refused request did that.
    """
    own = {}
    if reserved.active is not None and scope == "engagements:read":
        own["getEngagement"] = reserved.active
    if reserved.archived is not None and MATRIX[scope, "archiveEngagement"] is not Rule.ALLOWED:
        own["unarchiveEngagement"] = reserved.archived
    return own


def _look_for_created(run: Run, tried: Permissions) -> None:
    """Read with the main key what a single-permission key has created, and what no key should have."""
    if not tried.reserved.ids:
        return
    tried.newest = tuple(latest_engagements(run, status="active", sort="name"))
    created = tried.cells.get(("engagements:write", "createEngagement"), [])
    made = next(map(read.identifier_or_none, created), None)
    listed = {read.id_of(item) for page in tried.newest for item in readable_resources(page)}
    if made is not None and made not in listed:
        tried.lost = run.send(requests.get_engagement(made))


def _other_requests(run: Run, scope: str, inputs: OperationInputs) -> list[tuple[str, Request]]:
    """Return the requests that a key may or might send, without those on members.

    A key with a single permission creates with a description, others without.
    """
    batch = inputs.batch()
    if scope in SCOPES:
        batch["createEngagement"] = requests.create_engagement({"name": inputs.name, "description": inputs.description})
    names = ["getCurrentOrganization", "listMembers", "listEngagements"]
    if run.mode is not Mode.READ_ONLY:
        names.append("createEngagement")
    if run.mode is Mode.DISPOSABLE:
        names += ["updateCurrentOrganization", "inviteMember"]
    if inputs.engagement:
        names += ON_ENGAGEMENT
    return [(name, batch[name]) for name in names if MATRIX[scope, name] is not Rule.REFUSED]


def _try_membership(run: Run, key: Credential, tried: Permissions) -> None:
    """Change an admin to member and remove it, with the allowed key; otherwise remove admins."""
    try:
        user_id = run.fixtures.member("admin").user_id
    except MissingMeans as missing:
        tried.no_member = tried.no_member or missing
        return
    demotion, removal = (requests.update_member_role(user_id, {"role": "member"}), requests.remove_member(user_id))
    demoted = run.send(demotion.with_key(key))
    if demoted.received_status == HTTPStatus.NOT_FOUND:
        # The interface does not make members, so it does not promise that they are there at once.
        run.wait_until(lambda: member_of(member_pages(run), user_id) is not None, pause=1.0)
        demoted = run.send(demotion.with_key(key))
    member_pages(run)  # for the ledger, which judges whether the role changed
    for name, exchange in zip(_MEMBERSHIP, (demoted, run.send(removal.with_key(key))), strict=True):
        tried.cells["organizations:write", name] = [exchange]
