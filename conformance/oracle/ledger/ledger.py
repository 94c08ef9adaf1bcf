"""Ledger: a model of a run's engagements, members and organizations, and the responses that contradict it.

Every exchange is first recorded with its possible effects, and then judged, in the order of the responses.
A response is judged against every possible state: overlapping requests may have happened in either order, and
requests without a response at any time or never. Only the run's own engagements and members are judged, so that other
users may use the organization meanwhile.
"""

from __future__ import annotations

from http import HTTPStatus
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import CHANGES_ENGAGEMENT
from conformance.oracle import read
from conformance.oracle.effects import STATUS, Interval
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.ledger.accepted_texts import AcceptedTexts
from conformance.oracle.ledger.access import OF_ACCESS, Access
from conformance.oracle.ledger.changes import Changes
from conformance.oracle.ledger.clock import CreationClock
from conformance.oracle.ledger.creations import Creations
from conformance.oracle.ledger.findings import OF_KEYS, OF_REFUSALS, Finding, Findings
from conformance.oracle.ledger.histories import History, Write, write
from conformance.oracle.ledger.lists import ListRules, page_of
from conformance.oracle.ledger.members import ADDS_NO_MEMBER, OF_LISTS, OF_MEMBERS, REFUSED_CHANGE, Members, OwnMember
from conformance.oracle.ledger.names import Names
from conformance.oracle.ledger.organization import OF_UPDATES, ONE_ORGANIZATION, REFUSED_UPDATE, Organizations
from conformance.oracle.ledger.reads import Reads
from conformance.oracle.ledger.times import Times
from conformance.oracle.permissions import Rule, rule_of
from conformance.wire.exchange import OF_KEY, TOO_MANY_REQUESTS
from conformance.wire.requests import JSON_HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.wire.exchange import Exchange

ENGAGEMENT_RULES: Final = (
    "create-engagement-succeeds",
    "create-engagement-answers-what-was-sent",
    "create-engagement-lasts",
    "create-engagement-keeps-text",
    "create-engagement-listed",
    "create-engagement-counted",
    "create-engagement-refused-creates-nothing",
    "new-engagement-active",
    "get-engagement-succeeds",
    "get-engagement-is-the-one-asked-for",
    "created-at-never-changes",
    "updated-at-never-goes-back",
    "update-engagement-succeeds",
    "update-engagement-takes-effect",
    "update-engagement-keeps-text",
    "update-engagement-keeps-the-rest",
    "update-engagement-own-values",
    "update-engagement-in-parallel",
    "update-engagement-spares-others",
    "update-engagement-refused-changes-nothing",
    "archive-engagement-succeeds",
    "archive-sets-status",
    "archive-keeps-content",
    "archive-spares-others",
    "archive-effective-at-once",
    "archive-engagement-answers-updated-at",
    "archived-readable",
    "archived-listed",
    "archived-edit-refused",
    "archived-edit-changes-nothing",
    "archived-again-stays-archived",
    "archived-deletable",
    "unarchive-served",
    "unarchived-editable",
    "unarchived-archivable",
    "delete-engagement-succeeds",
    "delete-spares-others",
    "delete-effective-at-once",
    "deleted-unreadable",
    "deleted-unlisted",
    "deleted-uneditable",
    "deleted-unarchivable",
    "deleted-not-unarchived",
    "deleted-undeletable",
    "list-engagements-as-read",
    "list-engagements-total",
    "list-engagements-filter-counts",
    "list-engagements-status-filter",
    "list-engagements-pages-partition",
    "sort-by-name",
    "sort-with-filter",
    "reading-changes-nothing",
    "update-engagement-moves-updated-at",
    "archive-refreshes-updated-at",
    "isolation-lists",
    *sorted(OF_REFUSALS),
)
"""The requirements about engagements that the ledger can judge."""

ORGANIZATION_RULES: Final = (
    *(*OF_MEMBERS, *OF_UPDATES, ADDS_NO_MEMBER, *OF_LISTS, ONE_ORGANIZATION, *OF_KEYS, *OF_ACCESS),
    "removed-member-loses-organization",
)  # fmt: skip
"""The requirements about members and organizations that the ledger can judge."""

