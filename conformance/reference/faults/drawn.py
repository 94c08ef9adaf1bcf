"""Drawn faults, composed of a deviation, an operation, a sender, a state of the target, and the event since when.

Their parts make their ids, from which they are built: ``drawn-DEVIATION.OPERATION.SENDER.STATE.EVENT``. Only what the
interface forbids is a fault. They are not in the list of all faults; a self-test draws some of them by a seed.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.operations import OPERATIONS
from conformance.reference.records import Page, Subordinate
from conformance.reference.refusal import Refusal

from . import DRAWN
from . import operations as op
from .circumstances import (
    ACTORS,
    ARCHIVED,
    INTERMITTENT,
    INVALID,
    LISTS,
    SCOPED,
    SINCE,
    actor_of,
    is_certainly_invalid,
    is_in,
    permitted,
    record,
    state_of,
    states_of,
    target_of,
    with_article,
)
from .deviations import DEVIATIONS, Case, Deviation, NotDoneError
from .mutations import Method, Mutation, at_step, fault, wrap
from .operations import NAMES
from .pages import cut, list_deleted, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service

    from . import Fault
    from .situations import Situation


_SUCCESS = 200
_EVERYONE, _BARRED = frozenset({"any", "main"}), frozenset({"none", "wrong", "removed", "spent"})
_OF_BOTH, _OF_REFUSALS = ("refused", "headers"), ("accepted", "refused-done", "refused-time", "envelope")
"""The families about requests that succeed or must be refused, and about those that must be refused."""
_CONFIRMED = frozenset({"stale", "items", "totals", "pages", "filter", "order", "field-wrong"})
_OF_ITEMS = frozenset({"item-missing", "item-twice"})
_DRAWS = 10_000
_PLAIN = 0.5
"""The probability with which a drawn fault leaves the sender, the state or the event open."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The names of a drawn fault's parts.

    Args:
        deviation: What the service does wrong.
        operation: The operationId.
        actor: The sender of the request.
        state: The state of the target, or of an item of a list.
        since: The event since which the fault shows, or the form of the requests in which it does.
    """

    deviation: str
    operation: str
    actor: str
    state: str
    since: str

    @property
    def id(self) -> str:
        """The id of the fault."""
        return DRAWN + ".".join((self.deviation, NAMES[self.operation], self.actor, self.state, self.since))

    @property
    def kind(self) -> Deviation:
        """The deviation."""
        return DEVIATIONS[self.deviation]

    @property
    def permitted(self) -> frozenset[int]:
        """The statuses that the interface permits, 200 for a success."""
        return permitted(self.operation, self.actor, self.state)

    @property
    def succeeds(self) -> bool:
        """Whether the fault affects requests that succeed, not those that must be refused."""
        return _SUCCESS in self.permitted

    @property
    def is_scope_missing(self) -> bool:
        """Whether the key lacks the permission of the operation."""
        return self.actor in SCOPED and not self.succeeds and OPERATIONS[self.operation].scope != SCOPED[self.actor]

    @property
    def of_items(self) -> bool:
        """Whether the state is that of an item of a list."""
        return self.operation in LISTS and (
            self.deviation in _OF_ITEMS or self.kind.family in {"field-missing", "field-wrong"})  # fmt: skip


def built(identifier: str) -> Fault:
    """Build a drawn fault from its id.

    Raises:
        LookupError: The id has unknown parts, or the interface permits what they say.
    """
    operations = {name: operation for operation, name in NAMES.items()}
    names = identifier.removeprefix(DRAWN).split(".")
    if len(names) == len(Parts.__slots__) and names[1] in operations:
        parts = Parts(names[0], operations[names[1]], *names[2:])
        if is_fault(parts):
            return fault(identifier, _title(parts), _mutation(parts), *_breaks(parts))
    raise LookupError(f"There is no fault {identifier!r}. Draw some with: conformance selftest --drawn 10")


def drawn(number: int, seed: int) -> list[str]:
    """Draw faults, evenly over the families of deviations, and return their ids; fewer if there are no more.

    Args:
        number: The number of faults.
        seed: The seed of the draw; the faults of a smaller number are the first ones of a greater number.
    """
    generator = random.Random(seed)  # noqa: S311 - reproducible on purpose
    families = defaultdict(list)
    for name, deviation in DEVIATIONS.items():
        families[deviation.family].append(name)
    turns = deque(generator.sample(sorted(families), len(families)))
    found: dict[str, None] = {}
    while len(found) < number and turns:
        family = turns.popleft()
        if (identifier := _one_of(families[family], generator, found)) is not None:
            found[identifier] = None
            turns.append(family)
    return list(found)


def _one_of(deviations: list[str], generator: random.Random, known: Mapping[str, None]) -> str | None:
    """Draw a fault of a family that is not known yet; None if many draws find none."""
    for _ in range(_DRAWS):
        deviation = generator.choice(deviations)
        operation = generator.choice(sorted(DEVIATIONS[deviation].breaks))

        def part(names: Mapping[str, object], plain: str) -> str:
            return plain if generator.random() < _PLAIN else generator.choice(sorted(names))

        actor, state = part(ACTORS, "any"), part(states_of(operation), "any")
        parts = Parts(deviation, operation, actor, state, part(SINCE, "start"))
        if is_fault(parts) and parts.id not in known:
            return parts.id
    return None


# --- the rules


def is_fault(parts: Parts) -> bool:
    """Whether the interface forbids a combination, a client can see it, and it does not show in every request."""
    known = (parts.deviation in DEVIATIONS and parts.actor in ACTORS and parts.since in SINCE
             and parts.state in states_of(parts.operation))  # fmt: skip
    return (
        known
        and parts.operation in parts.kind.breaks
        and parts.operation in SINCE[parts.since].operations
        and bool(parts.permitted)
        and _is_forbidden(parts)
        and _is_reachable(parts)
        and _is_conditional(parts)
    )


def _is_forbidden(parts: Parts) -> bool:
    """Whether the interface permits no response that looks like the fault's."""
    family, status = parts.kind.family, parts.deviation.removeprefix("refused-")
    if family not in _OF_BOTH and parts.succeeds == (family in _OF_REFUSALS):
        return False
    if family == "refused" and int(status) in parts.permitted:
        return False
    if parts.deviation == "refused-403" and parts.actor == "member":  # the permissions of its key are open
        return parts.since == "after-removal"
    return True


