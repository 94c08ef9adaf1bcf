"""What the ledger says of reads of one engagement."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.oracle import ledger_attribution as causes
from conformance.oracle import ledger_evidence as evidence
from conformance.oracle.effects import STATUS, TEXTS, Interval, accepted, refused
from conformance.oracle.histories import History, Snapshot
from conformance.oracle.laws import STATUSES, readable_resources
from conformance.oracle.ledger_rules import NOT_FOUND, NOT_JUDGED, Judging, finding_of, status_of
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange


class Reads(Judging):
    """The rules of reads."""

    def read(self, history: History, exchange: Exchange) -> None:
        """Judge the answer to a read."""
        span, status = Interval.of(exchange), status_of(exchange)
        if history.broken or status in NOT_JUDGED:
            return
        if (deletion := history.deletion(span)) is not None:
            self._deleted_read(history, exchange, span, deletion.exchange)
        elif accepted(exchange):
            self._shown(history, exchange, span)
        elif refused(exchange) and history.exists(span):
            self._missing(history, exchange, span)

    def _deleted_read(self, history: History, exchange: Exchange, span: Interval, deletion: Exchange) -> None:
        later = [status for when, status in history.reads if when.start > span.start and status == NOT_FOUND]
        since = Interval.of(deletion).end
        earlier = [status for when, status in history.reads if since <= when.start < span.start]
        slipped = accepted(exchange) and later and NOT_FOUND not in earlier
        requirement = "delete-effective-at-once" if slipped else "deleted-unreadable"
        finding = finding_of(requirement, exchange, deletion, message="a deleted engagement was read", expected="404")
        right = status_of(exchange) == NOT_FOUND
        self.conclude(history, finding, right=right)
        self.keep(exchange, evidence.of_missing(history, span) if right else None)

    def _missing(self, history: History, exchange: Exchange, span: Interval) -> None:
        last = history.sights[-1].exchange if history.sights else history.creation.exchange
        requirement = "get-engagement-succeeds"
        if status_of(exchange) == NOT_FOUND:
            requirement = causes.of_absence(history, span, self.others_since(history, span))
        elif history.registers[STATUS].certain_value(span) == "archived":
            requirement = "archived-readable"
        message = "an engagement that is there was not read"
        self.broke(history, finding_of(requirement, exchange, last, message=message, expected="200"))

    def _shown(self, history: History, exchange: Exchange, span: Interval) -> None:
        data = next(iter(readable_resources(exchange)), None)
        if data is None or not isinstance(data.get("id"), str):
            return
        requirement, message = "get-engagement-is-the-one-asked-for", "another engagement was read"
        finding = finding_of(
            requirement, exchange, history.creation.exchange, message=message, expected=render(history.identifier),
            actual=render(data["id"]), pointer="/data/id",
        )  # fmt: skip
        self.conclude(history, finding, right=data["id"] == history.identifier)
        if data["id"] != history.identifier:
            return
        sight = Snapshot(exchange, span, data)
        for name in (*TEXTS, STATUS):
            self._field(history, sight, name)
        for name, of_times in (("createdAt", "created-at-never-changes"), ("updatedAt", "updated-at-never-goes-back")):
            self._time(history, sight, name, of_times)
        self._untouched(history, sight)
        self._kept_by_read(history, sight)
        history.sights.append(sight)

    def _field(self, history: History, sight: Snapshot, name: str) -> None:
        register, value = history.registers[name], sight.text(name)
        if history.broken or value is None or (name == STATUS and value not in STATUSES):
            return
        may = register.is_possible(value, sight.span)
        others = [] if may else self.others_since(history, sight.span)
        cause = causes.requirement_for_status if name == STATUS else partial(causes.requirement_for_text, field=name)
        requirement = cause(history, value=None if may else value, span=sight.span, others=others)
        if may:
            register.narrow(value, sight.span)
            history.good[name] = sight
            causes.resolve(history, self.findings, name, sight.span)
            self.keep(sight.exchange, requirement, *evidence.of_read(history, name, sight.span))
            return
        candidates = register.candidates(sight.span)
        good = [history.good[name].exchange] if name in history.good else []
        expected = " or ".join(dict.fromkeys(render(one.value) for one in candidates))
        because = *(one.exchange for one in candidates), *good
        finding = finding_of(
            requirement, sight.exchange, *because,
            message=f"{name} has a value that nothing accounts for",
            expected=expected, actual=render(value), pointer=f"/data/{name}",
        )  # fmt: skip
        ambiguous = name != STATUS and causes.is_ambiguous(history, name, sight.span)
        self.broke(history, replace(finding, other_candidates=int(ambiguous)))

    def _kept_by_read(self, history: History, sight: Snapshot) -> None:
        if history.broken:
            return
        archived = history.registers[STATUS].certain_value(sight.span) == "archived"
        self.keep(sight.exchange, "archived-readable" if archived else "get-engagement-succeeds")
        if any(self.findings.lacks(rule) for rule in evidence.SPARING.values()) and history.sights:
            self.keep(sight.exchange, *evidence.of_others(self.others_since(history, sight.span)))

    def _time(self, history: History, sight: Snapshot, name: str, requirement: str) -> None:
        """No time goes back, and that of the creation does not move at all."""
        now = sight.moment(name)
        past = [(then, one) for one in history.sights if one.span.before(sight.span) and (then := one.moment(name))]
        if history.broken or now is None or not past:
            return
        then, before = max(past, key=lambda one: (one[0], one[1].span.end))
        if name == "updatedAt" and now < then and history.may_go_back(before.span, sight.span):
            return
        right = now == then if name == "createdAt" else now >= then
        expected = f"{before.text(name)}{'' if name == 'createdAt' else ' or later'}"
        message = f"{name} has {'changed' if name == 'createdAt' else 'gone back'}"
        finding = finding_of(
            requirement, sight.exchange, before.exchange, message=message, expected=expected,
            actual=sight.text(name), pointer=f"/data/{name}",
        )  # fmt: skip
        self.conclude(history, finding, right=right)

    def _untouched(self, history: History, sight: Snapshot) -> None:
        """A refused edit leaves updatedAt as it was."""
        before = next((one for one in reversed(history.sights) if one.span.before(sight.span)), None)
        if history.broken or before is None or not history.quiet(before.span.start, sight.span.end):
            return
        edits = [one for one in history.between(before.span.end, sight.span.start) if causes.is_refused_edit(one)]
        then, now = before.moment("updatedAt"), sight.moment("updatedAt")
        if not edits or then is None or now is None:
            return
        archived = history.registers[STATUS].certain_value(sight.span) == "archived"
        requirement = "archived-edit-changes-nothing" if archived else "update-engagement-refused-changes-nothing"
        finding = finding_of(
            requirement, sight.exchange, before.exchange, *(one.exchange for one in edits),
            message="updatedAt has moved although the edit was refused", expected=str(before.text("updatedAt")),
            actual=sight.text("updatedAt"), pointer="/data/updatedAt",
        )  # fmt: skip
        self.conclude(history, finding, right=then == now)
