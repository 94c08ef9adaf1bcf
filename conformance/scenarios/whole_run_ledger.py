"""EngagementRules all exchanges of a run by the ledger."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance import confirm
from conformance.catalogue import load_catalogue
from conformance.confirm.clock_ticks import expect_moved
from conformance.confirm.torn_lists import others_moved, others_shifted, written_meanwhile
from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.oracle import read
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.ledger.attribution import MOVES
from conformance.oracle.ledger.findings import Findings
from conformance.oracle.ledger.ledger import ORGANIZATION_RULES, SCENARIOS, Ledger
from conformance.oracle.ledger.lists import page_of
from conformance.oracle.ledger.members import OwnMember
from conformance.oracle.ledger.organization import OF_UPDATES, ONLY_NAME
from conformance.oracle.lists.collation import name_key
from conformance.oracle.lists.listing import contents
from conformance.oracle.outcomes import CantTell, CheckOutcome, Inapplicable, NonConformity, evidence
from conformance.running.scenarios import scenario, scenario_named
from conformance.scenarios.access.invalid_requests import invalid_organization_updates_again
from conformance.scenarios.last_look import last_look
from conformance.scenarios.organization.name_changes import renaming
from conformance.scenarios.organization.organization_walk import organization_walk
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests
from conformance.wire.exchange import NoResponse
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.oracle.ledger.findings import Finding
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_PAUSES: Final = (0.4, 1.0, 0.4, 1.0)
_MOST_PAGES: Final = 20
_MOST_UNLISTED: Final = 10
"""Engagements that a list lacks and that are read: are they gone, or only not listed?"""


@dataclass(slots=True)
class Account:
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
def ledger_of_run(run: Run) -> Account:
    """Enter all exchanges of the run into the ledger, after a last look, and request suspicious lists again."""
    chosen = [rule for rule in dict.fromkeys((*ORGANIZATION_RULES, *SCENARIOS)) if _is_chosen(run, rule)]
    for name in dict.fromkeys(name for rule in chosen for name in SCENARIOS.get(rule, ())):
        run.scenarios.wait_for(scenario_named(name))
    run.scenarios.wait_for(last_look)
    ledger = _entered(run)
    if unlisted := dict.fromkeys(gone for finding in ledger.findings.broken for gone in finding.unlisted):
        run.send_all([requests.get_engagement(identifier) for identifier in list(unlisted)[:_MOST_UNLISTED]])
        ledger = _entered(run)
    account, sure = Account(Findings(kept=ledger.findings.kept)), set[str]()
    for finding in tuple(ledger.findings.broken):
        if finding.requirement in ORGANIZATION_RULES and finding.requirement not in chosen:
            continue
        asks = finding.unconfirmed and not {finding.requirement} & (sure | account.doubts.keys())
        again = _updated_again if finding.requirement in OF_UPDATES else _asked_again
        confirmed = again(run, finding, ledger, account) if asks else _by_clock(run, finding, account)
        if confirmed is not None:
            account.findings.broken.append(confirmed)
            sure |= set() if confirmed.unconfirmed else {confirmed.requirement}
    account.findings.broken += _of_other_organization(run)
    return account


def _of_other_organization(run: Run) -> list[Finding]:
    """Return the findings about the other organization's engagements, by a ledger in which its key is the main one.

    Suspicious lists are requested again. A finding that is not confirmed is left out.
    """
    by_key = [exchange for exchange in run.wire.exchanges if exchange.request.key_name == OTHER_KEY]
    scopes = {
        exchange.request.operation.scope for exchange in by_key if exchange.accepted and exchange.request.is_proper
    }

    def seen(exchange: Exchange) -> Exchange:
        return exchange.seen_from(OTHER_KEY, scopes - {None})

    ledger = Ledger.over(map(seen, run.wire.exchanges), name_key)
    found: dict[str, Finding] = {}
    for finding in tuple(ledger.findings.broken):
        rule = finding.requirement
        if rule not in ORGANIZATION_RULES and rule not in found:
            judge = by_ledger(ledger, rule, seen)
            confirmed = _confirmed_of_other(run, _as_sent(run, finding), judge)
            found |= {} if confirmed is None else {rule: confirmed}
    return list(found.values())


def _confirmed_of_other(run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]) -> Finding | None:
    """Return a finding about the other organization if its users, and the service's clock, cannot be the reason."""
    if not finding.unconfirmed:
        of_clock = _by_clock(run, finding, Account(Findings()))
        return None if of_clock.unconfirmed else of_clock
    again = seen_again(run, finding, judge)
    if again is None or is_elsewhere(run, again := _as_sent(run, again)):
        return None
    return replace(again, unconfirmed=False)


