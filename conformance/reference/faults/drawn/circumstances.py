"""Circumstances of drawn faults: who sends a request, in which state its target is, and since which event.

Their names are parts of the faults' ids. ``permitted`` returns the statuses that the interface permits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import ROLES
from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.reference.faults import operations as op
from conformance.reference.faults.situations import NOTHING, Condition, Situation
from conformance.reference.records import Engagement, Member, Organization

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Target = Engagement | Member | Organization

OF_ENGAGEMENT: Final = (op.READ, op.EDIT, op.DELETE, op.ARCHIVE, op.UNARCHIVE)
OF_MEMBER: Final = (op.ROLE, op.REMOVE)
LISTS: Final = (op.LIST, op.LIST_MEMBERS)
_WITH_BODY: Final = (op.CREATE, op.EDIT, op.RENAME, op.INVITE, op.ROLE)

SCOPED: Final = MappingProxyType({scope.replace(":", "-"): scope for scope in SCOPES})
ACTORS: Final[Mapping[str, str]] = MappingProxyType({
    "any": "", "main": " with a key that has all permissions", "member": " with the key of a member",
    "other": " by another organization",
    **{name: f" with a key that has only {scope}" for name, scope in SCOPED.items()},
    "removed": " with the key of a removed member", "spent": " with a key that has reached its limit",
    "none": " without a key", "wrong": " with an unknown key",
})  # fmt: skip
"""The senders of requests, with their words in titles."""
BARRED: Final = frozenset({"none", "wrong", "removed", "spent"})
"""The senders whose requests must all be refused."""

_LIVE = {"any": "", "new": "new ", "edited": "edited ", "unarchived": "unarchived ", "archived": "archived ",
         "edit-refused": "archived (and edit-refused) ", "rearchived": "twice-archived "}  # fmt: skip
ARCHIVED: Final = ("archived", "edit-refused", "rearchived")
_STATES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({
    "engagement": {**_LIVE, "deleted": "deleted ", "foreign": "another organization's ",
                   "foreign-archived": "another organization's archived "},
    "member": {"any": "", "made": "unchanged ", "changed": "changed ", "changed-back": "changed and restored ",
               "removed": "removed ", "owner": "owner ", "foreign": "another organization's "},
    "organization": {"any": "", "renamed": "renamed ", "renamed-back": "renamed and restored "},
})  # fmt: skip
"""The states of each kind of target, with their words in titles."""

INVALID: Final = "invalid"
"""The state of an operation's target if the body of the request is certainly invalid."""

_UNKNOWN, _GONE = ("none", "wrong"), ("deleted", "removed")
_LATER = 1_000
_EVENTS = MappingProxyType({
    op.CREATE: "creation", op.EDIT: "edit", op.ARCHIVE: "archiving", op.UNARCHIVE: "unarchiving", op.DELETE: "deletion",
    op.RENAME: "renaming", op.INVITE: "invitation", op.ROLE: "role-change", op.REMOVE: "removal",
})  # fmt: skip
_REFUSED_FOR_STATE: Final = frozenset({400, 403, 405, 409, 410, 422, 423})
_DONE: Final = frozenset({200})


def states_of(operation: str) -> Mapping[str, str]:
    """Return the states in which the target of an operation, or a listed item, can be."""
    of_engagements = operation in OF_ENGAGEMENT or operation == op.LIST
    kind = "engagement" if of_engagements else "member" if operation in OF_MEMBER else "organization"
    states = _STATES["member" if operation == op.LIST_MEMBERS else kind]
    if operation in LISTS:  # of the items
        return {name: words for name, words in states.items() if name in _LIVE or name.startswith(("made", "changed"))}
    return {**states, INVALID: ""} if operation in _WITH_BODY else states


