"""Ledger rules for reads of one engagement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from conformance.interface.list_parameters import STATUSES
from conformance.oracle.effects import STATUS, TEXTS, Interval
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.ledger import attribution, evidence
from conformance.oracle.ledger.histories import History, Shown
from conformance.oracle.ledger.rules import NOT_FOUND, EngagementRules, finding_of
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from conformance.oracle.ledger.times import Times
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Reads(EngagementRules):
    """Rules of reads.

    Attributes:
        times: The rules of times.
    """

    times: Times

    def read(self, history: History, exchange: Exchange) -> None:
        """Judge the response to a read."""
        interval = Interval.of(exchange)
        if history.broken:
            return
        if (deletion := history.deletion(interval)) is not None:
            self._deleted_read(history, exchange, interval, deletion.exchange)
        elif exchange.accepted:
            self._shown(history, exchange, interval)
        elif exchange.refused and history.exists(interval):
            self._missing(history, exchange, interval)

    def _deleted_read(self, history: History, exchange: Exchange, interval: Interval, deletion: Exchange) -> None:
        later = [status for when, status in history.reads if when.start > interval.start and status == NOT_FOUND]
        since = Interval.of(deletion).end
        earlier = [status for when, status in history.reads if since <= when.start < interval.start]
        slipped = exchange.accepted and later and NOT_FOUND not in earlier
        requirement = "delete-effective-at-once" if slipped else "deleted-unreadable"
        finding = finding_of(
            requirement, exchange, deletion, message="a read of a deleted engagement did not return 404", expected="404"
        )
        right = exchange.received_status == NOT_FOUND
        self.conclude(history, finding, right=right)
        self.keep(exchange, evidence.of_missing(history, interval) if right else None)

    def _missing(self, history: History, exchange: Exchange, interval: Interval) -> None:
        last = history.snapshots[-1].exchange if history.snapshots else history.creation.exchange
        requirement, others = "get-engagement-succeeds", self.others_since(history, interval)
        if exchange.received_status == NOT_FOUND:
            requirement = attribution.requirement_for_absence(history, interval, others)
        elif history.registers[STATUS].certain_value(interval) == "archived":
            requirement = "archived-readable"
        message, blamed = (
            "a read of an existing engagement failed",
            evidence.blamed(history, requirement, interval, others),
        )
        self.broke(history, finding_of(requirement, exchange, last, *blamed, message=message, expected="200"))

    def _shown(self, history: History, exchange: Exchange, interval: Interval) -> None:
        data = first_resource(exchange)
        if data is None or not isinstance(data.get("id"), str):
            return
        requirement, message = "get-engagement-is-the-one-asked-for", "a read returned another engagement"
        finding = finding_of(
            requirement, exchange, history.creation.exchange, message=message, expected=render(history.identifier),
            actual=render(data["id"]), pointer="/data/id",
        )  # fmt: skip
        self.conclude(history, finding, right=data["id"] == history.identifier)
        if data["id"] != history.identifier:
            return
        snapshot = Shown(exchange, interval, data)
        for name in (*TEXTS, STATUS):
            self._field(history, snapshot, name)
        self.times.read(history, snapshot)
        self._kept_by_read(history, snapshot)
        history.snapshots.append(snapshot)

    def _field(self, history: History, snapshot: Shown, name: str) -> None:
        register, value = history.registers[name], snapshot.text(name)
        if history.broken or value is None or (name == STATUS and value not in STATUSES):
            return
        may = register.is_possible(value, snapshot.interval)
        others = [] if may else self.others_since(history, snapshot.interval)
        cause = (
            attribution.requirement_for_status
            if name == STATUS
            else partial(attribution.requirement_for_text, field=name)
        )
        requirement = cause(history, value=None if may else value, interval=snapshot.interval, others=others)
        if may:
            register.narrow(value, snapshot.interval)
            history.confirmed[name] = snapshot
            attribution.resolve(history, self.findings, name, snapshot.interval)
            self.keep(snapshot.exchange, requirement, *evidence.of_read(history, name, snapshot.interval))
            return
        candidates = register.candidates(snapshot.interval)
        confirmed = [history.confirmed[name].exchange] if name in history.confirmed else []
        blamed = evidence.blamed(history, requirement, snapshot.interval, others, {name: value})
        because = *(effect.exchange for effect in candidates), *confirmed, *blamed
        finding = finding_of(
            requirement, snapshot.exchange, *because,
            message=f"{name} has a value that no request explains",
            expected=register.expected(snapshot.interval), actual=render(value), pointer=f"/data/{name}",
        )  # fmt: skip
        ambiguous = name != STATUS and attribution.is_ambiguous(history, name, snapshot.interval)
        self.broke(history, replace(finding, other_candidates=int(ambiguous)))

    def _kept_by_read(self, history: History, snapshot: Shown) -> None:
        if history.broken:
            return
        archived = history.registers[STATUS].certain_value(snapshot.interval) == "archived"
        self.keep(snapshot.exchange, "archived-readable" if archived else "get-engagement-succeeds")
        if any(self.findings.lacks(rule) for rule in evidence.SPARING.values()) and history.snapshots:
            self.keep(snapshot.exchange, *evidence.of_others(self.others_since(history, snapshot.interval)))