def _as_sent(run: Run, finding: Finding) -> Finding:
    """Return a finding with the exchanges as the run sent them."""
    sent = {exchange.number: exchange for exchange in run.wire.exchanges}
    because = tuple(sent[cited.number] for cited in finding.because)
    return replace(finding, exchange=sent[finding.exchange.number], because=because)


def _entered(run: Run) -> Ledger:
    members = {
        user_id: OwnMember(member.is_new, member.credential.name if member.credential else None)
        for user_id, member in run.fixtures.members.items()
    }
    return Ledger.over(run.wire.exchanges, name_key, members)


def _by_clock(run: Run, finding: Finding, account: Account) -> Finding:
    """Return a finding; record a doubt if the service's clock may be the reason why a time has not moved."""
    if finding.requirement not in MOVES.values():
        return finding
    try:
        expect_moved(run, finding.actual, finding.expected, *finding.because, finding.exchange)
    except CantTell as doubt:
        account.doubts[finding.requirement] = doubt
        return replace(finding, unconfirmed=True)
    except NonConformity:
        pass
    return finding


def _is_chosen(run: Run, rule: str) -> bool:
    """Whether a requirement is among those of the run, and the target has what it needs."""
    chosen = not run.options.only or rule in run.options.only
    return chosen and all(map(run.meets, load_catalogue().requirements[rule].needs))


def conclude_sent(run: Run, requirement: str, account: Account) -> None:
    """Raise the ledger's outcome for a requirement about members or the organization, unless it was met.

    Raises:
        CheckOutcome: As for ``conclude``; or the outcome of the scenario that sends the requests, if that has failed.
    """
    try:
        conclude(requirement, account)
    except Inapplicable:
        for name in SCENARIOS.get(requirement, ()):
            run.scenarios.result(scenario_named(name))
        raise


def conclude(requirement: str, account: Account) -> None:
    """Raise the ledger's outcome for a requirement, unless it was met.

    Raises:
        NonConformity: It was broken; if other users could be the cause, two more reads have confirmed it.
        CantTell: Another broken requirement explains the finding, or it was not seen again.
        Inapplicable: The run did not test it.
    """
    findings = account.findings
    broken = findings.of(requirement)
    if broken and (root := findings.explained(requirement)):
        raise CantTell(f"{broken[0].message}, but there may be another reason: {root.message}", *_cited(root))
    if sure := next((finding for finding in broken if not finding.unconfirmed), None):
        raise sure.as_fault(context=_others(broken))
    if broken:
        raise account.doubts[requirement]
    _conclude_kept(findings, requirement)


def _conclude_kept(findings: Findings, requirement: str) -> None:
    """Record the evidence that a requirement was met.

    Raises:
        Inapplicable: There is none.
    """
    evident = findings.kept.get(requirement, [])
    if not evident:
        raise Inapplicable("No request of the run tested it in this way")
    evidence(*dict.fromkeys(evident))


def seen_again(run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]) -> Finding | None:
    """Send the request of a fault again, while the run writes nothing else, until two responses show the same fault.

    Args:
        run: The run.
        finding: The fault.
        judge: Returns the fault of this kind in a response, if there is one.

    Returns:
        The last finding, if every response had one and the last two are the same; None otherwise.
    """
    return _looked_again(run, finding, judge)[0]


def _looked_again(
    run: Run, finding: Finding, judge: Callable[[Exchange], Finding | None]
) -> tuple[Finding | None, Exchange | None]:
    """Return that finding, or the response without a fault; neither if other users kept changing the list."""
    before = None
    for pause in _PAUSES:
        run.sleep(pause)
        with run.wire.undisturbed():
            response = run.send(finding.exchange.request)
        found = judge(response)
        if found is None:
            return None, response
        if before is not None and _is_same(before, found):
            return found, None
        before = found
    return None, None