def permitted(operation: str, actor: str, state: str) -> frozenset[int]:
    """Return the statuses that the interface permits, 200 for any success; empty if it leaves the response open."""
    scope, lacks = OPERATIONS[operation].scope, False
    if actor in SCOPED and scope != SCOPED[actor]:
        family, action = SCOPED[actor].split(":")
        lacks = scope is not None and (family != OPERATIONS[operation].family or action == "read")
        if not lacks:
            return frozenset()
    if state.startswith("foreign") and actor != "other":
        return frozenset()
    if actor in {"removed", "spent", *_UNKNOWN}:
        alive = state not in {INVALID, *_GONE, "owner"}
        statuses = {"removed": {401, 403}, "spent": {429}}.get(actor, {401})
        return frozenset(statuses if alive else ())
    by_state = _by_state(operation, state)
    if lacks:
        return frozenset({403} if by_state >= _DONE else ())
    return by_state


def _by_state(operation: str, state: str) -> frozenset[int]:
    """Return the statuses that are permitted to a key that may carry out an operation."""
    of_shape = frozenset({400, 403, 415, 422} if operation == op.UNARCHIVE else ())
    rules = {
        INVALID: frozenset({400, 422}),
        **dict.fromkeys(_GONE, of_shape | {404}),
        **dict.fromkeys(("foreign", "foreign-archived"), of_shape | {403, 404}),
        "owner": _REFUSED_FOR_STATE if operation == op.ROLE else frozenset(),
    }
    by_operation = {
        op.UNARCHIVE: _REFUSED_FOR_STATE - {405} | {200} if state in ARCHIVED else frozenset(),
        op.EDIT: _REFUSED_FOR_STATE if state in ARCHIVED else _DONE,
        op.ARCHIVE: frozenset() if state in ARCHIVED else _DONE,
    }
    return rules.get(state, by_operation.get(operation, _DONE))


# --- who


def actor_of(at: Situation) -> str:
    """Return the sender of a request; empty if it is none of ``ACTORS``."""
    key = getattr(at.context, "key", None)
    if key is None:
        token = at.service.bearer_token(at.context)
        if at.service.find_key(token) is not None:
            return "removed"
        return "wrong" if token else "" if "authorization" in at.context.request.headers else "none"
    if at.context.quota.exceeded:
        return "spent"
    if key.organization_id != main_organization(at):
        return "other"
    if key.user_id is not None or len(key.scopes) in range(2, len(SCOPES)) or key.limit:
        return "member" if key.user_id is not None else ""
    return "main" if len(key.scopes) == len(SCOPES) else "".join(key.scopes).replace(":", "-")


def main_organization(at: Situation) -> str:
    """Return the first organization of the service, which every request without a key is about, too."""
    return at.store.organization_ids()[0]


def organization_of(at: Situation) -> str:
    """Return the organization of the key, or the first one."""
    return at.context.organization_id if hasattr(at.context, "key") else main_organization(at)


# --- the state of the target


def target_of(at: Situation) -> Target | None:
    """Return what the request is about, as it is stored: an engagement, a member or the organization."""
    organization, identifier = organization_of(at), at.context.resource_id
    if at.operation in OF_ENGAGEMENT:
        return at.stored
    if at.operation in OF_MEMBER:
        found = (at.store.member(each, identifier) for each in (organization, *at.store.organization_ids()))
        return next((member for member in found if member is not None), None)
    return at.store.organization(organization)


def state_of(at: Situation, target: Target | None) -> str:
    """Return the state of a target or of a listed item; empty if the interface has none for it."""
    match target:
        case Organization():
            names = at.remembered("names of", {}).get(target.id)
            return "" if names is None else "renamed-back" if target.name == names[0] else "renamed"
        case Member():
            return _state_of_member(at, target)
        case Engagement():
            return _state_of_engagement(at, target)
    return {Member: "removed", Engagement: "deleted"}.get(type(last_known(at)), "")


def _state_of_member(at: Situation, member: Member) -> str:
    if member.organization_id != organization_of(at):
        return "foreign"
    first = at.remembered("roles of", {}).get(member.user_id)
    changed = "made" if first is None else "changed-back" if member.role == first else "changed"
    return "owner" if member.role == "owner" else changed


