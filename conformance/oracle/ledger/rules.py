"""Common parts of the rules: recording evidence and findings, and the keys of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.oracle.ledger.attribution import seen_since
from conformance.oracle.ledger.findings import Finding, Findings
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.oracle.effects import Interval
    from conformance.oracle.ledger.histories import History, Write
    from conformance.wire.exchange import Exchange

    Others = Callable[[History, float, float], Sequence[Write]]

NOT_FOUND: Final = 404
NOT_FOR_CONTENT: Final = frozenset({401, NOT_FOUND})
"""Refusals that are about the key or the path, not about the change that a request asks for."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Base of the rules for one resource.

    Attributes:
        findings: The findings that the rules add to.
    """

    findings: Findings

    def conclude(self, history: History, finding: Finding, *, right: bool) -> None:
        """Record evidence if a rule was kept, else the finding."""
        if right:
            self.findings.keep(finding.requirement, finding.exchange)
        else:
            self.broke(history, finding)

    def broke(self, history: History, finding: Finding) -> None:
        """Record a finding; the resource is not judged afterwards."""
        history.broken = True
        self.findings.broken.append(replace(finding, identifier=history.identifier))


@dataclass(frozen=True, slots=True)
class EngagementRules(Rules):
    """Base of the rules for one engagement.

    Attributes:
        others: Returns the writes to other engagements within an interval.
    """

    others: Others

    def keep(self, exchange: Exchange, *requirements: str | None) -> None:
        """Record a response as evidence for requirements."""
        for requirement in requirements:
            if requirement is not None:
                self.findings.keep(requirement, exchange)

    def others_since(self, history: History, interval: Interval) -> Sequence[Write]:
        """Return the writes to other engagements since this one was read last."""
        return self.others(history, seen_since(history), interval.end)


def finding_of(
    requirement: str, exchange: Exchange, *because: Exchange, message: str, expected: str, actual: str | None = None,
    pointer: str | None = None,
) -> Finding:  # fmt: skip
    """Return a finding to record if its rule is broken; without ``actual`` the status is the wrong value."""
    words = str(exchange.received_status) if actual is None else actual
    return Finding(requirement, exchange, tuple(dict.fromkeys(because)), message, expected, words, pointer)


def is_of_main(exchange: Exchange) -> bool:
    """Whether a request was sent with a key of the main key's organization, to an operation of the interface."""
    key = exchange.request.credential
    return (
        exchange.request.is_proper and exchange.request.key_name != OTHER_KEY and not (key is not None and key.invalid)
    )
