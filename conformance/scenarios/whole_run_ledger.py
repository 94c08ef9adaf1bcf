"""Judge all exchanges of a run by the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.catalogue import load_catalogue
from conformance.confirm.clock_ticks import expect_moved
from conformance.confirm.torn_lists import others_moved, others_shifted, written_meanwhile
from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle.ledger.attribution import MOVES
from conformance.oracle.ledger.findings import Findings
from conformance.oracle.ledger.ledger import ORGANIZATION_RULES, SCENARIOS, Ledger
from conformance.oracle.ledger.lists import page_of
from conformance.oracle.ledger.members import OwnMember
from conformance.oracle.ledger.organization import OF_UPDATES, ONLY_NAME
from conformance.oracle.outcomes import CantTell, CheckOutcome, Inapplicable, NonConformity, evidence
from conformance.running.scenarios import scenario, scenario_named
from conformance.scenarios.access.invalid_requests import invalid_organization_updates_again
from conformance.scenarios.keys_in_turn import key_made_for_run
from conformance.scenarios.last_look import last_look
from conformance.scenarios.organization.name_changes import renaming
from conformance.scenarios.organization.organization_walk import organization_walk
from conformance.scenarios.repeated_findings import (
    confirmed_by_repetition,
    is_on_another_page,
    judge_by_ledger,
    repeat_request,
)
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from conformance.wire.exchange import NoResponse, NotSent
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.oracle.ledger.findings import Finding
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_NAME: Final = "/data/name"
_CHANGED_BY_OTHERS: Final = frozenset({"/data/slug", "/data/plan", "/data/settings"})
"""Fields of the organization that another user may change at the same time as the run."""
_MOST_UNLISTED: Final = 10
"""Most engagements missing from lists that are read, to distinguish deleted from unlisted ones."""


@dataclass(slots=True)
class LedgerResults:
    """The ledger's results for a run, after suspicious lists were requested again.

    Attributes:
        findings: The findings, without lists that were wrong only while the run wrote.
        doubts: CantTell by requirement, for findings that were not seen again and have no such excuse.
        torn: Lists that were wrong while the run was writing and right with no write in flight.
    """

    findings: Findings
    doubts: dict[str, CantTell] = field(default_factory=dict)
    torn: list[Exchange] = field(default_factory=list)


@scenario(alone=True)
def ledger_of_run(run: Run) -> LedgerResults:
    """Enter all exchanges of the run into the ledger, after a last look, and request suspicious lists again."""
    chosen = [rule for rule in dict.fromkeys((*ORGANIZATION_RULES, *SCENARIOS)) if _is_chosen(run, rule)]
    for name in dict.fromkeys(name for rule in chosen for name in SCENARIOS.get(rule, ())):
        run.scenarios.wait_for(scenario_named(name))
    run.scenarios.wait_for(last_look)
    ledger = _ledger_of(run)
    if unlisted := dict.fromkeys(gone for finding in ledger.findings.broken for gone in finding.unlisted):
        run.send_all([requests.get_engagement(identifier) for identifier in list(unlisted)[:_MOST_UNLISTED]])
        ledger = _ledger_of(run)
    results, sure = LedgerResults(Findings(kept=ledger.findings.kept)), set[str]()
    for finding in [_certain_if_made(run, finding) for finding in ledger.findings.broken]:
        if finding.requirement in ORGANIZATION_RULES and finding.requirement not in chosen:
            continue
        asks = finding.unconfirmed and not {finding.requirement} & (sure | results.doubts.keys())
        again = _confirm_organization if finding.requirement in OF_UPDATES else _confirm_list
        confirmed = again(run, finding, ledger, results) if asks else _unless_clock_explains(run, finding, results)
        if confirmed is not None:
            results.findings.broken.append(confirmed)
            sure |= set() if confirmed.unconfirmed else {confirmed.requirement}
    results.findings.broken += _of_other_organization(run)
    return results


def _certain_if_made(run: Run, finding: Finding) -> Finding:
    """Return a finding, as certain if it is about an organization made for the run, which no other user changes."""
    is_made = finding.exchange.request.key_name == OTHER_KEY and key_made_for_run(run) is not None
    return replace(finding, unconfirmed=False) if is_made and finding.requirement in OF_UPDATES else finding


def _of_other_organization(run: Run) -> list[Finding]:
    """Return the findings about the other organization's engagements, by a ledger in which its key is the main one.

    Suspicious lists are requested again. A finding that is not confirmed is left out.
    """
    by_key = [exchange for exchange in run.wire.exchanges if exchange.request.key_name == OTHER_KEY]
    scopes = {
        exchange.request.operation.scope for exchange in by_key if exchange.accepted and exchange.request.is_proper
    }

    def seen(exchange: Exchange) -> Exchange:
        return exchange.seen_from_other(scopes - {None})

    ledger = Ledger.over(map(seen, run.wire.exchanges))
    found: dict[str, Finding] = {}
    for finding in tuple(ledger.findings.broken):
        rule = finding.requirement
        if rule not in ORGANIZATION_RULES and rule not in found:
            judge = judge_by_ledger(ledger, rule, seen)
            confirmed = _confirmed_of_other(run, _as_sent(run, finding), judge)
            found |= {} if confirmed is None else {rule: confirmed}
    return list(found.values())


def _confirmed_of_other(run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]) -> Finding | None:
    """Return a finding about the other organization if its users, and the service's clock, cannot be the reason."""
    if not finding.unconfirmed:
        of_clock = _unless_clock_explains(run, finding, LedgerResults(Findings()))
        return None if of_clock.unconfirmed else of_clock
    again = confirmed_by_repetition(run, finding, judge)
    if again is None or is_on_another_page(run, again := _as_sent(run, again)):
        return None
    return replace(again, unconfirmed=False)


