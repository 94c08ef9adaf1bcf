"""Judging everything that a run has sent by the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle.collation import name_key
from conformance.oracle.judgement import Inapplicable, Undecided, judged
from conformance.oracle.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.ledger_findings import Finding, Findings
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PAUSES: Final = (0.4, 1.0)


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


def seen_again(run: Run, finding: Finding, ledger: Ledger, pauses: Sequence[float] = _PAUSES) -> Finding | None:
    """Send what showed a fault again, after pauses.

    Returns:
        The last finding, if each time there was one of that requirement.
    """
    latest: Finding | None = None
    for pause in pauses:
        run.sleep(pause)
        found = ledger.take(run.send(finding.exchange.call))
        latest = next((one for one in found if one.requirement == finding.requirement), None)
        if latest is None:
            return None
    return latest


def _seen_again(run: Run, finding: Finding, ledger: Ledger) -> Finding:
    again = seen_again(run, finding, ledger)
    if again is None:
        raise Undecided(f"{finding.message}, but not when it was looked at again", *_cited(finding))
    return again


def _cited(finding: Finding) -> tuple[Exchange, ...]:
    return (*finding.because, finding.exchange)


def _others(broken: Sequence[Finding]) -> str:
    return f" ({len(broken)} times in this run)" if len(broken) > 1 else ""