def _is_reachable(parts: Parts) -> bool:
    """Whether requests can bring the fault about, and show it."""
    family, operation, state, since = parts.kind.family, parts.operation, parts.state, parts.since
    is_gone, is_carried_out = state in {"deleted", "removed"}, parts.deviation in {"accepted-done", "refused-done"}
    changes_state = state in {"new", "made"} or (state, operation) == ("archived", op.EDIT)
    unreachable = (
        operation in LISTS and state != "any" and not parts.of_items,
        not parts.succeeds and since == "full-page",
        state == INVALID and not _is_of_time(since),
        since.endswith("-of-one") and changes_state,
        family == "stale" and state == "new",
        family == "refused-time" and is_gone,
        parts.deviation == "half-done" and since in {"name-only", "description-only"},
        is_carried_out and not OPERATIONS[operation].changes,
        is_carried_out and is_gone and operation in {op.DELETE, op.REMOVE},
        # no provisioner makes members of another organization
        parts.succeeds and parts.actor == "other" and operation in (op.LIST_MEMBERS, op.ROLE, op.REMOVE),
        # a second look, which the judgement of a whole list needs, would find nothing
        family in _CONFIRMED and since in INTERMITTENT and operation in {*LISTS, op.GET_ORGANIZATION},
    )
    return not any(unreachable)


def _is_of_time(since: str) -> bool:
    """Whether an event is not a form of requests."""
    return SINCE[since].operations == SINCE["start"].operations


def _is_conditional(parts: Parts) -> bool:
    """Whether the fault affects only some of the requests of its operation that are alike."""
    of_actor = parts.actor in _BARRED or parts.is_scope_missing
    actor = not of_actor and parts.actor not in (_EVERYONE if parts.succeeds else _EVERYONE | {"other"})
    state = parts.state != "any" and (parts.succeeds or of_actor or parts.state == "foreign-archived")
    if parts.operation == op.GET_ORGANIZATION and parts.actor in _EVERYONE and parts.since == "first":
        return False  # a run begins with this request
    return actor or state or parts.since != "start"


def _breaks(parts: Parts) -> tuple[str, ...]:
    """Return the requirements that a fault breaks, first the one that it is about."""
    if parts.kind.breaks[parts.operation]:
        return parts.kind.breaks[parts.operation]
    response, effect = _rule(parts)
    found: tuple[str, ...] = {
        "accepted-done": (response, effect), "refused-done": (effect,), "refused-time": (effect,),
        "refused-500": ("no-server-error", response),
    }.get(parts.deviation, (response,))  # fmt: skip
    return tuple(dict.fromkeys(found))