def _as_sent(run: Run, finding: Finding) -> Finding:
    """Return a finding with the exchanges as the run sent them."""
    sent = {exchange.number: exchange for exchange in run.wire.exchanges}
    because = tuple(sent[cited.number] for cited in finding.because)
    return replace(finding, exchange=sent[finding.exchange.number], because=because)


def _ledger_of(run: Run) -> Ledger:
    members = {
        user_id: OwnMember(member.is_new, member.credential.name if member.credential else None)
        for user_id, member in run.fixtures.members.items()
    }
    return Ledger.over(run.wire.exchanges, members)


def _unless_clock_explains(run: Run, finding: Finding, results: LedgerResults) -> Finding:
    """Return a finding; record a doubt if the service's clock may be the reason why a time has not moved."""
    if finding.requirement not in MOVES.values():
        return finding
    try:
        expect_moved(run, finding.actual, finding.expected, *finding.because, finding.exchange)
    except CantTell as doubt:
        results.doubts[finding.requirement] = doubt
        return replace(finding, unconfirmed=True)
    except NonConformity:
        pass
    return finding


def _is_chosen(run: Run, rule: str) -> bool:
    """Whether a requirement is among those of the run, and the target has what it needs."""
    chosen = not run.options.only or rule in run.options.only
    return chosen and all(map(run.meets, load_catalogue().requirements[rule].needs))


def conclude_sent(run: Run, requirement: str, results: LedgerResults) -> None:
    """Raise the ledger's outcome for a requirement about members or the organization, unless it was met.

    Raises:
        CheckOutcome: As for ``conclude``; or the outcome of the scenario that sends the requests, if that has failed.
    """
    try:
        conclude(requirement, results)
    except Inapplicable:
        for name in SCENARIOS.get(requirement, ()):
            run.scenarios.result(scenario_named(name))
        raise


def conclude(requirement: str, results: LedgerResults) -> None:
    """Raise the ledger's outcome for a requirement, unless it was met.

    Raises:
        NonConformity: It was broken; if other users could be the cause, two more reads have confirmed it.
        CantTell: Another broken requirement explains the finding, or it was not seen again.
        Inapplicable: The run did not test it.
    """
    findings = results.findings
    broken = findings.of(requirement)
    if broken:
        raise_if_explained(requirement, results, broken[0].message)
    if sure := next((finding for finding in broken if not finding.unconfirmed), None):
        raise sure.as_fault(context=_count(broken))
    if broken:
        raise results.doubts[requirement]
    _conclude_kept(findings, requirement)


def raise_if_explained(requirement: str, results: LedgerResults, message: str) -> None:
    """Raise CantTell with a message if the breach of another requirement explains an apparent breach of this one."""
    if root := results.findings.explained(requirement):
        raise CantTell(f"{message}, but there may be another reason: {root.message}", *_cited(root))