SCENARIOS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(OF_MEMBERS, ("role_changes", "removal", "role_walk")),
        **dict.fromkeys(OF_UPDATES, ("renaming", "organization_walk")),
        REFUSED_UPDATE: ("renaming", "invalid_organization_updates"),
        REFUSED_CHANGE: ("invalid_role_changes",),
        ADDS_NO_MEMBER: ("inviting",),
        "isolation-untouched": ("member_of_one",),
        **dict.fromkeys(
            (
                "archive-engagement-succeeds",
                "archive-keeps-content",
                "archive-engagement-answers-updated-at",
                "archived-edit-changes-nothing",
            ),
            ("archiving",),
        ),
        **dict.fromkeys(
            (
                "created-at-never-changes",
                "updated-at-never-goes-back",
                "update-engagement-takes-effect",
                "update-engagement-keeps-the-rest",
            ),
            ("editing",),
        ),
        "scope-refused-changes-nothing": ("single_permissions",),
        **dict.fromkeys(("deleted-unreadable", "deleted-unarchivable", "deleted-not-unarchived"), ("deletion",)),
        "throttled-changes-nothing": ("throttling",),
        "unauthenticated-changes-nothing": ("wrong_keys",),
    }
)
"""The scenarios that send what a rule judges, if a run has no other checks; like ``Law.scenarios`` of a law."""

_NO_MEMBERS: Final[Mapping[str, OwnMember]] = MappingProxyType({})