def _state_of_engagement(at: Situation, engagement: Engagement) -> str:
    is_archived, past = engagement.status == "archived", at.remembered("past of", {}).get(engagement.id, ())
    if engagement.organization_id != organization_of(at):
        return "foreign-archived" if is_archived else "foreign"
    if is_archived:
        return "rearchived" if past.count("archived") > 1 else "edit-refused" if "edit refused" in past else "archived"
    return "unarchived" if "archived" in past else "edited" if "edited" in past else "new"


def is_in(state: str, found: str) -> bool:
    """Whether a state that was found is the one of a fault."""
    return state in {"any", found} or (state == "foreign" and found == "foreign-archived")


def last_known(at: Situation) -> Target | None:
    """Return what the request is about as it was last stored."""
    known: Target | None = at.remembered("known", {}).get(at.context.resource_id)
    return known


def is_certainly_invalid(at: Situation) -> bool:
    """Whether the body of a request has an error that every service must refuse."""
    if not isinstance(at.body, dict):
        return True
    texts = {"name", "description", "email", "role"} & at.body.keys()
    required = {op.CREATE: {"name"}, op.INVITE: {"email", "role"}, op.ROLE: {"role"}}.get(at.operation, set())
    role, email = at.body.get("role", ROLES[-1]), at.body.get("email", "@")
    return (
        any(at.body.get(name) is None for name in required)
        or not all(isinstance(at.body[name], str | None) for name in texts)
        or role not in ROLES
        or "@" not in str(email)
    )


def record(at: Situation, before: Target | None, *, lacks_access: bool = False) -> None:
    """Remember what a request did, from its reply and from the target as it was before; a refusal has no reply.

    Args:
        at: The request.
        before: The target before it.
        lacks_access: Whether the key was the reason for a refusal.
    """
    organization = organization_of(at)
    event = _EVENTS.get(at.operation) if at.reply is not None else "refusal"
    at.remembered("events", Counter())[organization, event] += 1
    if isinstance(before, Engagement):
        past = at.remembered("past of", {}).setdefault(before.id, [])
        if at.reply is None:
            is_refused = at.operation == op.EDIT and before.status == "archived" and not lacks_access
            past += ["edit refused"] if is_refused else []
        else:
            past += {op.EDIT: ["edited"], op.ARCHIVE: ["archived"]}.get(at.operation, [])
    if at.reply is None:
        return
    if isinstance(before, Member) and at.operation == op.ROLE:
        at.remembered("roles of", {}).setdefault(before.user_id, before.role)
    if isinstance(before, Organization) and at.operation == op.RENAME:
        at.remembered("names of", {}).setdefault(organization, [before.name])
    if at.operation in {op.CREATE, op.EDIT}:
        at.remembered("used names", set()).add(at.values.get("name"))


# --- since which event


