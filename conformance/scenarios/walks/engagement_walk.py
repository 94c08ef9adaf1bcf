"""Random walks: sequences of operations that are judged while they are sent, and shrunk when they fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.confirm.clock_ticks import ONE_SECOND_TICK
from conformance.interface.list_parameters import DEFAULT_PER_PAGE, page_count
from conformance.oracle import read
from conformance.oracle.laws import registry
from conformance.oracle.ledger.findings import Finding, Findings
from conformance.oracle.ledger.ledger import Ledger
from conformance.oracle.lists.collation import LABEL, syllables
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.scenarios.repeated_findings import confirmed_by_repetition, is_on_another_page, judge_by_ledger
from conformance.scenarios.walks.plan import Kind, Step
from conformance.wire import requests
from conformance.wire.exchange import TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.oracle.laws.responses import LawFunction
    from conformance.running.run import Run
    from conformance.scenarios.walks.actors import Actors
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

LAWS: Final[Mapping[str, LawFunction]] = MappingProxyType(
    {
        identifier: registry.LAWS[identifier].judge
        for identifier in (
            "no-server-error",
            "list-engagements-status-filter",
            "sort-by-created-at",
            "sort-by-updated-at",
            "sort-descending-by-default",
            "list-engagements-page-length",
            "list-engagements-paging-honoured",
            "list-engagements-total-pages",
        )
    }
)
"""The laws that every response of a walk is judged by, beside the ledger."""

_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step that was sent, and its exchange."""

    step: Step
    exchange: Exchange

    @property
    def made(self) -> str | None:
        """The id of the engagement that it created; None if it created none."""
        return read.identifier_or_none(self.exchange) if self.exchange.accepted else None


