"""Ledger rules for keys beside the main one: what a key has done, it may do again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.oracle.effects import Interval
from conformance.oracle.ledger.rules import finding_of
from conformance.oracle.permissions import Permission, permission_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.oracle.ledger.findings import Findings
    from conformance.wire.exchange import Exchange

_OF_MEMBER: Final = "removal-spares-other-members"
_OF_SCOPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "getCurrentOrganization": "scope-allows-get-organization",
        "updateCurrentOrganization": "scope-allows-update-organization",
        "listMembers": "scope-allows-list-members",
        "createEngagement": "scope-allows-create-engagement",
    }
)
"""The requirements for keys with few permissions, by operations without an id that no limit of a plan concerns."""
OF_ACCESS: Final = tuple(_OF_SCOPED.values())
_OF_PEOPLE: Final = frozenset({"updateMemberRole", "removeMember"})
"""The operations that may change what a member's key may do."""


class _Use(NamedTuple):
    """A request that was served, and its exchange."""

    operation: str
    identifier: str | None
    interval: Interval
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Access:
    """The uses of keys beside the main one, which tell what a key may do for certain.

    Attributes:
        findings: The findings that it adds to.
        uses: The requests of each key that were served, by the key's name.
        changes: When members were removed or got another role, or may have.
    """

    findings: Findings
    uses: defaultdict[str, list[_Use]] = field(default_factory=lambda: defaultdict(list))
    changes: list[Interval] = field(default_factory=list)

    def record(self, exchange: Exchange) -> None:
        """Record what a request shows of its key."""
        sent, interval = exchange.request, Interval.of(exchange)
        if sent.operation.id in _OF_PEOPLE and exchange.was_sent and not exchange.refused:
            self.changes.append(interval)
        if sent.is_proper and exchange.accepted and permission_of(sent) is not Permission.REFUSED:
            self.uses[sent.key_name].append(_Use(sent.operation.id, sent.identifier, interval, exchange))

    def judge(self, exchange: Exchange) -> None:
        """Judge the response to a request that is about no engagement or member in particular."""
        operation, name = exchange.request.operation, exchange.request.key_name
        if exchange.by_main_key or operation.parameter is not None or not exchange.request.is_proper:
            return
        rule = _OF_MEMBER if _is_members(name) else _OF_SCOPED.get(operation.id)
        last = next(self._earlier(exchange, operation.id), None)
        if rule is None or last is None:
            return
        if self.is_lost(exchange):
            message = f"{operation.id} was refused to a key that had been allowed it"
            self.findings.broken.append(
                finding_of(rule, exchange, last.exchange, message=message, expected="no 401 or 403")
            )
        elif exchange.accepted:
            self.findings.keep(rule, exchange)

    def is_lost(self, exchange: Exchange) -> bool:
        """Whether a refusal is one for the key, which the key's earlier requests rule out.

        A key that is refused with 401 from some request on may have ended, unless it is a member's.
        """
        sent, status = exchange.request, exchange.received_status
        if permission_of(sent) is Permission.REFUSED:
            return False
        is_members = _is_members(sent.key_name)
        if status == HTTPStatus.UNAUTHORIZED:
            span = Interval.of(exchange)
            is_over = all(use.interval.start < span.end for use in self.uses[sent.key_name])
            return any(self._earlier(exchange)) and (is_members or not is_over)
        if status == HTTPStatus.NOT_FOUND:
            return sent.operation.id == "getEngagement" and any(
                use.identifier == sent.identifier for use in self._earlier(exchange, sent.operation.id, lasts=True)
            )
        is_allowed = permission_of(sent) is Permission.ALLOWED
        return status == HTTPStatus.FORBIDDEN and any(
            is_allowed or (is_members and use.identifier == sent.identifier)
            for use in self._earlier(exchange, sent.operation.id)
        )

    def _earlier(self, exchange: Exchange, operation: str | None = None, *, lasts: bool = False) -> Iterator[_Use]:
        """Yield the earlier uses of a key, the last one first.

        Args:
            exchange: The exchange with the key.
            operation: The operationId; None for any.
            lasts: Whether a use counts that a change of members has followed, as one may have been the key's.
        """
        span, name = Interval.of(exchange), exchange.request.key_name
        for use in reversed(self.uses[name]):
            if not use.interval.before(span) or operation not in {None, use.operation}:
                continue
            since = Interval(use.interval.start, span.end)
            if lasts or not _is_members(name) or not any(change.meets(since) for change in self.changes):
                yield use


def _is_members(key: str) -> bool:
    return key.startswith("member_")
