"""Ledger rules for keys beside the main one: what a key has done, it may do again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.oracle.effects import Interval
from conformance.oracle.ledger.attribution import requirement_for_refused_key
from conformance.oracle.ledger.rules import finding_of
from conformance.oracle.permissions import Rule, rule_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.oracle.ledger.findings import Findings
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_OF_MEMBER: Final = "removal-spares-other-members"
_OF_SCOPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "getCurrentOrganization": "scope-allows-get-organization",
        "updateCurrentOrganization": "scope-allows-update-organization",
        "listMembers": "scope-allows-list-members",
    }
)
"""The requirements for keys with few permissions, by operation."""
OF_ACCESS: Final = tuple(_OF_SCOPED.values())
_JUDGED: Final = frozenset({*_OF_SCOPED, "listEngagements"})
"""The operations without an id that may be repeated without limit; a plan may limit creations and invitations."""
_OF_MEMBERSHIP: Final = frozenset({"updateMemberRole", "removeMember"})
"""The operations that may change what a member's key may do."""
_NO_SUCH_OPERATION: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE})
"""Statuses that deny that there is such an operation, if its path has no id."""
_OF_STATE: Final = frozenset({"archiveEngagement", "unarchiveEngagement", "deleteEngagement"})
"""The operations after which a service may deny members an engagement."""


class _Use(NamedTuple):
    """A request that was served, and when."""

    exchange: Exchange
    interval: Interval

    def names(self, identifier: str | None) -> bool:
        """Whether its path had this identifier."""
        return self.exchange.request.identifier == identifier


