"""Rules of drawn faults: which combinations of parts the interface forbids, and by which requirements."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS
from conformance.reference.faults import operations as op
from conformance.reference.faults.operations import NAMES

from .circumstances import ACTORS, ARCHIVED, BARRED, INTERMITTENT, INVALID, LISTS, SCOPED, SINCE, states_of
from .parts import DEVIATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .parts import Parts

_EVERYONE = frozenset({"any", "main"})
_OF_BOTH, _OF_REFUSALS = ("refused", "headers"), ("accepted", "refused-done", "refused-time", "envelope")
"""The families about requests that succeed or must be refused, and about those that must be refused."""
_CONFIRMED = frozenset({"stale", "items", "totals", "pages", "filter", "order", "field-wrong"})


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
        parts.actor == "other" and since in {"after-role-change", "after-removal"},
        # a second look, which the judgement of a whole list needs, would find nothing
        family in _CONFIRMED and since in INTERMITTENT and operation in {*LISTS, op.GET_ORGANIZATION},
    )
    return not any(unreachable)


def _is_of_time(since: str) -> bool:
    """Whether an event is not a form of requests."""
    return SINCE[since].operations == SINCE["start"].operations


def _is_conditional(parts: Parts) -> bool:
    """Whether the fault affects only some of the requests of its operation that are alike."""
    of_actor = parts.actor in BARRED or parts.is_scope_missing
    actor = not of_actor and parts.actor not in (_EVERYONE if parts.succeeds else _EVERYONE | {"other"})
    state = parts.state != "any" and (parts.succeeds or of_actor or parts.state == "foreign-archived")
    if parts.operation == op.GET_ORGANIZATION and parts.actor in _EVERYONE and parts.since == "first":
        return False  # a run begins with this request
    return actor or state or parts.since != "start"


def broken(parts: Parts) -> tuple[str, ...]:
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
    if parts.actor in BARRED:
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