def _rule(parts: Parts) -> tuple[str, str]:
    """Return the requirement about the response to a request, and the one about its effect if it must be refused."""
    operation, state, name = parts.operation, parts.state, NAMES[parts.operation]
    if parts.actor in _BARRED:
        return {
            "none": ("key-missing-refused", "unauthenticated-changes-nothing"),
            "wrong": ("key-unknown-refused", "unauthenticated-changes-nothing"),
            "spent": ("throttled-answers-429", "throttled-changes-nothing"),
        }.get(parts.actor, (f"removed-member-loses-{_family(operation)}",) * 2)
    if parts.is_scope_missing:
        return f"scope-refuses-{name}", "scope-refused-changes-nothing"
    if state.startswith("foreign"):
        return f"isolation-{name}", "isolation-untouched"
    if (operation, state) in _OF_STATES:
        return _OF_STATES[operation, state]
    if state == INVALID:
        changed = _CREATES_NOTHING.get(operation, f"{name}-refused-changes-nothing")
        return f"{name}-refuses-invalid", changed
    keeps_access = parts.deviation == "refused-403" and parts.actor == "member"
    succeeds = "removal-spares-other-members" if keeps_access else f"{name}-succeeds"
    return (f"scope-allows-{name}" if parts.actor in SCOPED else succeeds), ""


def _family(operation: str) -> str:
    family = OPERATIONS[operation].family
    return "organization" if family == "organizations" else family


_CREATES_NOTHING = {op.CREATE: "create-engagement-refused-creates-nothing", op.INVITE: "refused-invite-sends-no-mail"}
_OF_STATES: Final[Mapping[tuple[str, str], tuple[str, str]]] = MappingProxyType({
    **{(operation, "deleted"): (f"deleted-{word}", "deleted-unlisted") for operation, word in (
        (op.READ, "unreadable"), (op.EDIT, "uneditable"), (op.DELETE, "undeletable"), (op.ARCHIVE, "unarchivable"),
        (op.UNARCHIVE, "not-unarchived"))},
    (op.ROLE, "removed"): ("removed-member-role-unchangeable", "removed-member-unlisted"),
    (op.REMOVE, "removed"): ("removed-member-not-removable", "removed-member-unlisted"),
    (op.ROLE, "owner"): ("owner-role-change-refused", "owner-stays-owner"),
    (op.EDIT, "unarchived"): ("unarchived-editable", ""), (op.ARCHIVE, "unarchived"): ("unarchived-archivable", ""),
    **{pair: rule for state in ARCHIVED for pair, rule in (
        ((op.EDIT, state), ("archived-edit-refused", "archived-edit-changes-nothing")),
        ((op.READ, state), ("archived-readable", "")), ((op.DELETE, state), ("archived-deletable", "")),
        ((op.UNARCHIVE, state), ("unarchive-served", "")))},
})  # fmt: skip

_PHRASES: Final = MappingProxyType({
    op.GET_ORGANIZATION: "A read of the {0}organization", op.RENAME: "A renaming of the {0}organization",
    op.LIST_MEMBERS: "The list of members", op.INVITE: "An invitation to the {0}organization",
    op.ROLE: "A role change of {1}", op.REMOVE: "A removal of {1}",
    op.LIST: "The list of engagements", op.CREATE: "A creation in the {0}organization",
    op.READ: "A read of {2}",
    op.EDIT: "An edit of {2}", op.DELETE: "A deletion of {2}",
    op.ARCHIVE: "An archive of {2}", op.UNARCHIVE: "An unarchive of {2}",
})  # fmt: skip


def _title(parts: Parts) -> str:
    state, words = states_of(parts.operation)[parts.state], _PHRASES[parts.operation]
    words = words.format(state, with_article(f"{state}member"), with_article(f"{state}engagement"))
    of_item = f" with {with_article(f'{state}item')}" if parts.operation in LISTS and state else ""
    invalid = ", with an invalid body," if parts.state == INVALID else ""
    subject = f"{words}{of_item}{ACTORS[parts.actor]}{invalid}"
    return f"{subject} {parts.kind.words}{SINCE[parts.since].words}."


# --- the service


