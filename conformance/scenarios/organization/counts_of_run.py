"""The counts in every read of the organization in a run, compared with the lists around it."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.effects import Interval
from conformance.oracle.exchanges import of_operation
from conformance.oracle.ledger.rules import is_of_main
from conformance.oracle.outcomes import CheckOutcome, Inapplicable, evidence
from conformance.scenarios.organization.counts import Counts, Reader, counts_of, expect_agreement
from conformance.scenarios.renaming import name_before, restored_name
from conformance.wire import requests
from conformance.wire.exchange import KEY_REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class _Counted:
    """The list whose total a count is, its filter, and by how much operations of the run change it."""

    operation: str
    filtered_by: str
    listed: Callable[[Counts], Exchange]
    changes: Mapping[str, int]


_COUNTED: Final[Mapping[str, _Counted]] = MappingProxyType(
    {
        "engagementCount": _Counted(
            "listEngagements", "status", lambda seen: seen.engagements, {"createEngagement": 1, "deleteEngagement": -1}
        ),
        # A provisioner creates members without a request; the lists before and after it then differ.
        "memberCount": _Counted("listMembers", "role", lambda seen: seen.members, {"removeMember": -1}),
    }
)


def expect_right_counts(run: Run, name: str) -> None:
    """Expect that a count of the organization was right in every read, whatever its key and the organization's name.

    Args:
        run: The run.
        name: ``engagementCount`` or ``memberCount``.

    Raises:
        NonConformity: A count is wrong, and still wrong when it is read again in the same way while nothing moves.
        CantTell: It is still wrong, but other users were changing the organization.
        Inapplicable: No read of the organization can be compared with a list.
    """
    right, doubtful = counts_in_doubt(run, name)
    if not right and not doubtful:
        raise Inapplicable("the run had no reason to read the organization and the list")
    evidence(*right)
    for organization in doubtful:
        _expect_right_now(run, name, organization)


def counts_in_doubt(run: Run, name: str) -> tuple[list[Exchange], list[Exchange]]:
    """Compare a count in each read with the lists before and after it, whatever the run created or deleted meanwhile.

    Returns:
        The reads of the organization with a right count, and for each key, under the organization's own name and
        under others, the last one with a wrong count, which other users may have caused.
    """
    lists = _unfiltered_lists(run, name)
    changes = _changes(run, name)
    right, doubtful = [], {}
    for organization in _served(run, "getCurrentOrganization"):
        with suppress(CheckOutcome):
            count = read.integer(read.data(organization), name, organization)
            totals = _totals_around(organization, lists, changes)
            if totals and min(totals) <= count <= max(totals):
                right.append(organization)
            elif totals:
                doubtful[organization.request.credential, _run_name(run, organization) is None] = organization
    return right, [*doubtful.values()]


def _expect_right_now(run: Run, name: str, doubtful: Exchange) -> None:
    """Expect a right count with the same key and under the same name of the organization."""
    key, given = doubtful.request.credential, _run_name(run, doubtful)
    lists_both = all(
        any(listed.request.credential == key for listed in _unfiltered_lists(run, counted)) for counted in _COUNTED
    )
    reader = Reader(key, key if lists_both else None)
    with ExitStack() as stack:
        if given is not None:
            stack.enter_context(restored_name(run, name_before(run, run.send(requests.get_organization()))))
            run.send(requests.update_organization({"name": given}))
        expect_agreement(run, counts_of(run, reader), name, _COUNTED[name].listed, reader)


def _served(run: Run, operation: str) -> list[Exchange]:
    """Return the successes of an operation by keys of the organization that it has never refused."""
    sent = of_operation(run.wire.exchanges, operation)
    refused = {exchange.request.credential for exchange in sent if exchange.received_status in KEY_REFUSED}
    return [
        exchange
        for exchange in sent
        if exchange.accepted and is_of_main(exchange) and exchange.request.credential not in refused
    ]


def _unfiltered_lists(run: Run, name: str) -> list[Exchange]:
    counted = _COUNTED[name]
    return [
        listed for listed in _served(run, counted.operation) if counted.filtered_by not in dict(listed.request.query)
    ]


def _changes(run: Run, name: str) -> list[tuple[Interval, int]]:
    """Return when the run changed a count, and by how much."""
    by = _COUNTED[name].changes
    return [
        (Interval.of(exchange), by[exchange.operation_id])
        for exchange in run.wire.exchanges
        if exchange.accepted and is_of_main(exchange) and exchange.operation_id in by
    ]


def _totals_around(
    organization: Exchange, lists: Sequence[Exchange], changes: Sequence[tuple[Interval, int]]
) -> list[int]:
    """Return the totals before and after a read, with its key or the main key, changed as the run did in between."""
    at = Interval.of(organization)
    beside = [
        (Interval.of(listed), listed)
        for listed in lists
        if listed.request.credential in {None, organization.request.credential}
    ]
    earlier = [(when, listed) for when, listed in beside if when.before(at)]
    later = [(when, listed) for when, listed in beside if at.before(when)]
    before = [(listed, _changed_between(when, at, changes)) for when, listed in earlier[-1:]]
    after = [(listed, _changed_between(at, when, changes)) for when, listed in later[:1]]
    return [
        *(read.number(listed, "total") + change for listed, change in before if change is not None),
        *(read.number(listed, "total") - change for listed, change in after if change is not None),
    ]


def _changed_between(first: Interval, second: Interval, changes: Sequence[tuple[Interval, int]]) -> int | None:
    """Return by how much the run changed a number between two reads; None if a change overlaps one of them."""
    between = [(at, by) for at, by in changes if not at.before(first) and not second.before(at)]
    if any(at.overlaps(first) or at.overlaps(second) for at, _ in between):
        return None
    return sum(by for _, by in between)


def _run_name(run: Run, organization: Exchange) -> str | None:
    """Return the name of the organization if the run gave it."""
    name = read.text(read.data(organization), "name", organization)
    return name if run.names.owns(name) else None
