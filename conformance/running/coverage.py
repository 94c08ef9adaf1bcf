"""Coverage of a run: the operations, keys and states of targets that its requests combined."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.interface.operations import OPERATIONS
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.permissions import KEYS
from conformance.wire.exchange import KEY_REFUSED, TOO_MANY_REQUESTS, UNDOING
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.wire.exchange import Exchange


class Cell(NamedTuple):
    """A combination that a request can have.

    Attributes:
        operation: The operationId.
        key: The kind of key.
        state: The state of the engagement, member or organization that the request is about.
    """

    operation: str
    key: str
    state: str


_MAIN, _MEMBER, _THROTTLED = "main", "member", "throttled"
REMOVED_MEMBER, WRONG, NONE = "removed member", "wrong", "none"
"""Kinds of keys without access."""
_KEYS: Final = (_MAIN, *KEYS, _MEMBER, REMOVED_MEMBER, OTHER_KEY, _THROTTLED, WRONG, NONE)
MADE, CHANGED, CHANGED_BACK = "made", "changed", "changed back"
"""The states of a member, by its role."""
RENAMED: Final = "renamed"
"""The state of an organization with a name of the run."""
_ENGAGEMENT: Final = ("new", "edited", "archived", "edit refused", "unarchived", "archived again", "deleted")
_PERSON: Final = (MADE, CHANGED, CHANGED_BACK, "removed")
_ORGANIZATION: Final = ("first name", RENAMED, "renamed back")
_LATER: Final = {
    ("updateEngagement", "new"): "edited",
    **{("archiveEngagement", state): "archived" for state in ("new", "edited")},
    ("archiveEngagement", "unarchived"): "archived again",
    **{("unarchiveEngagement", state): "unarchived" for state in ("archived", "edit refused", "archived again")},
    **{("deleteEngagement", state): "deleted" for state in _ENGAGEMENT},
    **{("removeMember", state): "removed" for state in _PERSON},
}
"""For an operation that succeeds and the state of its target, the next state; otherwise the state stays."""


def _states_of(operation: str) -> tuple[str, ...]:
    """Return the states that the target of an operation can have."""
    if OPERATIONS[operation].parameter is None:
        return _ORGANIZATION
    return _ENGAGEMENT if OPERATIONS[operation].family == "engagements" else _PERSON


def possible() -> frozenset[Cell]:
    """Return all combinations; the suite changes no member of another organization."""
    return frozenset(
        Cell(operation, key, state)
        for operation, key in product(OPERATIONS, _KEYS)
        for state in _states_of(operation)
        if key != OTHER_KEY or state not in _PERSON
    )


def shares(cells: Iterable[Cell]) -> dict[str, dict[str, int]]:
    """Return how many pairs, of two of operation, key and state, and how many triples are reached and possible."""
    all_cells = possible()
    found = all_cells & frozenset(cells)
    pairs, all_pairs = ({pair for cell in of for pair in combinations(enumerate(cell), 2)} for of in (found, all_cells))
    return {
        "pairs": {"reached": len(pairs), "possible": len(all_pairs)},
        "triples": {"reached": len(found), "possible": len(all_cells)},
    }


def reached(exchanges: Iterable[Exchange]) -> set[Cell]:
    """Return the combinations of the requests with a response, in the order in which they were sent.

    A member's key that is refused counts as that of a removed member. Requests that undo are left out.
    """
    targets, cells = _Targets(), set()
    for exchange in sorted(exchanges, key=lambda exchange: exchange.number):
        if exchange.received is None or not exchange.request.is_proper or exchange.check == UNDOING:
            continue
        if (state := targets.state(exchange)) is not None:
            cells.add(Cell(exchange.operation_id, _key(exchange, exchange.received.status), state))
        targets.record(exchange)
    return cells


def _key(exchange: Exchange, status: int) -> str:
    credential = exchange.request.credential
    if status == TOO_MANY_REQUESTS:
        return _THROTTLED
    if exchange.by_main_key or credential is None:
        return _MAIN
    if credential.invalid:
        return {"no_key": NONE, "unknown_key": WRONG}.get(credential.name, "")  # other schemes are no kind of key
    if credential.name.startswith(_MEMBER):
        return REMOVED_MEMBER if status in KEY_REFUSED else _MEMBER
    return credential.name


class _Targets:
    """The states of what requests were about."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self._roles: dict[str, object] = {}
        self._names: defaultdict[bool, list[object]] = defaultdict(list)

    def state(self, exchange: Exchange) -> str | None:
        """Return the state of a request's target before it; None if it is none of the run's."""
        request = exchange.request
        if request.operation.parameter is not None:
            made = MADE if request.operation.family == "organizations" else None
            return self.states.get(request.identifier or "", made)
        names = self._names[_by_other(exchange)]
        if len(names) > 1:
            return "renamed back" if names[-1] == names[0] else RENAMED
        return "first name"

    def record(self, exchange: Exchange) -> None:
        """Record what an exchange changed or showed."""
        request, operation = exchange.request, exchange.operation_id
        identifier = request.identifier or ""
        state = self.state(exchange) if identifier else None
        if operation == "updateEngagement" and exchange.refused and exchange.by_main_key and state == "archived":
            self.states[identifier] = "edit refused"
        if not exchange.accepted:
            return
        if operation == "createEngagement" and (made := read.identifier_or_none(exchange)) is not None:
            self.states[made] = "new"
        elif operation == "updateMemberRole":
            role = exchange.sent_fields.get("role")
            self.states[identifier] = CHANGED if role == self._roles.setdefault(identifier, role) else CHANGED_BACK
        elif operation == "getCurrentOrganization" and not self._names[_by_other(exchange)]:
            self._names[_by_other(exchange)] += [shown.get("name") for shown in readable_resources(exchange)]
        elif operation == "updateCurrentOrganization":
            name = exchange.sent_fields.get("name")
            self._names[_by_other(exchange)] += [] if name is None else [name]
        elif state is not None:
            self.states[identifier] = _LATER.get((operation, state), state)


def _by_other(exchange: Exchange) -> bool:
    return exchange.request.key_name == OTHER_KEY
