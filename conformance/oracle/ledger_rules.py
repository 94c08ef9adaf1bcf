"""What rules about one engagement have in common: how they note what they come to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.oracle.ledger_attribution import seen_since
from conformance.oracle.ledger_findings import Finding, Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.oracle.effects import Interval
    from conformance.oracle.histories import History, Write
    from conformance.wire.exchange import Exchange

    Others = Callable[[History, float, float], Sequence[Write]]

NOT_FOUND: Final = 404
NOT_JUDGED: Final = frozenset({401, 429})
"""Refusals of the key or of haste, which say nothing of the engagement."""


@dataclass(frozen=True, slots=True)
class Judging:
    """What rules about one engagement may use.

    Attributes:
        findings: Where they note what they come to.
        others: Gives what changed other engagements within a time.
    """

    findings: Findings
    others: Others

    def keep(self, exchange: Exchange, *requirements: str | None) -> None:
        """Note an answer as evidence for requirements."""
        for requirement in requirements:
            if requirement is not None:
                self.findings.keep(requirement, exchange)

    def others_since(self, history: History, interval: Interval) -> Sequence[Write]:
        """What changed other engagements since this one was read last."""
        return self.others(history, seen_since(history), interval.end)

    def conclude(self, history: History, finding: Finding, *, right: bool) -> None:
        """Note evidence where a rule was kept, or the finding where it was not."""
        if right:
            self.findings.keep(finding.requirement, finding.exchange)
        else:
            self.broke(history, finding)

    def broke(self, history: History, finding: Finding) -> None:
        """Note a finding; nothing more is said of that engagement."""
        history.broken = True
        self.findings.broken.append(replace(finding, identifier=history.identifier))


def finding_of(
    requirement: str, exchange: Exchange, *because: Exchange, message: str, expected: str, actual: str | None = None,
    pointer: str | None = None,
) -> Finding:  # fmt: skip
    """A finding, which stands only where its rule was broken; without ``actual`` it is the status that is wrong."""
    words = str(status_of(exchange)) if actual is None else actual
    return Finding(requirement, exchange, because, message, expected, words, pointer)


def status_of(exchange: Exchange) -> int:
    """The status of an answer; 0 for none."""
    return 0 if exchange.received is None else exchange.received.status