def with_article(words: str) -> str:
    """Return words with an indefinite article."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


@dataclass(frozen=True, slots=True)
class Since:
    """The event since which, or the form of a request in which, a fault shows.

    Args:
        words: Its words in titles.
        holds: Whether a request is affected, if operation, sender and state are; asked once for each such request.
        operations: The operations that it can be about.
    """

    words: str
    holds: Condition
    operations: tuple[str, ...] = tuple(op.ACTIONS)


def _count(at: Situation, of: str = "") -> int:
    counts = at.remembered("counts", Counter())
    counts[of] += 1
    return int(counts[of])


def _every(number: int) -> Condition:
    return lambda at: _count(at) % number == 0


def _from_one(number: int) -> Condition:
    return lambda at: _count(at, at.context.resource_id) >= number


def _after(event: str) -> Condition:
    return lambda at: at.remembered("events", Counter())[organization_of(at), event] > 0


def _asks(*names: str) -> Condition:
    return lambda at: any(name in at.query for name in names)


def _is_full(at: Situation) -> bool:
    meta = at.reply_so_far.content.get("meta", {}) if at.reply else {}
    return bool(meta.get("total")) and meta["total"] % meta["perPage"] == 0


def _is_described(at: Situation) -> bool:
    known = last_known(at)
    if at.context.content:
        return at.field("description") not in (NOTHING, None, "")
    return isinstance(known, Engagement) and bool(known.description)


def _sends(*names: str) -> Condition:
    return lambda at: isinstance(at.body, dict) and at.body.keys() == set(names)


def _is_used_again(at: Situation) -> bool:
    name, is_new = at.field("name"), at.reply is not None and at.operation == op.CREATE
    in_use = sum(other.name == name for other in at.other_engagements) - is_new
    return name in at.remembered("used names", set()) and not in_use


def _email(test: Callable[[str], bool]) -> Condition:
    return lambda at: isinstance(at.field("email"), str) and test(at.field("email"))


_REPEATABLE: Final = (op.READ, op.EDIT, op.ROLE)
SINCE: Final[Mapping[str, Since]] = MappingProxyType({
    "start": Since("", lambda _: True),
    "first": Since(", the first time only", lambda at: _count(at) == 1),
    "second": Since(", every second time", _every(2)),
    "third": Since(", every third time", _every(3)),
    "sixth": Since(", every sixth time", _every(6)),
    "tenth": Since(", every tenth time", _every(10)),
    "second-of-one": Since(", from the second time for the same target", _from_one(2), _REPEATABLE),
    "fifth-of-one": Since(", from the fifth time for the same target", _from_one(5), _REPEATABLE),
    "a-second-later": Since(", from one second after the first time",
                            lambda at: at.now - int(at.remembered("first", at.now)) >= _LATER),
    **{f"after-{event}": Since(f", after {with_article(event.replace('-', ' '))} in the organization", _after(event))
       for event in (*_EVENTS.values(), "refusal")},
    "with-filter": Since(", if a filter is sent", _asks("status", "role"), LISTS),
    "with-page": Since(", if page is sent", _asks("page"), LISTS),
    "with-per-page": Since(", if perPage is sent", _asks("perPage"), LISTS),
    "with-sort": Since(", if sort is sent", _asks("sort"), (op.LIST,)),
    "with-order": Since(", if order is sent", _asks("order"), (op.LIST,)),
    "full-page": Since(", if all pages are full", _is_full, LISTS),
    "described": Since(", if it has a description", _is_described, (op.CREATE, *OF_ENGAGEMENT)),
    "name-only": Since(", if only the name is sent", _sends("name"), (op.EDIT,)),
    "description-only": Since(", if only the description is sent", _sends("description"), (op.EDIT,)),
    "both-fields": Since(", if name and description are sent", _sends("name", "description"), (op.EDIT,)),
    "used-name": Since(", if the name was in use before", _is_used_again, (op.CREATE, op.EDIT)),
    "plus-address": Since(", if the address has a plus sign", _email(lambda text: "+" in text), (op.INVITE,)),
    "capital-address": Since(", if the address has a capital letter", _email(lambda text: text != text.lower()),
    (op.INVITE,)),
})  # fmt: skip
"""The events and forms, by their names in ids."""

INTERMITTENT: Final = ("first", "second", "third", "sixth", "tenth")
"""The events since which a fault does not show in two requests after each other."""


def values_sent(at: Situation) -> dict[str, Any]:
    """Return the values of a request as if it were valid: its parameters, and its texts with others for the rest."""
    if at.operation not in _WITH_BODY:
        at.service.check(at.context)
        return at.values
    body = at.body if isinstance(at.body, dict) else {}
    sent = {name: text for name, text in body.items() if isinstance(text, str) and text.isascii()}
    match at.operation:
        case op.INVITE:
            invited = sent.get("email", "")
            return {"email": invited if "@" in invited else "invited@example.com", "role": "member"}
        case op.ROLE:
            member = target_of(at)
            other = "member" if isinstance(member, Member) and member.role == "admin" else "admin"
            return {"role": sent["role"] if sent.get("role") in ROLES else other}
        case op.CREATE:
            return {"name": sent.get("name", "Untitled"), "description": sent.get("description")}
    texts = {name: text for name, text in sent.items() if name in {"name", "description"}}
    return texts or {"name": "Untitled"}