class Ledger:
    """A model of the engagements that the run made, of its members and of the organizations.

    Args:
        members: The members that the run may change, by id.

    Attributes:
        findings: The findings so far.
    """

    def __init__(self, members: Mapping[str, OwnMember] = _NO_MEMBERS) -> None:
        self.findings = Findings()
        self.histories: dict[str, History] = {}
        self._given_twice: set[str] = set()
        self._creations = Creations()
        self._names = Names()
        self._texts = AcceptedTexts("name"), AcceptedTexts("description")
        self._others: list[Write] = []
        self._clock = CreationClock()
        times = Times(self.findings, self._changes_of_others, self._clock)
        self._reads = Reads(self.findings, self._changes_of_others, times)
        self._changes = Changes(self.findings, self._changes_of_others, self._names, self._texts)
        self._lists = ListRules(self.findings, self.histories, self._changes_of_others, self._creations, times)
        self._access = Access(self.findings, {member.key: user_id for user_id, member in members.items()})
        self._organization_rules = Members(self.findings, members), Organizations(self.findings), self._access

    @classmethod
    def over(cls, exchanges: Iterable[Exchange], members: Mapping[str, OwnMember] = _NO_MEMBERS) -> Ledger:
        """Return the ledger of many exchanges, some of which may have overlapped.

        Args:
            exchanges: The exchanges, in any order.
            members: As for the class.
        """
        ledger = cls(members)
        known = sorted(exchanges, key=lambda exchange: Interval.of(exchange).start)
        for exchange in known:
            ledger.record(exchange)
        for exchange in sorted(known, key=lambda exchange: Interval.of(exchange).end):
            ledger.judge(exchange)
        return ledger

    def record(self, exchange: Exchange) -> None:
        """Record the possible effects of an exchange.

        Record all overlapping exchanges before judging one of them, and creations before requests for what they made.
        """
        for part in self._organization_rules:
            part.record(exchange)
        for texts in self._texts:
            texts.record(exchange)
        operation, identifier = exchange.operation_id, exchange.request.identifier
        if not exchange.request.is_proper:
            self._stop_judging(exchange)
        elif operation == "listEngagements":
            if _shows_organization(exchange) and (page := page_of(exchange)) is not None:
                self._lists.record_order(page)
        elif operation == "createEngagement":
            self._create(exchange)
        elif identifier in self.histories:
            history = self.histories[identifier]
            if operation in CHANGES_ENGAGEMENT:
                change = write(exchange)
                history.take(change)
                self._others.append(change)
                self._names.record(exchange, history)
            elif operation == "getEngagement" and exchange.received is not None and _is_judged(exchange):
                history.reads.append((Interval.of(exchange), exchange.received.status))

    def judge(self, exchange: Exchange) -> list[Finding]:
        """Judge a response.

        Returns:
            The findings about it.
        """
        before = len(self.findings.broken)
        for part in self._organization_rules if exchange.judgeable else ():
            part.judge(exchange)
        if (
            exchange.judgeable
            and exchange.request.is_proper
            and (_is_judged(exchange) or self._access.is_lost(exchange))
        ):
            self._judge_engagements(exchange)
        return self.findings.broken[before:]

    def _judge_engagements(self, exchange: Exchange) -> None:
        operation, identifier = exchange.operation_id, exchange.request.identifier
        if operation == "listEngagements" and exchange.accepted:
            if (page := page_of(exchange)) is not None:
                self._lists.page(page)
        elif operation == "createEngagement":
            made = _id_made(exchange)
            self._changes.undescribed(exchange)
            if made is not None and made in self.histories:
                self._changes.created(self.histories[made], exchange)
            elif exchange.by_main_key:
                self._changes.not_created(exchange)
        elif identifier in self.histories and _is_bare(exchange):
            history = self.histories[identifier]
            if operation == "getEngagement":
                self._reads.read(history, exchange)
            elif operation in CHANGES_ENGAGEMENT:
                self._changes.change(history, exchange)

    def take(self, exchange: Exchange) -> list[Finding]:
        """Record and judge an exchange that no other exchange overlapped."""
        self.record(exchange)
        return self.judge(exchange)

    def count(self, status: str | None = None) -> int:
        """Return how many engagements exist now for certain, of one status or of all."""
        now = Interval(inf, inf)
        existing = [history for history in self.histories.values() if history.exists(now)]
        return sum(status is None or history.registers[STATUS].certain_value(now) == status for history in existing)

    def _create(self, exchange: Exchange) -> None:
        self._creations.add(exchange)
        identifier = _id_made(exchange)
        if identifier is None:
            self._names.record(exchange, None)
            return
        if identifier in self.histories or identifier in self._given_twice:
            # A response could be about either of them; another check reports the shared identifier.
            self._given_twice.add(identifier)
            self.histories.pop(identifier, None)
            self._names.record(exchange, None)
            return
        history = self.histories[identifier] = History.created_by(identifier, exchange)
        if history.at_creation is not None and (moment := history.at_creation.moment("createdAt")) is not None:
            self._clock.learn(exchange.request.key_name, moment, history.at_creation.interval)
        self._names.record(exchange, history)

    def _stop_judging(self, exchange: Exchange) -> None:
        """Stop judging an engagement after a request outside the interface."""
        history = self.histories.get(exchange.request.identifier or "")
        if history is not None and exchange.request.method != "GET":
            history.broken = True

    def _changes_of_others(self, history: History, start: float, end: float) -> Sequence[Write]:
        return [
            change
            for change in self._others
            if change.interval.start < end
            and change.interval.end > start
            and change.exchange.request.identifier != history.identifier
        ]


def _shows_organization(exchange: Exchange) -> bool:
    """Whether this is a success of a key that belongs to the main key's organization and may do this."""
    return exchange.accepted and rule_of(exchange.request) is not Rule.REFUSED


def _is_judged(exchange: Exchange) -> bool:
    """Whether the state of an engagement decides the response, not a permission that the key may lack.

    The service may deny a key the existence of what it must not reach.
    """
    rule = rule_of(exchange.request)
    of_key = OF_KEY | ({HTTPStatus.NOT_FOUND} if rule is Rule.OPEN else set())
    may = rule is not Rule.REFUSED and exchange.received_status not in of_key
    is_judged = exchange.by_main_key or may or _shows_organization(exchange)
    return is_judged and exchange.received_status != TOO_MANY_REQUESTS


def _id_made(exchange: Exchange) -> str | None:
    """Return the id of an engagement that was created; None if that was refused or the id is unreadable."""
    return read.id_of(first_resource(exchange) or {}) if _shows_organization(exchange) else None


def _is_bare(exchange: Exchange) -> bool:
    """Whether a request carries no more than its operation takes, so that a refusal can have no other reason."""
    sent = exchange.request
    if sent.query:
        return False
    return sent.headers == JSON_HEADERS if sent.operation.takes_body else not sent.headers and sent.body is None