@dataclass(slots=True)
class Walk:
    """A walk through the operations.

    Args:
        actors: The keys that send its steps.
        number: The walk's number, which keeps its names apart from those of other walks.
        further: Creations of engagements that fill the lists beside those of the walk.

    Attributes:
        ledger: What the service must hold of the walk's engagements.
        taken: The steps so far.
        finding: The fault that ended the walk, if there was one.
    """

    actors: Actors
    number: int
    further: Sequence[Exchange] = ()
    ledger: Ledger = field(init=False)
    taken: list[TakenStep] = field(default_factory=list)
    finding: Finding | None = None
    _ids: dict[int, str] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ledger = Ledger.over(self.further)

    @property
    def run(self) -> Run:
        """The run."""
        return self.actors.run

    def send_steps(self, steps: Sequence[Step]) -> Finding | None:
        """Send steps until one shows a fault; steps about missing engagements are skipped."""
        length = 0
        for step in steps:
            sent = self._request(step)
            if sent is None:
                continue
            exchange = self.actors.send(sent, step.turn)
            self.taken.append(TakenStep(step, exchange))
            self._learn(self.taken[-1])
            found = self.ledger.take(exchange)
            broken = next(iter(found or _by_laws(self.ledger.findings, exchange)), None)
            if broken is not None and (confirmed := self._confirmed(broken)) is not None:
                self.finding, length = confirmed, len(self.taken)
                # A finding with two possible causes counts only if no later finding has a single cause.
                if not confirmed.ambiguous:
                    break
        if self.finding is not None:
            del self.taken[length:]
        return self.finding

    def _request(self, step: Step) -> Request | None:
        if step.kind is Kind.CREATE:
            self._names[step.slot] = self._name(step.word)
            about = {"description": f"All about {step.word}."} if step.word[-1] in "aeo" else {}
            return requests.create_engagement({"name": self._names[step.slot], **about})
        if step.kind is Kind.LIST:
            return requests.list_engagements(**dict(step.query), page=self._page(step))
        if (identifier := self._ids.get(step.slot)) is None:
            return None
        if (body := self._body(step)) is not None:
            return requests.update_engagement(identifier, body)
        return _ON_ENGAGEMENT[step.kind](identifier)

    def _body(self, step: Step) -> dict[str, str | None] | None:
        """Return the body of an edit, some without a description; None if the step is no edit."""
        name = self._name(step.word)
        if step.kind is Kind.RENAME_ALIKE and len(other := self._names.get(step.other, name)) < _LONGEST_NAME:
            name = other + step.word
        taken_away: dict[str, str | None] = {"i": "", "u": None}
        described = {"description": taken_away.get(step.word[-1:], f"Described as {step.word}.")}
        bodies: dict[Kind, dict[str, str | None]] = {
            Kind.RENAME: {"name": name},
            Kind.RENAME_ALIKE: {"name": name},
            Kind.DESCRIBE: described,
            Kind.EDIT: {"name": name, **described},
        }
        return bodies.get(step.kind)

    def _name(self, word: str) -> str:
        return self.run.names.name(f"{LABEL}-{word}{syllables(self.number)}")

    def _page(self, step: Step) -> int | None:
        """Return the page of a step, limited to the pages that the walk's own engagements fill."""
        asked = dict(step.query)
        matching = self.ledger.count(asked.get("status")) if self.taken else 0
        pages = page_count(matching, int(asked.get("perPage", DEFAULT_PER_PAGE)))
        return min(step.page, pages) if step.page > 1 and pages > 1 else None

    def _learn(self, taken: TakenStep) -> None:
        if taken.step.kind is Kind.CREATE:
            self._ids.pop(taken.step.slot, None)
            if taken.made is not None:
                self._ids[taken.step.slot] = taken.made

    def _confirmed(self, finding: Finding) -> Finding | None:
        """Return the finding, once other users are ruled out as its cause, under the requirement that it breaks."""
        if finding.unconfirmed:
            if finding.requirement not in LAWS or finding.because:
                found = confirmed_by_repetition(self.run, finding, judge_by_ledger(self.ledger, finding.requirement))
                return None if found is None or is_on_another_page(self.run, found) else found
            return confirmed_by_repetition(self.run, finding, partial(_by_law, Findings(), finding.requirement))
        operation, identifier = finding.exchange.operation_id, finding.identifier
        if operation in {"getEngagement", "updateEngagement"}:
            self.run.sleep(ONE_SECOND_TICK)  # late effects are complete by then
            later = self.run.send(finding.exchange.request)
            return next(
                (candidate for candidate in self._findings_with(later) if candidate.exchange is finding.exchange),
                finding,
            )
        if operation == "listEngagements" and identifier is not None:
            later = self.run.send(requests.get_engagement(identifier))
            # If the read is right, the list itself was at fault.
            place = finding.exchange, finding.pointer
            confirmed = [
                candidate
                for candidate in self._findings_with(later)
                if candidate.exchange is later or (candidate.exchange, candidate.pointer) == place
            ]
            return max(confirmed, key=lambda candidate: candidate.exchange is later, default=finding)
        return finding

    def _findings_with(self, later: Exchange) -> list[Finding]:
        """Return the findings of a ledger that also knows the later exchange."""
        exchanges = [*self.further, *(taken_step.exchange for taken_step in self.taken), later]
        return Ledger.over(exchanges).findings.broken


_ON_ENGAGEMENT: Final = {
    Kind.ARCHIVE: requests.archive_engagement,
    Kind.UNARCHIVE: requests.unarchive_engagement,
    Kind.DELETE: requests.delete_engagement,
    Kind.GET: requests.get_engagement,
}


def _by_laws(findings: Findings, exchange: Exchange) -> list[Finding]:
    """Return the breaches of laws by a response; record it as evidence for the laws that it keeps."""
    return [found for requirement in LAWS if (found := _by_law(findings, requirement, exchange)) is not None]


def _by_law(findings: Findings, requirement: str, exchange: Exchange) -> Finding | None:
    """Return the breach of a law by a response; record the response as evidence if it keeps the law."""
    try:
        if exchange.judgeable and exchange.received_status != TOO_MANY_REQUESTS and LAWS[requirement](exchange):
            findings.keep(requirement, exchange)
    except NonConformity as fault:
        unconfirmed = exchange.request.operation.response == "list" and requirement != "no-server-error"
        words = fault.message, fault.expected, fault.actual, fault.pointer
        return Finding(requirement, exchange, (), *words, of_list=True, unconfirmed=unconfirmed)
    except CantTell:
        return None
    return None