@dataclass(frozen=True, slots=True)
class Access:
    """The uses of keys beside the main one, which tell what a key may do for certain.

    Attributes:
        findings: The findings that it adds to.
        holders: The members that the run may change, by the names of their keys.
        uses: The requests of each key that were served, by the key's name.
        changes: When members and engagements changed, or may have, by their ids: their roles, states and existence.
        removed: The members that were removed, or may have been; their keys are not judged.
        refused_removals: The refused removals of each member, by its id.
        ended: The keys of members that were refused with 401 after they had been served.
    """

    findings: Findings
    holders: Mapping[str | None, str]
    uses: defaultdict[str, list[_Use]] = field(default_factory=lambda: defaultdict(list))
    changes: defaultdict[str | None, list[Interval]] = field(default_factory=lambda: defaultdict(list))
    removed: set[str | None] = field(default_factory=set)
    refused_removals: defaultdict[str | None, list[Exchange]] = field(default_factory=lambda: defaultdict(list))
    ended: set[str] = field(default_factory=set)

    def record(self, exchange: Exchange) -> None:
        """Record what a request shows of its key."""
        sent, interval = exchange.request, Interval.of(exchange)
        if sent.operation.id in _OF_MEMBERSHIP | _OF_STATE and exchange.was_sent and not exchange.refused:
            self.changes[sent.identifier].append(interval)
            if sent.operation.id == "removeMember":
                self.removed.add(sent.identifier)
        if sent.operation.id == "removeMember" and exchange.refused:
            self.refused_removals[sent.identifier].append(exchange)
        may_be_served = rule_of(sent) is not Rule.REFUSED and not self._is_removed(sent)
        if sent.is_proper and exchange.accepted and may_be_served:
            self.uses[sent.key_name].append(_Use(exchange, interval))

    def judge(self, exchange: Exchange) -> None:
        """Judge the response to a request that is about no engagement or member in particular."""
        sent, body = exchange.request, exchange.sent_fields
        operation, is_allowed = sent.operation.id, rule_of(sent) is Rule.ALLOWED
        if exchange.by_main_key or not sent.is_proper or operation not in _JUDGED or body.keys() - {"name"}:
            return
        rule = _OF_MEMBER if sent.by_member else _OF_SCOPED.get(operation) if is_allowed else None
        if rule is None:
            return
        self._judge_refused_removals(exchange)
        if self.is_lost(exchange):
            last = next(use for use in reversed(self.uses[sent.key_name]) if use.interval.before(Interval.of(exchange)))
            message = f"{operation} was refused to a key that had been served before"
            finding = finding_of(rule, exchange, last.exchange, message=message, expected="a success, as before")
            self.findings.broken.append(finding)
        elif exchange.accepted and any(self._earlier(exchange, operation)):
            self.findings.keep(rule, exchange)

    def _judge_refused_removals(self, exchange: Exchange) -> None:
        """Judge whether a refused removal of a member ended its key, by the first 401 after the key was served."""
        sent, interval = exchange.request, Interval.of(exchange)
        if not sent.by_member or sent.key_name in self.ended:
            return
        served = [use.interval for use in self._earlier(exchange, sent.operation.id)]
        if not served:
            return
        rules = {
            rule: removal
            for removal in self.refused_removals.get(self.holders.get(sent.key_name), ())
            if served[-1].before(Interval.of(removal)) and Interval.of(removal).before(interval)
            if (rule := requirement_for_refused_key(removal)) is not None
        }
        if exchange.accepted:
            for rule in rules:
                self.findings.keep(rule, exchange)
        elif exchange.received_status == HTTPStatus.UNAUTHORIZED:
            self.ended.add(sent.key_name)
            if rules:
                rule, removal = next(iter(rules.items()))
                message = "a member's key is refused after a refused removal of the member"
                finding = finding_of(rule, exchange, removal, message=message, expected="a success, as before")
                self.findings.broken.append(finding)

    def is_lost(self, exchange: Exchange) -> bool:
        """Whether a refusal is one for the key, which the key's other requests rule out.

        A key that is refused with 401 from some request on may have ended; no role of its member explains a 401 between
        two requests that were served. A member's permissions may depend on the engagement and its state.
        """
        sent, status = exchange.request, exchange.received_status
        rule, earlier = rule_of(sent), self._earlier(exchange, sent.operation.id)
        if rule is Rule.REFUSED:
            return False
        if status == HTTPStatus.UNAUTHORIZED:
            interval, uses = Interval.of(exchange), [use.interval for use in self.uses.get(sent.key_name, ())]
            return any(use.before(interval) for use in uses) and any(interval.before(use) for use in uses)
        if status in _NO_SUCH_OPERATION:
            return _is_denied(sent, status, earlier)
        if status != HTTPStatus.FORBIDDEN:
            return False
        if rule is Rule.ALLOWED:
            return any(earlier)
        same = (use for use in earlier if use.names(sent.identifier))
        return sent.by_member and any(self._is_unchanged(sent.identifier, use, exchange) for use in same)

    def _is_removed(self, sent: Request) -> bool:
        """Whether the key of a request is that of a member that the run has removed."""
        return sent.by_member and self.holders.get(sent.key_name) in self.removed

    def _earlier(self, exchange: Exchange, operation: str) -> Iterator[_Use]:
        """Yield the earlier uses of a key for an operation since the last change of its member."""
        sent = exchange.request
        for use in self.uses.get(sent.key_name, ()):
            if not use.interval.before(Interval.of(exchange)) or use.exchange.operation_id != operation:
                continue
            if not sent.by_member or self._is_unchanged(self.holders.get(sent.key_name), use, exchange):
                yield use

    def _is_unchanged(self, identifier: str | None, use: _Use, exchange: Exchange) -> bool:
        """Whether no request can have changed a member or an engagement between a use of a key and an exchange."""
        since = Interval(use.interval.start, Interval.of(exchange).end)
        return not any(change.overlaps(since) for change in self.changes.get(identifier, ()))


def _is_denied(sent: Request, status: int, earlier: Iterable[_Use]) -> bool:
    """Whether an operation that a key has used, or an engagement that it has read, is said not to exist."""
    if sent.operation.id in _JUDGED:
        return "page" not in dict(sent.query) and any(earlier)  # a page past the end may be refused
    is_read = sent.operation.id == "getEngagement" and status == HTTPStatus.NOT_FOUND
    return is_read and any(use.names(sent.identifier) for use in earlier)