def is_elsewhere(run: Run, finding: Finding) -> bool:
    """Whether another page of the list has the item missing from one: then the order is wrong, and nothing is lost.

    The nearest pages are read, as many as the run can afford.
    """
    page = None if finding.absent is None else page_of(finding.exchange)
    if page is None:
        return False
    near = range(max(1, page.number - _MOST_PAGES), min(page.pages, page.number + _MOST_PAGES) + 1)
    others = sorted(set(near) - {page.number}, key=lambda number: abs(number - page.number))
    asked = finding.exchange.request
    query = tuple((name, value) for name, value in asked.query if name != "page")
    requests = [replace(asked, query=(*query, ("page", str(number)))) for number in others[:_MOST_PAGES]]
    with run.wire.undisturbed():
        responses = run.send_all(requests)
    return any(read.id_of(item) == finding.absent for response in responses for item in readable_resources(response))


def by_ledger(
    ledger: Ledger, requirement: str, seen: Callable[[Exchange], Exchange] = lambda exchange: exchange
) -> Callable[[Exchange], Finding | None]:
    """Return a function that finds the fault of a response by a ledger and a requirement.

    Args:
        ledger: The ledger.
        requirement: The requirement.
        seen: Returns an exchange as the ledger's organization sees it.
    """
    return lambda exchange: next(
        (finding for finding in ledger.take(seen(exchange)) if finding.requirement == requirement), None
    )


def _is_same(first: Finding, other: Finding) -> bool:
    return (first.message, first.actual, _shown(first)) == (other.message, other.actual, _shown(other))


def _shown(finding: Finding) -> list[object] | None:
    """Return what must not move between two reads; None if the response is unreadable, which others cannot cause."""
    return read.or_none(contents, (finding.exchange,))


def _asked_again(run: Run, finding: Finding, ledger: Ledger, account: Account) -> Finding | None:
    """Return a confirmed finding that others, or writes of the run, may have caused; record doubts."""
    again, right = _looked_again(run, finding, by_ledger(ledger, finding.requirement))
    if again is not None and not is_elsewhere(run, again):
        return replace(again, unconfirmed=False)
    if right is not None and written_meanwhile(run, finding.exchange):
        account.torn.append(finding.exchange)
        return None
    if right is not None and (
        others_shifted(run, finding.exchange, right) or others_moved(run, finding.exchange, _as_whole(run, right))
    ):
        return None
    why = "not when it was read again" if again is None else "another page has it, in a wrong place"
    account.doubts[finding.requirement] = CantTell(f"{finding.message}, but {why}", *_cited(finding))
    return finding


def _again(run: Run) -> Ledger:
    """Update the organization in the same ways once more, and return the ledger of these updates alone."""
    since = len(run.wire.exchanges)
    for update in (renaming, organization_walk, invalid_organization_updates_again):
        with suppress(CheckOutcome, NoResponse, MissingMeans):
            update(run)
    return Ledger.over(run.wire.exchanges[since:])


def _updated_again(run: Run, finding: Finding, ledger: Ledger, account: Account) -> Finding:
    """Return a finding about the organization as certain if no other users change it; one of a name must come again."""

    def judge(seen: Ledger) -> None:
        for found in seen.findings.of(finding.requirement)[:1]:
            raise found.as_fault()

    again = finding.pointer == "/data/name" or (finding.requirement, finding.pointer) == (ONLY_NAME, "/data/settings")
    try:
        with confirm.cant_tell_if_others_interfere(run):
            confirm.again(ledger, judge, lambda: run.scenarios.result(_again) if again else ledger)
    except NonConformity:
        return replace(finding, unconfirmed=False)
    except CantTell as doubt:
        account.doubts[finding.requirement] = doubt
    return finding


def _as_whole(run: Run, listed: Exchange) -> Exchange:
    """Return a list, with the largest page size if it has outgrown its own."""
    page = page_of(listed)
    if page is None or page.number > 1 or page.is_whole:
        return listed
    query = {**page.asked, "perPage": str(MAX_PER_PAGE)}
    return run.send(replace(listed.request, query=tuple(query.items())))


def _cited(finding: Finding) -> tuple[Exchange, ...]:
    return (*finding.because, finding.exchange)


def _others(broken: Sequence[Finding]) -> str:
    return f" ({len(broken)} times in this run)" if len(broken) > 1 else ""
