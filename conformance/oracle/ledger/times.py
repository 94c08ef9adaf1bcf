"""Ledger rules for the times of an engagement, in reads and in lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from conformance.oracle.effects import STATUS
from conformance.oracle.laws.responses import first_resource
from conformance.oracle.ledger import attribution, evidence
from conformance.oracle.ledger.histories import Shown
from conformance.oracle.ledger.rules import EngagementRules, finding_of

if TYPE_CHECKING:
    from conformance.oracle.ledger.clock import CreationClock
    from conformance.oracle.ledger.findings import Finding
    from conformance.oracle.ledger.histories import History, Write
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Times(EngagementRules):
    """Rules of ``createdAt`` and ``updatedAt``.

    Attributes:
        clock: The clock of the service.
    """

    clock: CreationClock

    def read(self, history: History, snapshot: Shown) -> None:
        """Judge the times that a read shows."""
        for name, requirement in (
            ("createdAt", "created-at-never-changes"), ("updatedAt", "updated-at-never-goes-back")
        ):  # fmt: skip
            self._never_back(history, snapshot, name, requirement)
        before = history.seen(snapshot.interval)
        moved = None if before is None else _has_moved(before, snapshot)
        if history.broken or before is None or moved is None:
            return
        self._as_archived(history, before, snapshot)
        if history.is_unchanged(history.since(before), snapshot.interval.end):
            self._untouched(history, before, snapshot)
        elif (finding := self._unmoved(history, before, snapshot)) is not None:
            self.conclude(history, finding, right=moved)

    def listed(self, history: History, snapshot: Shown) -> Finding | None:
        """Judge the times in a list by the last response that showed the engagement.

        Returns:
            The finding, if there is one.
        """
        before = history.seen(snapshot.interval)
        if before is None or not history.is_unchanged(history.since(before), snapshot.interval.end):
            history.agreeing_list = snapshot
            moved = None if before is None else _has_moved(before, snapshot)
            finding = None if before is None or moved is None else self._unmoved(history, before, snapshot)
            if finding is not None and moved:
                self.keep(snapshot.exchange, finding.requirement)
            return None if moved else finding
        for name in ("createdAt", "updatedAt"):
            now, then = snapshot.moment(name), before.moment(name)
            if now is None or then is None or now == then:
                continue
            # A change of another engagement may have moved it before the list was requested.
            movers = self._movers(history, before, snapshot)
            if before is history.at_creation and not movers:
                return None
            fault = "changed with another request, or differs" if movers else "differs"
            finding = finding_of(
                next(iter(movers), attribution.AS_READ), snapshot.exchange, before.exchange, *[*movers.values()][:1],
                message=f"{name} of an engagement {fault} in the list", expected=str(before.text(name)),
                actual=snapshot.text(name), pointer=f"{snapshot.pointer}/{name}",
            )  # fmt: skip
            return replace(finding, other_candidates=len(movers))
        history.agreeing_list = snapshot
        return None

    def _never_back(self, history: History, snapshot: Shown, name: str, requirement: str) -> None:
        """Require that no time goes back, and that createdAt does not change at all."""
        now = snapshot.moment(name)
        past = [
            (then, earlier)
            for earlier in history.snapshots
            if earlier.interval.before(snapshot.interval) and (then := earlier.moment(name))
        ]
        if history.broken or now is None or not past:
            return
        then, before = max(past, key=lambda entry: (entry[0], entry[1].interval.end))
        if name == "updatedAt" and now < then and history.may_go_back(before.interval, snapshot.interval):
            return
        right = now == then if name == "createdAt" else now >= then
        expected = f"{before.text(name)}{'' if name == 'createdAt' else ' or later'}"
        message = f"{name} has {'changed' if name == 'createdAt' else 'gone back'}"
        finding = finding_of(
            requirement, snapshot.exchange, before.exchange, message=message, expected=expected,
            actual=snapshot.text(name), pointer=f"/data/{name}",
        )  # fmt: skip
        self.conclude(history, finding, right=right)

    def _unmoved(self, history: History, before: Shown, snapshot: Shown) -> Finding | None:
        """Return the finding that updatedAt has not moved with the only change since; None if it need not move."""
        change = attribution.only_change(history, before, snapshot, self.clock)
        if change is None:
            return None
        return finding_of(
            attribution.MOVES[change.operation], snapshot.exchange, before.exchange, change.exchange,
            message="updatedAt has not moved", expected=str(before.text("updatedAt")),
            actual=snapshot.text("updatedAt"), pointer=f"{snapshot.pointer}/updatedAt",
        )  # fmt: skip

    def _as_archived(self, history: History, before: Shown, snapshot: Shown) -> None:
        """Require that a read shows the updatedAt of the response to an archive, the only change since it was shown.

        If the read shows the time from before the archive, although the response had a later one, the archive has not
        moved it.
        """
        writes = history.between(history.since(before), snapshot.interval.end)
        if len(writes) != 1 or writes[0].operation != "archiveEngagement" or before.text(STATUS) != "active":
            return
        archive = writes[0].exchange
        data = first_resource(archive) if archive.accepted else None
        stated = None if data is None else Shown(archive, writes[0].interval, data)
        if stated is None or stated.moment("updatedAt") is None or not stated.interval.before(snapshot.interval):
            return
        finding = finding_of(
            "archive-engagement-answers-updated-at", archive, snapshot.exchange,
            message="updatedAt is not that of the next read", expected=str(snapshot.text("updatedAt")),
            actual=stated.text("updatedAt"), pointer="/data/updatedAt",
        )  # fmt: skip
        if stated.moment("updatedAt") == snapshot.moment("updatedAt"):
            self.keep(snapshot.exchange, finding.requirement)
        elif _has_moved(before, snapshot):
            self.findings.broken.append(replace(finding, identifier=history.identifier))
        elif _has_moved(before, stated) and snapshot.text(STATUS) == "archived":
            requirement, message = attribution.MOVES["archiveEngagement"], "updatedAt has not moved"
            finding = replace(finding, requirement=requirement, message=message)
            self.findings.broken.append(replace(finding, identifier=history.identifier))

    def _untouched(self, history: History, before: Shown, snapshot: Shown) -> None:
        """Require that updatedAt stays if nothing can have changed the engagement; the judgement goes on after that."""
        rules = self._movers(history, before, snapshot)
        if before is history.at_creation and not rules:
            return
        default = attribution.AS_READ if before is history.agreeing_list else "reading-changes-nothing"
        if before.moment("updatedAt") == snapshot.moment("updatedAt"):
            self.keep(snapshot.exchange, *rules, default)
            return
        refused = self._refused(history, before, snapshot)
        finding = finding_of(
            next(iter(rules), default), snapshot.exchange, before.exchange, *[*rules.values()][:1],
            *(write.exchange for write in refused),
            message="updatedAt changed although the engagement was not", expected=str(before.text("updatedAt")),
            actual=snapshot.text("updatedAt"), pointer="/data/updatedAt",
        )  # fmt: skip
        candidates = max(0, len(rules) - 1)
        self.findings.broken.append(replace(finding, identifier=history.identifier, other_candidates=candidates))

    def _movers(self, history: History, before: Shown, snapshot: Shown) -> dict[str, Exchange]:
        """Return the requirements of the requests that may have moved updatedAt, with these requests.

        The response to the creation may be wrong or rounded, so that only requests at the time shown count after it.
        """
        after_creation = before is history.at_creation
        if after_creation and before.text("createdAt") != snapshot.text("createdAt"):
            return {}
        others = self.others(history, history.since(before), snapshot.interval.end)
        within = self.clock.tick({history.creation.exchange.request.key_name}) if after_creation else inf
        return evidence.of_moved_time(history, snapshot, self._refused(history, before, snapshot), others, within)

    def _refused(self, history: History, before: Shown, snapshot: Shown) -> list[Write]:
        meanwhile = history.between(before.interval.end, snapshot.interval.start)
        return [write for write in meanwhile if write.exchange.refused]


def _has_moved(before: Shown, snapshot: Shown) -> bool | None:
    """Whether updatedAt is later than before; None if one of the times is unreadable."""
    then, now = before.moment("updatedAt"), snapshot.moment("updatedAt")
    return None if then is None or now is None else now > then
