"""Judging everything that a run has sent by the ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.collation import name_key
from conformance.oracle.judgement import Inapplicable, Judgement, Undecided, judged
from conformance.oracle.laws import readable_resources
from conformance.oracle.ledger import Ledger
from conformance.oracle.ledger_lists import page_of
from conformance.oracle.listing import contents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.oracle.ledger_findings import Finding, Findings
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PAUSES: Final = (0.4, 1.0, 0.4, 1.0)
_MOST_PAGES: Final = 20


def ledger_of_run(run: Run) -> Ledger:
    """Everything that the run has sent is entered into the ledger; nothing is sent for that."""
    return Ledger.over(run.wire.exchanges, name_key)


def conclude(run: Run, requirement: str, ledger: Ledger) -> None:
    """Raise what the ledger says of a requirement, if it is not that it was kept.

    Raises:
        NonConformity: It was broken; where others might be the cause, it was broken in two more looks.
        Undecided: Another requirement was broken, which explains what was seen, or it was not seen again.
        Inapplicable: Nothing of the run put it to the test.
    """
    findings = ledger.findings
    broken = findings.of(requirement)
    if broken and (root := findings.explained(requirement)):
        raise Undecided(f"{broken[0].message}, but that may be for another reason: {root.message}", *_cited(root))
    for finding in broken[:1]:
        raise (_seen_again(run, finding, ledger) if finding.unsteady else finding).as_fault(story=_others(broken))
    conclude_kept(findings, requirement)


def conclude_kept(findings: Findings, requirement: str) -> None:
    """Note the evidence that a requirement was kept.

    Raises:
        Inapplicable: There is none.
    """
    kept = findings.kept.get(requirement, [])
    if not kept:
        raise Inapplicable("Nothing of the run put it to the test in this way")
    judged(*dict.fromkeys(kept))


def seen_again(run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]) -> Finding | None:
    """Send what showed a fault again, after pauses, until two answers show the same.

    Args:
        run: The run.
        finding: The fault.
        judge: What is wrong with an answer in the same way, if anything.

    Returns:
        The last finding, if there was one each time, at last the same twice with nothing moved in between.
    """
    before = None
    for pause in _PAUSES:
        run.sleep(pause)
        found = judge(run.send(finding.exchange.call))
        if found is None or (before is not None and _is_same(before, found)):
            return found
        before = found
    return None


def is_elsewhere(run: Run, finding: Finding) -> bool:
    """Whether another page of the list has what is missing from one: then its order is wrong, and nothing is lost.

    The nearest pages are looked at, as many as can be afforded.
    """
    page = None if finding.absent is None else page_of(finding.exchange)
    if page is None:
        return False
    near = range(max(1, page.number - _MOST_PAGES), min(page.pages, page.number + _MOST_PAGES) + 1)
    others = sorted(set(near) - {page.number}, key=lambda number: abs(number - page.number))
    asked = finding.exchange.call
    query = tuple((name, value) for name, value in asked.query if name != "page")
    calls = [replace(asked, query=(*query, ("page", str(number)))) for number in others[:_MOST_PAGES]]
    return any(read.id_of(item) == finding.absent for one in run.send_all(calls) for item in readable_resources(one))


def by_ledger(ledger: Ledger, requirement: str) -> Callable[[Exchange], Finding | None]:
    """What a ledger finds wrong with an answer, of one requirement."""
    return lambda exchange: next((one for one in ledger.take(exchange) if one.requirement == requirement), None)


def _is_same(one: Finding, other: Finding) -> bool:
    return (one.message, one.actual, _shown(one)) == (other.message, other.actual, _shown(other))


def _shown(finding: Finding) -> list[object] | None:
    """What must not move between two looks; None where nobody can read that, which is no doing of others."""
    try:
        return contents((finding.exchange,))
    except Judgement:
        return None


def _seen_again(run: Run, finding: Finding, ledger: Ledger) -> Finding:
    again = seen_again(run, finding, by_ledger(ledger, finding.requirement))
    if again is None:
        raise Undecided(f"{finding.message}, but not when it was looked at again", *_cited(finding))
    if is_elsewhere(run, again):
        raise Undecided(f"{finding.message} where its order has it, but another page has it", *_cited(finding))
    return again


def _cited(finding: Finding) -> tuple[Exchange, ...]:
    return (*finding.because, finding.exchange)


def _others(broken: Sequence[Finding]) -> str:
    return f" ({len(broken)} times in this run)" if len(broken) > 1 else ""
