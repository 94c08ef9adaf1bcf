"""Ledger rules for the members that a run may change, and for the addresses that it invites."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.interface.list_parameters import ASSIGNABLE_ROLES, ROLES
from conformance.oracle import read
from conformance.oracle.effects import DELETED, EXISTENCE, Effect, Interval
from conformance.oracle.ledger.attribution import requirement_for_refused_key
from conformance.oracle.ledger.findings import Finding
from conformance.oracle.ledger.histories import History, Shown, Write
from conformance.oracle.ledger.lists import page_of
from conformance.oracle.ledger.rules import NOT_FOR_CONTENT, NOT_FOUND, Rules, finding_of, is_of_main
from conformance.oracle.permissions import Rule, rule_of
from conformance.oracle.rendering import render
from conformance.wire.exchange import BESIDE_OTHERS, TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.oracle.ledger.lists import PageRead
    from conformance.wire.exchange import Exchange

_BOTH_WAYS, KEEPS_THE_REST = "role-changes-both-ways", "update-role-keeps-the-rest"
ADDS_NO_MEMBER, _SPARES_OTHERS = "invite-adds-no-member", "removal-spares-other-members"
_UNLISTED, _NO_OWNER = "removed-member-unlisted", "no-owner-through-role-change"
_BY_ROLE, REFUSED_CHANGE = "list-members-role-filter", "update-role-refused-changes-nothing"
OF_MEMBERS: Final = (
    _BOTH_WAYS, KEEPS_THE_REST, REFUSED_CHANGE, _NO_OWNER, "update-role-succeeds",
    "remove-member-succeeds", _UNLISTED, _SPARES_OTHERS,
    "removed-member-not-removable", "removed-member-role-unchangeable",
    "scope-allows-update-role", "scope-allows-remove-member",
)  # fmt: skip
"""The requirements about members of the run."""
OF_LISTS: Final = (_BY_ROLE, "list-members-total", "list-members-pages-partition", "member-email-is-address")
"""The requirements about lists of members."""

ALWAYS: Final = Interval(-inf, 0)
"""The time before a run."""
ROLE: Final = "role"
_FIXED: Final = ("name", "email", "joinedAt")
_LAST_SEEN: Final = "lastSeenAt"
_OF_OTHERS: Final = {"updateMemberRole": KEEPS_THE_REST, "removeMember": _SPARES_OTHERS, "inviteMember": ADDS_NO_MEMBER}
_OF_REMOVED: Final = {
    "updateMemberRole": "removed-member-role-unchangeable",
    "removeMember": "removed-member-not-removable",
}
_SUCCEEDS: Final = {"updateMemberRole": "update-role-succeeds", "removeMember": "remove-member-succeeds"}
_OF_SCOPED: Final = {"updateMemberRole": "scope-allows-update-role", "removeMember": "scope-allows-remove-member"}
"""The requirements that a change of a member succeeds, with the main key and with one permission."""
_SOON: Final = 10_000_000
"""Microseconds after a change within which no other user is taken for the cause of what a list shows."""


class OwnMember(NamedTuple):
    """A member that the run may change.

    Attributes:
        is_new: Whether it was made for the run; other users may change any other member.
        key: The name of its own key, if the run has that key.
    """

    is_new: bool
    key: str | None = None


def _effects(exchange: Exchange) -> tuple[Effect, ...]:
    """Return the effects of a role change or a removal; a refused one has none, whatever its key."""
    if not exchange.was_sent or exchange.refused:
        return ()
    interval = Interval.of(exchange)
    certain = exchange.accepted and is_of_main(exchange)
    if not exchange.accepted:
        interval = Interval(interval.start, inf)
    if exchange.operation_id == "removeMember":
        return (Effect(exchange, EXISTENCE, DELETED, interval, certain),)
    role = _role_sent(exchange)
    return (Effect(exchange, ROLE, role if role in ROLES else None, interval, certain and role in ASSIGNABLE_ROLES),)


def _address(holder: dict[str, Any]) -> str:
    address = holder.get("email")
    return address.casefold() if isinstance(address, str) else ""


def _invites_other(exchange: Exchange, history: History) -> bool:
    """Whether this is an invitation of another address than a member's."""
    own = {_address(seen.value) for seen in history.snapshots}
    return exchange.operation_id == "inviteMember" and _address(exchange.sent_fields) not in own


def _had(history: History, role: str | None) -> bool:
    """Whether a list has shown a member in a role before an accepted change of it."""
    changes = [change.interval for change in history.attempts if change.exchange.accepted and change.effects]
    shown = [seen.interval for seen in history.snapshots if role is not None and seen.text(ROLE) == role]
    return any(seen.before(change) for seen in shown for change in changes)


