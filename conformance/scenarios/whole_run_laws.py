"""Judge laws over all exchanges of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.confirm.torn_lists import record_torn, written_meanwhile
from conformance.interface.operations import CHANGES_MEMBER
from conformance.json_text import TooDeep
from conformance.oracle.laws.survey import Survey, conclude, survey
from conformance.oracle.outcomes import CantTell, NonConformity, Untested
from conformance.scenarios.engagements.cascade import cascade
from conformance.scenarios.engagements.final_deletion import final_deletion
from conformance.scenarios.smoke import basics, lifecycle
from conformance.targets.profile import Mode
from conformance.wire.exchange import SUCCESSES

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.oracle.laws.registry import Law
    from conformance.running.run import Run

_CONFIRMED: Final = 3
"""Failing requests that are sent again."""
_OF_CLEANUP: Final = frozenset(scenario.__name__ for scenario in (cascade, final_deletion))
_OF_BASICS: Final = frozenset({"getCurrentOrganization", "listMembers", "listEngagements", "getEngagement"})
_REFUSALS: Final = (frozenset({400, 422}), frozenset({401}), frozenset({404}))
_OF_LIFECYCLE: Final = frozenset(f"{what}Engagement" for what in ("create", "get", "update", "archive", "delete")) | {
    "listEngagements"
}


def expect_law(run: Run, law: Law) -> None:
    """Expect a law to hold for every exchange of the run.

    If others may disturb it, failing requests are sent again. If they fail again while nothing moves, all failures
    count.
    """
    found = _surveyed(run, law)
    if law.confirmed:
        found = _confirmed(run, law, found)
    conclude(found, nothing="" if found.applied else _why_inapplicable(run, law))


def expect_law_of_cleanup(run: Run, law: Law) -> None:
    """Expect a law that other users may disturb to hold for the lists of the cleanup.

    They cannot be requested again as they were, so a failure counts if it was confirmed at once.
    """
    found = survey(
        law.judge,
        (exchange for exchange in run.wire.exchanges if exchange.check in _OF_CLEANUP and law.concerns(exchange)),
    )
    if found.broken and law not in run.broken_at_once:
        _, fault = found.broken[0]
        found = Survey(kept=found.kept, unclear=[] if found.kept else [CantTell(fault.message, *fault.exchanges)])
    conclude(found, nothing="no list was read while engagements were deleted")


def _confirmed(run: Run, law: Law, found: Survey) -> Survey:
    """Return the survey without failures that other users may have caused."""
    if law in run.broken_at_once:
        return found
    confirmed = Survey(kept=found.kept, unclear=found.unclear)
    requests = {exchange.request: exchange for exchange, _ in reversed(found.broken)}
    for exchange in list(reversed(requests.values()))[:_CONFIRMED]:
        try:
            confirm.stable_list(run, (exchange,), lambda snapshot: law.judge(snapshot[0]))
        except NonConformity:
            confirmed.broken = found.broken
            break
        except CantTell as doubt:
            confirmed.unclear.append(doubt)
        else:
            confirmed.kept.append(exchange)
            if written_meanwhile(run, exchange):
                record_torn(run, exchange)
    return confirmed


def _surveyed(run: Run, law: Law) -> Survey:
    """Survey the run; if it has nothing of the kind, as with few checks, send a few requests for it."""
    found = _survey(run, law)
    if not found.applied and not _has_sent(run, _OF_BASICS, _REFUSALS):
        run.scenarios.result(basics)
        found = _survey(run, law)
    if not found.applied and run.mode is not Mode.READ_ONLY and not _has_sent(run, _OF_LIFECYCLE):
        run.scenarios.result(lifecycle)
        found = _survey(run, law)
    return found


def _survey(run: Run, law: Law) -> Survey:
    exchanges = run.wire.exchanges
    return survey(law.among(exchanges), filter(law.concerns, exchanges))


def _has_sent(run: Run, operations: frozenset[str], statuses: Collection[frozenset[int]] = ()) -> bool:
    """Whether a run has sent all these operations, and got a status of each group, so that no more are needed."""
    exchanges = run.wire.exchanges
    met = {exchange.received.status for exchange in exchanges if exchange.received is not None}
    sent = {exchange.operation_id for exchange in exchanges}
    return operations <= sent and all(group & met for group in statuses)


def _why_inapplicable(run: Run, law: Law) -> str:
    """Return why the law applied to no response.

    Raises:
        Untested: There was no member for the operations.
        CantTell: The operations never succeeded, or not readably, so their successes are unknown.
    """
    if not law.operations:
        return "no response of the run was of this kind"
    names = " and ".join(law.operations)
    tried = [exchange for exchange in filter(law.concerns, run.wire.exchanges) if exchange.judgeable]
    responses = [
        exchange.received
        for exchange in tried
        if exchange.received is not None and exchange.received.status in SUCCESSES
    ]
    if not responses and CHANGES_MEMBER.issuperset(law.operations) and (why := run.fixtures.unavailable.get("member")):
        raise Untested(why)  # all requests must be refused
    if tried and not responses:
        raise CantTell(f"{names} never succeeded", tried[0])
    if responses and all(isinstance(response.reading, TooDeep) for response in responses):
        raise CantTell(f"no success of {names} can be read", tried[0])
    return f"no response to {names} was of this kind" if tried else f"the run had no reason to call {names}"
