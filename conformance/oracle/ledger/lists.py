"""Ledger rules for lists: their items, missing items, and their order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from conformance.interface.list_parameters import (
    DEFAULT_PER_PAGE,
    MAX_PER_PAGE,
    ORDERS,
    ROLES,
    SORTS,
    STATUSES,
    page_count,
)
from conformance.oracle import read
from conformance.oracle.effects import EXISTENCE, STATUS, TEXTS, Interval
from conformance.oracle.laws.lists import is_list
from conformance.oracle.laws.responses import readable_resources
from conformance.oracle.ledger import attribution, evidence
from conformance.oracle.ledger.findings import Finding, Findings
from conformance.oracle.ledger.histories import History, OpenFinding, Shown
from conformance.oracle.lists.collation import name_key
from conformance.oracle.rendering import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from conformance.oracle.ledger.creations import Creations
    from conformance.oracle.ledger.rules import Others
    from conformance.oracle.ledger.times import Times
    from conformance.wire.exchange import Exchange


@dataclass(frozen=True, slots=True)
class PageRead:
    """One response of the list, reduced to what the rules need."""

    exchange: Exchange
    interval: Interval
    items: list[dict[str, Any]]
    asked: dict[str, str]
    total: int

    @property
    def status(self) -> str | None:
        """The requested status."""
        return self.asked.get("status")

    @property
    def role(self) -> str | None:
        """The requested role."""
        return self.asked.get("role")

    @property
    def is_whole(self) -> bool:
        """Whether the page should hold everything that is counted."""
        return self.number == 1 and self.pages <= 1

    @property
    def number(self) -> int:
        """The number of the requested page."""
        return int(self.asked.get("page", "1"))

    @property
    def pages(self) -> int:
        """The number of pages that hold everything that is counted."""
        return page_count(self.total, int(self.asked.get("perPage", DEFAULT_PER_PAGE)))

    @property
    def descending(self) -> bool:
        """Whether the requested order is descending."""
        return self.asked.get("order", "desc") == "desc"


def page_of(exchange: Exchange) -> PageRead | None:
    """Return a readable list that was requested with valid parameters; else None."""
    asked = dict(exchange.request.query)
    valid = (
        is_list(exchange)
        and exchange.accepted
        and len(asked) == len(exchange.request.query)
        and asked.get("status", "active") in STATUSES
        and asked.get("role", "owner") in ROLES
        and asked.get("sort", "name") in SORTS
        and asked.get("order", "asc") in ORDERS
        and all(asked[name].isdecimal() and asked[name].isascii() for name in asked.keys() & {"page", "perPage"})
    )
    in_bounds = valid and 1 <= int(asked.get("perPage", 1)) <= MAX_PER_PAGE and int(asked.get("page", 1)) >= 1
    total = read.or_none(read.number, exchange, "total") if in_bounds else None
    if total is None:
        return None
    return PageRead(exchange, Interval.of(exchange), readable_resources(exchange), asked, total)


@dataclass(frozen=True, slots=True)
class ListRules:
    """Rules of lists, and what they need.

    Attributes:
        findings: The findings that they add to.
        histories: The engagements of the run by id.
        others: Returns the writes to other engagements within an interval.
        creations: All creations of the run.
        times: The rules of times.
        disordered: The sort fields of lists that were not in the requested order.
    """

    findings: Findings
    histories: Mapping[str, History]
    others: Others
    creations: Creations
    times: Times
    disordered: set[str] = field(default_factory=set)

    def record_order(self, page: PageRead) -> None:
        """Record whether a list is in the requested order."""
        keys = self._keys(page)
        if "sort" in page.asked and keys != sorted(keys, reverse=page.descending):
            self.disordered.add(page.asked["sort"])

    def page(self, page: PageRead) -> None:
        """Judge a list."""
        seen: set[str] = set()
        for place, item in enumerate(page.items):
            identifier = read.id_of(item)
            history = None if identifier is None else self.histories.get(identifier)
            if history is not None:
                seen.add(history.identifier)
                self._item(history, Shown(page.exchange, page.interval, item, f"/data/{place}"))
            elif (found := self.creations.unexplained(item)) is not None:
                words = "none of this name, or those in the responses", f"the id {identifier}", f"/data/{place}"
                message = "a list has an engagement that no successful creation of this organization explains"
                self.findings.broken.append(Finding(*found[:1], page.exchange, found[1], message, *words, of_list=True))
        self._missing(page, seen)
        self._order(page)
        if self.findings.lacks("deleted-unlisted"):
            gone = (
                other
                for other in self.histories.values()
                if other.identifier not in seen and other.deletion(page.interval)
            )
            if next(gone, None) is not None:
                self.findings.keep("deleted-unlisted", page.exchange)

    # Items

    def _item(self, history: History, snapshot: Shown) -> None:
        if history.broken:
            return
        if (deletion := history.deletion(snapshot.interval)) is not None:
            words = "a deleted engagement is listed", "no deleted engagement", history.identifier, snapshot.pointer
            self._break(Finding("deleted-unlisted", snapshot.exchange, (deletion.exchange,), *words), history)
            return
        history.wrong_since.pop(EXISTENCE, None)
        wrong: list[tuple[str, str]] = []
        for name in (*TEXTS, STATUS):
            value, register = snapshot.text(name), history.registers[name]
            if value is None or (name == STATUS and value not in STATUSES):
                continue
            if register.is_possible(value, snapshot.interval):
                register.narrow(value, snapshot.interval, by_list=True)
                history.listed[name] = snapshot
                history.wrong_since.pop(name, None)
                attribution.resolve(history, self.findings, name, snapshot.interval)
            else:
                wrong.append((name, value))
                history.wrong_since.setdefault(name, snapshot.interval)
        if wrong:
            self._wrong(history, snapshot, wrong)
        else:
            self._as_read(history, snapshot)

    def _wrong(self, history: History, snapshot: Shown, wrong: list[tuple[str, str]]) -> None:
        """Record an impossible text or status: the list's own fault, or that of an earlier request.

        If no read has shown a possible value since, the finding breaks the requirement of reads until a later read
        resolves it.
        """
        name, value = wrong[0]
        register = history.registers[name]
        candidates, last = register.candidates(snapshot.interval), register.latest(snapshot.interval)
        others = self.others(history, attribution.seen_since(history), snapshot.interval.end)
        rule = attribution.requirement_for_list(
            history, field=name, value=value, interval=snapshot.interval, others=others
        )
        if attribution.is_late(history, [field for field, _ in wrong], snapshot.interval):
            rule = attribution.AS_READ
        other_candidates = (
            0
            if rule == attribution.AS_READ
            else 1 + attribution.count_other_candidates(history, name, snapshot.interval)
        )
        if other_candidates:
            history.open_findings.append(OpenFinding(name, last or register.effects[0], len(self.findings.broken)))
        message = f"{name} of a listed engagement has a value that no request explains"
        blamed = evidence.blamed(history, rule, snapshot.interval, others, {name: value})
        because = *(effect.exchange for effect in candidates), *blamed
        words = register.expected(snapshot.interval), render(value)
        finding = Finding(rule, snapshot.exchange, because, message, *words, f"{snapshot.pointer}/{name}")
        self._break(replace(finding, other_candidates=other_candidates), history)

    def _as_read(self, history: History, snapshot: Shown) -> None:
        """Require the times of the last response that showed the engagement, if it was not changed between."""
        finding = self.times.listed(history, snapshot)
        if finding is None:
            self.findings.keep(attribution.AS_READ, snapshot.exchange)
        else:
            self._break(finding, history)

    # Missing items

    def _missing(self, page: PageRead, seen: set[str]) -> None:
        matching = [history for history in self.histories.values() if self._belongs(history, page)]
        absent = [history for history in matching if history.identifier not in seen]
        counted = "list-engagements-filter-counts" if page.status else "list-engagements-total"
        for history in absent if page.is_whole and not page.status else ():
            history.wrong_since.setdefault(EXISTENCE, page.interval)
        if page.total < len(matching):
            because = tuple(history.creation.exchange for history in matching[:3])
            words = f"at least {len(matching)}, of this run alone", str(page.total), "/meta/total"
            message = "the total is less than the number of existing engagements"
            gone = tuple(history.identifier for history in absent) if page.number >= page.pages == 1 else ()
            self._break(Finding(counted, page.exchange, because, message, *words, unlisted=gone))
            return
        self.findings.keep(counted, page.exchange)
        lost = absent if page.is_whole else self._between(absent, page)
        for history in lost[:1]:
            requirement = self._requirement_of_missing(history, page)
            because = tuple(snapshot.exchange for snapshot in history.snapshots[-1:]) or (history.creation.exchange,)
            message, expected = "an engagement is missing from the list", "every engagement that belongs there"
            missing = f"{len(lost)} missing"
            gone = tuple(each.identifier for each in lost)
            finding = Finding(requirement, page.exchange, because, message, expected, missing, "/data", unlisted=gone)
            self._break(finding if page.is_whole else replace(finding, absent=history.identifier))
        shown = [history for history in matching if history.identifier in seen] if not lost else []
        for requirement in {self._requirement_of_missing(history, page) for history in shown}:
            self.findings.keep(requirement, page.exchange)

    def _belongs(self, history: History, page: PageRead) -> bool:
        if history.broken or not history.exists(page.interval):
            return False
        return page.status is None or history.registers[STATUS].certain_value(page.interval) == page.status

    def _requirement_of_missing(self, history: History, page: PageRead) -> str:
        if not page.is_whole:
            return "list-engagements-pages-partition"
        if page.status:
            return "list-engagements-status-filter"
        archived = history.registers[STATUS].certain_value(page.interval) == "archived"
        return "archived-listed" if archived else "create-engagement-listed"

    def _between(self, absent: Iterable[History], page: PageRead) -> list[History]:
        """Return those that belong between two items of a sorted page for certain, if lists are sorted that way."""
        keys = self._keys(page)
        if not keys or page.asked.get("sort") in self.disordered:
            return []
        least, most = min(keys), max(keys)
        return [history for history in absent if (key := self._key(history, page)) is not None and least < key < most]

    def _keys(self, page: PageRead) -> list[str]:
        """Return the comparable keys of the items, in the order of the page."""
        key = self._key_of_item(page.asked.get("sort"))
        return [found for item in page.items if (found := key(item)) is not None]

    def _key(self, history: History, page: PageRead) -> str | None:
        sort = page.asked.get("sort")
        if sort == "name":
            name = history.registers["name"].certain_value(page.interval)
            return None if name is None else name_key(name)
        seen = next(
            (earlier for earlier in reversed(history.snapshots) if earlier.interval.before(page.interval)), None
        )
        if (
            seen is None
            or sort is None
            or (sort == "updatedAt" and not history.is_unchanged(seen.interval.start, page.interval.end))
        ):
            return None
        return seen.text(sort) if seen.moment(sort) is not None else None

    def _key_of_item(self, sort: str | None) -> Callable[[dict[str, Any]], str | None]:
        """Return the key function of items; times of the interface's format sort as texts."""

        def key(item: dict[str, Any]) -> str | None:
            value = item.get(sort or "")
            if not isinstance(value, str):
                return None
            if sort != "name":
                return value
            return name_key(value) if read.id_of(item) in self.histories else None

        return key

    # Order

    def _order(self, page: PageRead) -> None:
        if page.asked.get("sort") != "name":
            return
        key = self._key_of_item("name")
        known = [(place, found) for place, item in enumerate(page.items) if (found := key(item)) is not None]
        requirement = "sort-with-filter" if page.status else "sort-by-name"
        direction = "descending" if page.descending else "ascending"
        for (_, previous), (place, other) in pairwise(known):
            if previous < other if page.descending else previous > other:
                words = f"names {direction}", f"{render(other)} after {render(previous)}", f"/data/{place}/name"
                self._break(Finding(requirement, page.exchange, (), "a list is not sorted by name", *words))
                return
        if len({found for _, found in known}) > 1:
            self.findings.keep(requirement, page.exchange)

    def _break(self, finding: Finding, history: History | None = None) -> None:
        identifier = None if history is None else history.identifier
        self.findings.broken.append(replace(finding, identifier=identifier, of_list=True, unconfirmed=history is None))