def _of_refused(exchange: Exchange) -> str:
    """Return the requirement that the effect of a refused request breaks."""
    return _NO_OWNER if _role_sent(exchange) == "owner" else requirement_for_refused_key(exchange) or REFUSED_CHANGE


def _may(exchange: Exchange) -> bool:
    """Whether a key may change members for certain; a service may not know another key than the main one yet."""
    is_known = exchange.by_main_key or exchange.received_status != HTTPStatus.UNAUTHORIZED
    return is_known and rule_of(exchange.request) is Rule.ALLOWED


def _role_sent(exchange: Exchange) -> object:
    return exchange.sent_fields.get(ROLE)


def _is_kept(name: str, was: str, member: Mapping[str, Any]) -> bool:
    """Whether a field of a member is as it was, or unreadable; the time of the last activity may move."""
    value = member.get(name, was)
    return value is not None if name == _LAST_SEEN else value == was or not isinstance(value, str)


@dataclass(frozen=True, slots=True)
class Members(Rules):
    """Rules of the members that a run may change.

    Attributes:
        own: These members, by id.
        histories: What is known of each, by id.
        writes: All changes of members and accepted invitations, by any key of the organization.
        invited: The accepted invitations by address.
        shown: When each member was in a list first, by address and id.
        absent: The requirement that the absence of a member breaks, by its id; ``owner`` for that of owners.
        owners: Owners in lists.
    """

    own: Mapping[str, OwnMember]
    histories: dict[str, History] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    invited: dict[str, Exchange] = field(default_factory=dict)
    shown: dict[tuple[str, str | None], float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    owners: list[dict[str, Any]] = field(default_factory=list)

    def record(self, exchange: Exchange) -> None:
        """Record the possible effects of an exchange."""
        operation, interval = exchange.operation_id, Interval.of(exchange)
        if operation == "listMembers" and is_of_main(exchange) and (page := page_of(exchange)) is not None:
            for item in page.items:
                self.shown.setdefault((_address(item), read.id_of(item)), interval.start)
                self._history(read.id_of(item), exchange)
        elif operation == "inviteMember" and exchange.accepted and is_of_main(exchange):
            self.writes.append(Write(exchange, interval, ()))
            self.invited.setdefault(_address(exchange.sent_fields), exchange)
        elif operation in _OF_REMOVED and exchange.request.method != "GET":
            change = Write(exchange, interval, _effects(exchange))
            self.writes.append(change)
            if (history := self._history(exchange.request.identifier, exchange)) is not None:
                history.take(change)
                history.broken |= not exchange.request.is_proper

    def _history(self, user_id: str | None, exchange: Exchange) -> History | None:
        if user_id is None or user_id not in self.own:
            return None
        before = Write(exchange, ALWAYS, (Effect(exchange, ROLE, None, ALWAYS, certain=True),))
        return self.histories.setdefault(user_id, History(user_id, before))

    def judge(self, exchange: Exchange) -> None:
        """Judge a response."""
        if not is_of_main(exchange):
            return
        if exchange.operation_id == "listMembers" and (page := page_of(exchange)) is not None:
            self._page(page)
        elif exchange.operation_id in _OF_REMOVED:
            history = self.histories.get(exchange.request.identifier or "")
            if history is not None and not history.broken and exchange.received_status != TOO_MANY_REQUESTS:
                self._change(history, exchange)

    # Changes

    def _change(self, history: History, exchange: Exchange) -> None:
        interval, operation, role = Interval.of(exchange), exchange.operation_id, _role_sent(exchange)
        is_role, main, status = operation == "updateMemberRole", exchange.by_main_key, exchange.received_status
        is_sound = not is_role or exchange.sent_object in ({ROLE: "admin"}, {ROLE: "member"})
        known = {
            effect.value for effect in history.registers[ROLE].candidates(interval) if effect.exchange is not exchange
        }
        if (gone := history.deletion(interval)) is not None:
            right = exchange.refused and (not main or not is_sound or status == NOT_FOUND)
            message, rule, because = "treated a removed member as a member", _OF_REMOVED[operation], [gone.exchange]
        elif is_role and role == "owner":
            right = exchange.refused and (not main or status not in NOT_FOR_CONTENT)
            message, rule, because = "to owner was not refused", _NO_OWNER, []
        elif _may(exchange) and is_sound and history.snapshots and history.identifier not in self.absent:
            seen = history.snapshots[-1]
            # A faulty service may have made it an owner, which the next list shows.
            since = history.between(seen.interval.end, interval.start)
            tried = any(_role_sent(change.exchange) == "owner" for change in since)
            if tried or known & {role, "owner", None} or not history.exists(Interval(interval.start, interval.start)):
                return
            beside = (
                write for write in self.writes if write.exchange is not exchange and write.interval.overlaps(interval)
            )
            right = exchange.accepted or (status in BESIDE_OTHERS and any(beside))
            message, because = "failed for a member", [seen.exchange]
            rule = (_SUCCEEDS if main else _OF_SCOPED)[operation]
        else:
            return
        expected = {_NO_OWNER: "a 4xx other than 401, 404 and 429"}.get(rule, "404" if gone else "200")
        finding = finding_of(rule, exchange, *because, message=f"{operation} {message}", expected=expected)
        self.conclude(history, finding, right=right)

    # Lists

    def _page(self, page: PageRead) -> None:
        seen = set[str]()
        for place, item in enumerate(page.items):
            identifier, address = read.id_of(item), _address(item)
            history = self.histories.get(identifier or "")
            if history is not None:
                seen.add(history.identifier)
                self.absent.pop(history.identifier, None)
                if self._is_certain(history, page.interval):
                    self._item(history, page, Shown(page.exchange, page.interval, item, f"/data/{place}"))
            elif (
                address
                and (sent := self.invited.get(address))
                and Interval.of(sent).end <= self.shown[address, identifier]
            ):
                words = "an invited address is a member's", "no invited address", address, f"/data/{place}/email"
                self.findings.broken.append(Finding(ADDS_NO_MEMBER, page.exchange, (sent,), *words))
        if any(Interval.of(invitation).before(page.interval) for invitation in self.invited.values()):
            self.findings.keep(ADDS_NO_MEMBER, page.exchange)
        self._missing(page, seen)

    def _item(self, history: History, page: PageRead, now: Shown) -> None:
        if (gone := history.deletion(page.interval)) is not None:
            words = "a removed member is listed", "no removed member", history.identifier, now.pointer
            self.broke(history, Finding(_UNLISTED, page.exchange, (gone.exchange,), *words))
            return
        role, register = now.text(ROLE), history.registers[ROLE]
        tried = any(write.exchange.refused for write in self._since(history, page)[0])
        if role in ROLES or (role is not None and tried):
            may, candidates = register.is_possible(role, page.interval), register.candidates(page.interval)
            expected = " or ".join(sorted({str(effect.value) for effect in candidates}))
            words = "a member has a role that no request gave", expected, role, f"{now.pointer}/role"
            for rule in self._supported(history, page) if may else [self._cause(history, page, _BOTH_WAYS, role=role)]:
                because = tuple(effect.exchange for effect in candidates)
                self.conclude(history, Finding(rule, page.exchange, because, *words), right=may)
            if may:
                register.narrow(role, page.interval)
        self._fixed(history, page, now)
        if page.role is not None and not history.broken:
            words = "a member is listed under another role", render(page.role), render(role), now.pointer
            right = register.is_possible(page.role, page.interval)
            self.conclude(history, Finding(_BY_ROLE, page.exchange, (), *words), right=right)
        if not history.broken:
            history.snapshots.append(now)

    def _fixed(self, history: History, page: PageRead, now: Shown) -> None:
        """Require the name, the address and the time of joining that an earlier list showed, and that one was seen."""
        for name in (*_FIXED, _LAST_SEEN):
            first = next((seen for seen in history.snapshots if seen.text(name) is not None), None)
            if history.broken or first is None or _is_kept(name, first.value[name], now.value):
                continue
            default = "member-email-is-address" if name == "email" else _BY_ROLE if page.role else KEEPS_THE_REST
            was, value = render(first.value[name]), render(now.value[name])
            words = f"{name} of a member has changed", was, value, f"{now.pointer}/{name}"
            finding = Finding(self._cause(history, page, default), page.exchange, (first.exchange,), *words)
            self.broke(history, finding)

    def _missing(self, page: PageRead, seen: set[str]) -> None:
        """Require all members that belong into the list for certain, and an owner if there was one before."""
        belonging = [history for history in self.histories.values() if self._belongs(history, page)]
        known = [history for history in belonging if history.identifier not in self.absent]
        counted = _BY_ROLE if page.role else "list-members-total"
        if page.total < len(known) and not (page.is_whole and page.total == len(page.items)):
            least, message = f"at least {len(known)}, of this run alone", "the total is less than the number of members"
            self._record_unconfirmed(
                Finding(counted, page.exchange, (), message, least, str(page.total), "/meta/total")
            )
            return
        if known:
            self.findings.keep(counted, page.exchange)
        if not page.is_whole:
            return
        for history in belonging:
            if history.identifier not in seen:
                default = _BY_ROLE if page.role else "list-members-pages-partition"
                # A list without a role shows who is gone; a member that only a list with a role lacks is filtered out.
                cause = default if page.role else self._cause(history, page, default, gone=True)
                rule = self.absent.setdefault(history.identifier, cause)
                words = "a member is missing from the list", "every member", f"{history.identifier} missing", "/data"
                self._record_unconfirmed(Finding(rule, page.exchange, (history.snapshots[-1].exchange,), *words))
        if any(history.deletion(page.interval) for history in self.histories.values()):
            self.findings.keep(_UNLISTED, page.exchange)
        if page.role is None:
            owners = [item for item in page.items if item.get(ROLE) == "owner"]
            done = [write for write in self.writes if write.exchange.accepted and write.interval.before(page.interval)]
            for change in done[-1:] if self.owners and not owners else ():
                rule = self.absent.setdefault("owner", _OF_OTHERS[change.exchange.operation_id])
                words = "no member is an owner any more", "an owner, as before", "none", "/data"
                self._record_unconfirmed(Finding(rule, page.exchange, (change.exchange,), *words))
            self.owners.extend(owners[:1])

    def _record_unconfirmed(self, finding: Finding) -> None:
        """Record a finding that others, or writes of the run, may have caused."""
        self.findings.broken.append(replace(finding, unconfirmed=True))

    def _is_certain(self, history: History, interval: Interval) -> bool:
        """Whether only the run can have changed a member; others may change one that was not made for it, some day."""
        recent = any(write.interval.end + _SOON > interval.start for write in history.attempts)
        return not history.broken and (recent or self.own[history.identifier].is_new)

    def _belongs(self, history: History, page: PageRead) -> bool:
        if not (self._is_certain(history, page.interval) and history.snapshots and history.exists(page.interval)):
            return False
        return page.role is None or history.registers[ROLE].certain_value(page.interval) == page.role

    # Causes

    def _since(self, history: History, page: PageRead) -> tuple[list[Write], list[Write]]:
        """Return the writes since a member was seen last: the attempts on it, and the accepted ones on others."""
        since = history.snapshots[-1].interval.start if history.snapshots else -inf
        writes = [write for write in self.writes if write.interval.end > since]
        begun = [write for write in writes if write.interval.start < page.interval.end]
        own = [write for write in begun if write.exchange.request.identifier == history.identifier]
        others = [write for write in begun if write.exchange.request.identifier != history.identifier]
        return own, [write for write in others if write.exchange.accepted]

    def _cause(
        self, history: History, page: PageRead, default: str, *, role: str | None = None, gone: bool = False
    ) -> str:
        """Return the requirement that a wrong role, a changed field or the absence of a member breaks."""
        own, others = self._since(history, page)
        if role == "owner" and any(_role_sent(write.exchange) == role for write in history.attempts):
            return _NO_OWNER
        refused = [write.exchange for write in own if write.exchange.refused]
        carrying = [exchange for exchange in refused if role is None or _role_sent(exchange) == role]
        last = None if role is None else history.registers[ROLE].latest(page.interval)
        if last is not None and last.exchange in [write.exchange for write in own] and not carrying:
            return default  # no list has shown the effect of the last change
        for exchange in reversed(carrying or refused):
            if gone is (exchange.operation_id == "removeMember"):
                return _of_refused(exchange)
        if others and _invites_other(others[-1].exchange, history) and _had(history, role):
            return default  # a former role comes back
        if others:
            return _OF_OTHERS[others[-1].exchange.operation_id]
        is_stale = any(change.exchange.accepted for change in history.attempts)
        return _BY_ROLE if page.role and role is not None and not is_stale else default

    def _supported(self, history: History, page: PageRead) -> Sequence[str]:
        """Return the requirements that a right role supports."""
        own, others = self._since(history, page)
        refused = [write.exchange for write in own if write.exchange.refused and write.effects == ()]
        of_refused = {_of_refused(exchange) for exchange in refused}
        changed = [_BOTH_WAYS, KEEPS_THE_REST] if any(write.exchange.accepted for write in own) else []
        return [*changed, *of_refused, *{_OF_OTHERS[write.exchange.operation_id] for write in others}]