@dataclass(frozen=True, slots=True)
class _Affected:
    """A request on its way through the faulty service.

    Args:
        parts: The parts of the fault.
        case: The request.
        actor: Its sender.
        state: The state of its target.
    """

    parts: Parts
    case: Case
    actor: str
    state: str

    @classmethod
    def of(cls, parts: Parts, at: Situation) -> _Affected:
        """Return a request as it is before it is processed, and remember its target."""
        before = target_of(at)
        if before is not None:
            at.remembered("known", {})[at.context.resource_id] = before
        return cls(parts, Case(at, before, parts.state), actor_of(at), state_of(at, before))

    def processed(self, honest: Method) -> Reply:
        """Process the request, and reply right or wrong."""
        try:
            with self.case.at.store.transaction():
                case = replace(self.case, at=replace(self.case.at, reply=honest()))
                reply = self.parts.kind.act(case) if self.parts.succeeds and self._is_affected(case) else case.honest
        except Refusal as refusal:
            return self.refused(refusal)
        record(case.at, case.before)
        return reply

    def refused(self, refusal: Refusal) -> Reply:
        """Reply wrong to a request that must be refused, or refuse it.

        Raises:
            Refusal: The refusal, right or wrong.
        """
        case = replace(self.case, refusal=refusal)
        record(case.at, case.before)
        if self.parts.succeeds or not self._is_due(refusal) or not self._is_affected(case):
            raise refusal
        return self.parts.kind.act(case)

    def _is_due(self, refusal: Refusal) -> bool:
        """Whether a refusal is the one that the fault is about, not one for a lack of permission."""
        key, scope = getattr(self.case.at.context, "key", None), OPERATIONS[self.case.at.operation].scope
        may_ask = key is not None and (scope is None or scope in key.scopes)
        is_due = self.actor in _BARRED or self.parts.is_scope_missing or may_ask
        return refusal.status in self.parts.permitted and is_due

    def _is_affected(self, case: Case) -> bool:
        parts, at = self.parts, case.at
        senders = {self.actor} if self.actor in _BARRED else {self.actor, "any"}
        if at.operation != parts.operation or not parts.kind.can(case) or parts.actor not in senders:
            return False
        if parts.of_items:
            is_in_state = bool(case.listed)
        elif parts.state == INVALID:
            is_in_state = is_certainly_invalid(at)
        else:
            is_in_state = is_in(parts.state, self.state)
        return is_in_state and SINCE[parts.since].holds(at)


def _mutation(parts: Parts) -> Mutation:
    """Return how the service differs."""

    def act(at: Situation, honest: Method) -> Reply:
        try:
            return _Affected.of(parts, at).processed(honest)
        except NotDoneError as end:
            return end.reply

    async def serve(at: Situation, honest: Method) -> object:
        at.service.memory["requests"] = at.remembered("requests", 0) + 1
        _do_due(at)
        try:
            return await honest()
        except Refusal as refusal:
            if at.operation or refusal.status not in _EARLY:
                raise
            try:
                at.context.operation = at.service.find_operation(at.context)
            except Refusal:
                raise refusal from None
            at.context.content = await at.service.receive(at.context)
            try:
                return _Affected.of(parts, at).refused(refusal)
            except NotDoneError as end:
                return end.reply

    return (
        at_step("act", act)
        | at_step("serve", serve)
        | at_step("headers", _headers)
        | wrap("add_subordinate", _note_record)
        | wrap("find_engagements", _without_hidden)
        | list_deleted(lambda asked, each: each.organization_id == asked.organization_id
                       and asked.status in {None, each.status})
        | wrap("count_engagements", lambda service, honest, organization: honest(organization)
               + service.memory.get("miscounted", {}).get((organization.id, False), 0))
        | wrap("count_members", lambda service, honest, organization: honest(organization)
               + service.memory.get("miscounted", {}).get((organization.id, True), 0))
    )  # fmt: skip


_EARLY = frozenset({401, 403, 429})


def _do_due(at: Situation) -> None:
    """Do what an earlier request left for this moment."""
    waiting = at.remembered("due", [])
    for entry in [entry for entry in waiting if entry[0]()]:
        waiting.remove(entry)
        entry[1]()


def _headers(at: Situation, honest: Method) -> dict[str, str]:
    context, name, value = at.service.memory.get("marked", (None, "", None))
    headers: dict[str, str] = honest()
    if context is at.context:
        headers.pop(name)
        headers |= {} if value is None else {name: value}
    return headers


def _note_record(service: Service, honest: Method, engagement_id: str, kind: str) -> str:
    identifier: str = honest(engagement_id, kind)
    records = service.memory.setdefault("records", {})
    records.setdefault(engagement_id, []).append(Subordinate(identifier, engagement_id, kind))
    return identifier


def _without_hidden(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    hidden = service.memory.get("hidden", set())
    shown = (each for each in whole(honest, asked) if each.id not in hidden)
    return cut(asked, tuple(shown)) if hidden else honest(asked)