def _conclude_kept(findings: Findings, requirement: str) -> None:
    """Record the evidence that a requirement was met.

    Raises:
        Inapplicable: There is none.
    """
    evident = findings.kept.get(requirement, [])
    if not evident:
        raise Inapplicable("no request of the run tested it in this way")
    evidence(*dict.fromkeys(evident))


def _confirm_list(run: Run, finding: Finding, ledger: Ledger, results: LedgerResults) -> Finding | None:
    """Return a confirmed finding that others, or writes of the run, may have caused; record doubts."""
    again, right = repeat_request(run, finding, judge_by_ledger(ledger, finding.requirement))
    if again is not None and not is_on_another_page(run, again):
        return replace(again, unconfirmed=False)
    if right is not None and written_meanwhile(run, finding.exchange):
        results.torn.append(finding.exchange)
        return None
    if right is not None and (
        others_shifted(run, finding.exchange, right) or others_moved(run, finding.exchange, _as_whole(run, right))
    ):
        return None
    why = "not when it was read again" if again is None else "another page has it, in a wrong place"
    results.doubts[finding.requirement] = CantTell(f"{finding.message}, but {why}", *_cited(finding))
    return finding


def _again(run: Run) -> Findings:
    """Update the organization in the same ways once more, and return what its ledger finds in these exchanges.

    That ledger knows the earlier updates, but no earlier read: a former name of the run is then no other user's name.

    Raises:
        CantTell: An update was withheld, as another user has renamed the organization.
    """
    earlier = tuple(run.wire.exchanges)
    for update in (renaming, organization_walk, invalid_organization_updates_again):
        try:
            update(run)
        except NotSent as withheld:
            raise CantTell(f"the updates could not be repeated, as {withheld}") from withheld
        except (CheckOutcome, NoResponse, MissingMeans):
            pass
    updates = [exchange for exchange in earlier if exchange.operation_id == "updateCurrentOrganization"]
    later = run.wire.exchanges[len(earlier) :]
    broken = Ledger.over([*updates, *later]).findings.broken
    return Findings([finding for finding in broken if finding.exchange in later])


def _confirm_organization(run: Run, finding: Finding, ledger: Ledger, results: LedgerResults) -> Finding:
    """Return a finding about the organization as certain if no other users change it.

    What they may have changed must recur. If another update leaves a wrong name the second time, the finding is of its
    requirement.
    """
    must_recur = _may_be_of_others(finding)
    rules = dict.fromkeys((finding.requirement, *(OF_UPDATES if finding.pointer == _NAME else ())))
    repeated: list[Finding] = []

    def judge(seen: Findings) -> None:
        broken = (found for rule in rules for found in seen.of(rule))
        repeated[:] = [found for found in broken if found.pointer == finding.pointer][:1]
        for found in repeated:
            raise found.as_fault()

    try:
        with confirm.cant_tell_if_others_interfere(run):
            confirm.again(
                ledger.findings, judge, lambda: run.scenarios.result(_again) if must_recur else ledger.findings
            )
    except NonConformity:
        return replace(finding, requirement=repeated[0].requirement, unconfirmed=False)
    except CantTell as doubt:
        results.doubts[finding.requirement] = doubt
    return finding


def _may_be_of_others(finding: Finding) -> bool:
    """Whether another user may have changed the field: its name, or what was not read right before and after."""
    if finding.pointer == _NAME or (finding.requirement, finding.pointer) == (ONLY_NAME, "/data/settings"):
        return True
    return finding.pointer in _CHANGED_BY_OTHERS and not _is_at_once(_cited(finding))


def _is_at_once(exchanges: Sequence[Exchange]) -> bool:
    """Whether the run sent nothing else between these exchanges."""
    numbers = {exchange.number for exchange in exchanges}
    return max(numbers) - min(numbers) < len(numbers)


def _as_whole(run: Run, listed: Exchange) -> Exchange:
    """Return a list, with the largest page size if it has outgrown its own."""
    page = page_of(listed)
    if page is None or page.number > 1 or page.is_whole:
        return listed
    query = {**page.asked, "perPage": str(MAX_PER_PAGE)}
    return run.send(replace(listed.request, query=tuple(query.items())))


def _cited(finding: Finding) -> tuple[Exchange, ...]:
    return (*finding.because, finding.exchange)


def _count(broken: Sequence[Finding]) -> str:
    return f" ({len(broken)} times in this run)" if len(broken) > 1 else ""
