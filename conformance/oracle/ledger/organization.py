"""Ledger rules for organizations: their names, and the fields that no client can change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Final

from conformance.interface.fields import SETTINGS
from conformance.oracle import read
from conformance.oracle.effects import Effect, Interval, must_be_echoed, must_read_back_exactly
from conformance.oracle.laws.responses import first_resource, readable_resources
from conformance.oracle.ledger.attribution import requirement_for_refused_key
from conformance.oracle.ledger.histories import History, Shown, Write
from conformance.oracle.ledger.members import ALWAYS
from conformance.oracle.ledger.rules import finding_of, is_of_main
from conformance.oracle.rendering import render
from conformance.wire.requests import MAIN_KEY, OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.ledger.findings import Findings
    from conformance.oracle.ledger.histories import Register
    from conformance.wire.exchange import Exchange

_TAKES_EFFECT, _KEEPS_TEXT = "update-organization-takes-effect", "update-organization-keeps-text"
KEEPS_THE_REST, ONLY_NAME = "update-organization-keeps-the-rest", "update-organization-only-name"
REFUSED_UPDATE, _REPEATS_NAME = "update-organization-refused-changes-nothing", "update-organization-answers-new-name"
ONE_ORGANIZATION: Final = "key-stays-with-organization"
OF_UPDATES: Final = (_TAKES_EFFECT, _KEEPS_TEXT, KEEPS_THE_REST, ONLY_NAME, REFUSED_UPDATE, _REPEATS_NAME)
"""The requirements about updates of the organization, which other users can disturb."""

_NAME: Final = "name"
_FIXED: Final = ("slug", "plan", "createdAt", "settings")
_COUNTS: Final = ("memberCount", "engagementCount")
_READ, _UPDATE = "getCurrentOrganization", "updateCurrentOrganization"


def _effects(exchange: Exchange) -> tuple[Effect, ...]:
    """Return the effect of an update on the name; a refused one has none, whatever its key."""
    body = exchange.sent_object
    if not exchange.was_sent or exchange.refused or (body is not None and _NAME not in body):
        return ()
    interval, name = Interval.of(exchange), None if body is None else body[_NAME]
    if not isinstance(name, str) or not name or not must_read_back_exactly(name):  # the effect of another value is open
        name = None
    certain = exchange.accepted and name is not None and not _is_invalid(exchange)
    return (Effect(exchange, _NAME, name, interval if exchange.accepted else Interval(interval.start, inf), certain),)


@dataclass(frozen=True, slots=True)
class Organizations:
    """Rules of the organizations that the keys of a run belong to.

    Attributes:
        findings: The findings that they add to.
        of_key: The id of the organization of each key, by the key's name.
        known: What is known of each organization, by id.
        former: Reads of a former name of the run, each with its organization and the place of its finding.
    """

    findings: Findings
    of_key: dict[str, str] = field(default_factory=dict)
    known: dict[str, History] = field(default_factory=dict)
    former: list[tuple[History, int, Shown]] = field(default_factory=list)

    def record(self, exchange: Exchange) -> None:
        """Record the possible effects of an exchange."""
        if exchange.operation_id not in {_READ, _UPDATE} or not exchange.request.is_proper:
            return
        shown = read.id_of(first_resource(exchange) or {})
        if shown is not None and not _is_invalid(exchange):
            self.of_key.setdefault(exchange.request.key_name, shown)
        organization = self._organization(exchange)
        if organization is not None and exchange.operation_id == _UPDATE:
            organization.take(Write(exchange, Interval.of(exchange), _effects(exchange)))

    def _organization(self, exchange: Exchange) -> History | None:
        """Return the organization of a key; by default that of the main key."""
        key = exchange.request.key_name
        found = self.of_key.get(key, None if key == OTHER_KEY else self.of_key.get(MAIN_KEY))
        if found is None:
            return None
        before = Write(exchange, ALWAYS, (Effect(exchange, _NAME, None, ALWAYS, certain=True),))
        return self.known.setdefault(found, History(found, before))

    def judge(self, exchange: Exchange) -> None:
        """Judge a response."""
        operation, data = exchange.operation_id, first_resource(exchange)
        organization = self._organization(exchange) if operation in {_READ, _UPDATE} else None
        if organization is None or data is None or _is_invalid(exchange):
            return
        now = Shown(exchange, Interval.of(exchange), data)
        before = next((was for was in reversed(organization.snapshots) if was.interval.before(now.interval)), None)
        if operation == _UPDATE:
            self._judge_update(organization, before, now)
        elif self._is_of_key(organization, now):
            self._judge_name(organization, now)
            if before is not None:
                self._judge_fixed_fields(organization, before, now)
            organization.snapshots.append(now)

    # Reads

    def _is_of_key(self, organization: History, now: Shown) -> bool:
        if now.text("id") is None:
            return False
        right, sent = now.text("id") == organization.identifier, [write.exchange for write in organization.attempts]
        taken = [update for update in sent if update.sent_fields.get("id") == now.text("id")]
        rule = ONLY_NAME if taken else ONE_ORGANIZATION
        self._conclude(now, rule, taken, "id", organization.identifier, right=right, unconfirmed=False)
        return right

    def _judge_name(self, organization: History, now: Shown) -> None:
        register, name = organization.registers[_NAME], now.text(_NAME)
        if name is None:
            return
        since = _between(organization, organization.snapshots[-1] if organization.snapshots else None, now)
        last = register.latest(now.interval)
        self._judge_former_names(organization, name, now)
        if register.is_possible(name, now.interval):
            register.narrow(name, now.interval)
            supported = [requirement_for_refused_key(update) or REFUSED_UPDATE for update in since if update.refused]
            supported += [ONLY_NAME for update in since if _claims_more(update)]
            if last is not None and last.interval != ALWAYS:
                supported.append(_TAKES_EFFECT if must_be_echoed(last.value) else _KEEPS_TEXT)
                self._judge_update_against_read(last, now)
            for rule in supported:
                self.findings.keep(rule, now.exchange)
            return
        stale = any(effect.value == name for effect in register.effects)
        others_rename = _is_renamed_by_others(register)
        if (since or stale) and not others_rename:
            rule = _cause_of_name(name, last, since, is_stale=stale)
            because = [effect.exchange for effect in register.candidates(now.interval)]
            if _is_of_run_alone(register, name):
                self.former.append((organization, len(self.findings.broken), now))
            self._conclude(now, rule, because, _NAME, register.expected(now.interval), right=False)
        if not stale or others_rename:  # the next reads show whether another user has renamed it
            register.add(Effect(now.exchange, _NAME, name, now.interval, certain=True))

    def _judge_former_names(self, organization: History, name: str, now: Shown) -> None:
        """Blame the service for a former name if the next read shows the right one with no update between.

        It has shown an old copy then: a user who had restored the name would not have changed it back at once.
        """
        for of, place, seen in self.former:
            is_possible = organization.registers[_NAME].is_possible(name, now.interval)
            if of is organization and is_possible and not _between(organization, seen, now):
                self.findings.broken[place] = replace(self.findings.broken[place], unconfirmed=False)
        self.former[:] = [entry for entry in self.former if entry[0] is not organization]

    def _judge_update_against_read(self, last: Effect, now: Shown) -> None:
        """Require the name that a read shows in the response to the renaming that gave it."""
        for data in readable_resources(last.exchange):
            response = Shown(last.exchange, last.interval, data)
            if last.value == now.text(_NAME) and (name := response.text(_NAME)) is not None:
                right = name == last.value
                self._conclude(response, _REPEATS_NAME, [now.exchange], _NAME, render(last.value), right=right)

    def _judge_fixed_fields(self, organization: History, before: Shown, now: Shown) -> None:
        """Require what the last read showed; counts may have changed, but not to a number that the run sent."""
        updates = _between(organization, before, now)
        for name in (*_FIXED, *_COUNTS):
            was, value = before.value.get(name), now.value.get(name)
            claims = [update for update in updates if _claims(update, name)]
            if name in _COUNTS:
                taken = was != value and any(update.sent_fields.get(name) == value for update in claims)
                rules = [ONLY_NAME] if taken else []
            elif any(update.accepted for update in updates) or (name == "createdAt" and was != value):
                rules = [ONLY_NAME if claims else KEEPS_THE_REST]
            else:
                causes = [requirement_for_refused_key(update) or REFUSED_UPDATE for update in updates[-1:]]
                rules = [rule for rule in causes if was == value or rule == REFUSED_UPDATE]
            for rule in rules:
                self._conclude(now, rule, [before.exchange, *updates], name, render(was), right=was == value)

    # Updates

    def _judge_update(self, organization: History, before: Shown | None, now: Shown) -> None:
        """Require the id, the slug and the name of the organization in the response to an update."""
        sent, register, name = now.exchange.sent_fields, organization.registers[_NAME], now.text(_NAME)
        slug = None if before is None else before.text("slug")
        for field_name, right in (("id", organization.identifier), ("slug", slug)):
            shown = now.text(field_name)
            if right is not None and shown is not None:
                rule = ONLY_NAME if field_name in sent else _REPEATS_NAME
                self._conclude(now, rule, [], field_name, right, right=shown == right)
        if name is not None and (_NAME not in sent or must_be_echoed(sent[_NAME])):
            expected = register.expected(now.interval)
            self._conclude(now, _REPEATS_NAME, [], _NAME, expected, right=register.is_possible(name, now.interval))

    def _conclude(
        self, now: Shown, rule: str, because: Sequence[Exchange], name: str, expected: str, *, right: bool,
        unconfirmed: bool = True,
    ) -> None:  # fmt: skip
        if right:
            self.findings.keep(rule, now.exchange)
            return
        message, actual = f"unexpected {name} of the organization", render(now.value.get(name))
        finding = finding_of(
            rule, now.exchange, *because, message=message, expected=expected, actual=actual, pointer=f"/data/{name}"
        )
        # No other user sets a name that a refused request of the run carried.
        self.findings.broken.append(replace(finding, unconfirmed=unconfirmed and rule in OF_UPDATES))


def _is_renamed_by_others(register: Register) -> bool:
    """Whether a read showed a name that the run has not given; another user may then also have restored one."""
    return any(effect.interval != ALWAYS and effect.exchange.operation_id == _READ for effect in register.effects)


def _is_of_run_alone(register: Register, name: str) -> bool:
    """Whether only updates of the run gave a name."""
    given = [effect for effect in register.effects if effect.value == name]
    return bool(given) and all(effect.exchange.operation_id == _UPDATE for effect in given)


def _cause_of_name(name: str, last: Effect | None, since: Sequence[Exchange], *, is_stale: bool) -> str:
    """Return the requirement that an impossible name breaks."""
    refused = [update for update in since if update.refused]
    carrying = [update for update in refused if name in (update.sent_fields.get(_NAME), "")]
    is_read = last is None or last.exchange not in since
    if carrying:
        return requirement_for_refused_key(carrying[-1]) or REFUSED_UPDATE
    if refused and is_read and not is_stale:
        return REFUSED_UPDATE
    is_beside_others = last is not None and _claims_more(last.exchange)
    if is_beside_others or (last is not None and is_read and any(map(_claims_more, since))):
        return ONLY_NAME
    return _TAKES_EFFECT if last is None or is_stale or must_be_echoed(last.value) else _KEEPS_TEXT


def _between(organization: History, before: Shown | None, now: Shown) -> list[Exchange]:
    """Return the updates that ended after an earlier read began."""
    since = -inf if before is None else before.interval.start
    return [write.exchange for write in organization.between(since, now.interval.end)]


def _is_invalid(exchange: Exchange) -> bool:
    return not is_of_main(exchange) and exchange.request.key_name != OTHER_KEY


def _claims(update: Exchange, name: str) -> bool:
    """Whether an update sent a field that it cannot change, or a setting beside it."""
    return not update.sent_fields.keys().isdisjoint({name, *(SETTINGS if name == "settings" else ())})


def _claims_more(update: Exchange) -> bool:
    return update.accepted and not update.sent_fields.keys() <= {_NAME}
