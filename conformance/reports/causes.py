"""Failed requirements grouped by their probable cause: a pure function of a report and its exchanges.

Failures belong together in three cases: they show the same symptom; a wrong response explains those judged by it; or,
as the ledger knows, a breach of one requirement appears as a breach of the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from itertools import product
from typing import TYPE_CHECKING, Final

from conformance.oracle.laws.registry import LAWS
from conformance.oracle.laws.survey import survey
from conformance.oracle.ledger.findings import EXPLAINED_BY
from conformance.reports.symptoms import Symptom, symptom_of
from conformance.reports.wording import excuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reports.model import Failure, Requirement
    from conformance.wire.exchange import Exchange

    Key = tuple[object, ...]

_OF_LAWS: Final = "test_every_response"
"""The module of the checks that apply a law to every response."""
_TIMES: Final = re.compile(r"\((\d+) (?:times in this run|of \d+ responses)")
_OF_ONE_RESPONSE: Final = re.compile(rb"[\w-]*[0-9][\w-]*")
_ALIKE: Final = 500
"""The bytes of two wrong responses that are compared."""
_PREFIX: Final = "version-prefix-served"
_PRESENCE: Final = ("presence",)
"""The key of failures that show engagements which are missing, or not gone."""


def by_cause(failed: Sequence[Requirement], exchanges: Sequence[Exchange] = ()) -> list[list[Requirement]]:
    """Return the failed requirements in groups, in each the probable cause first, the group to mend first at the front.

    Args:
        failed: The failed requirements, in the order of the report.
        exchanges: All exchanges of the run; without them, only what the failures say counts.
    """
    by_number = {exchange.number: exchange for exchange in exchanges}
    nodes = [_Node(requirement, by_number) for requirement in failed]
    groups = _joined(nodes, exchanges)
    for group in groups:
        group.sort(key=_rank)
    groups.sort(key=lambda group: (*_importance(group), _rank(group[0])))
    return [[node.requirement for node in group] for group in groups]


@dataclass(eq=False)
class _Node:
    """A failed requirement, and the others that explain it."""

    requirement: Requirement
    by_number: dict[int, Exchange] = field(repr=False)
    explained_by: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        return self.requirement["id"]

    @cached_property
    def is_law(self) -> bool:
        checks = [failure["check"] for failure in self.requirement["failures"]]
        return self.id in LAWS and any(_OF_LAWS in check for check in checks)

    @cached_property
    def symptoms(self) -> list[tuple[Failure, Symptom]]:
        cited = [
            (failure, [self.by_number[number] for number in failure["exchanges"] if number in self.by_number])
            for failure in self.requirement["failures"]
        ]
        return [
            (failure, symptom_of(known, failure["expected"], failure["actual"], failure.get("pointer")))
            for failure, known in cited
            if known
        ]

    @cached_property
    def first(self) -> int:
        """The number of the first cited exchange."""
        return min((min(failure["exchanges"], default=0) for failure in self.requirement["failures"]), default=0)

    @cached_property
    def times(self) -> int:
        found = [_TIMES.search(failure["message"]) for failure in self.requirement["failures"]]
        return max((int(match[1]) for match in found if match), default=1)

    @cached_property
    def is_effect(self) -> bool:
        """Whether responses to other operations show that the requirement's own operation did something wrong."""
        shown = {symptom.exchange.operation_id for _, symptom in self.symptoms}
        return not shown <= {*self.requirement["operations"]}

    def in_common(self) -> Iterator[Key]:
        """Yield what the failures have in common with others of the same cause."""
        for failure in self.requirement["failures"]:
            place = failure.get("pointer") or failure["actual"]
            yield from (("place", number, place) for number in failure["exchanges"])
            check, parameter, _ = failure["check"].partition("[")
            yield ("check", check, failure["expected"], None if parameter else failure["actual"])
        for failure, symptom in self.symptoms:
            yield from _keys(failure, symptom)

    def explains(self, node: _Node, exchanges: Sequence[Exchange]) -> bool:
        """Whether this is a law, and the response that shows another failure breaks it at the same place or above.

        Args:
            node: The other failed requirement.
            exchanges: All exchanges of the run.
        """
        if not self.is_law or self is node or {self.id, node.id} & (self.explained_by | node.explained_by):
            return False
        is_whole = any(symptom.kind in {"status", "body"} for _, symptom in self.symptoms)
        place = self.requirement["failures"][0].get("pointer") or ""
        below = [
            symptom.exchange
            for failure, symptom in node.symptoms
            if is_whole
            or (place and (failure.get("pointer") or "").startswith(f"{place}/"))
            or (place.startswith(("/meta", "/data")) and symptom.kind in {"missing", "listed", "unknown"})
        ]
        law = LAWS[self.id]
        return bool(below and survey(law.among(exchanges), filter(law.concerns, below)).broken)


def _keys(failure: Failure, symptom: Symptom) -> Iterator[Key]:
    exchange, operation = symptom.exchange, symptom.exchange.request.operation
    pointer = failure.get("pointer") or ""
    if symptom.kind == "status" and exchange.received is not None:
        status = exchange.received.status
        yield ("status", failure["expected"].partition(",")[0], status)
        if status >= HTTPStatus.MULTIPLE_CHOICES:
            yield ("operation", operation.id, status)
            yield ("response", status, _OF_ONE_RESPONSE.sub(b"", exchange.received.body)[:_ALIKE])
    elif symptom.kind == "member" and pointer.startswith("/data"):
        names = [part for part in pointer.split("/")[2:] if not part.isdecimal()]
        yield ("field", operation.family, *names[-1:])
    elif symptom.kind == "member":
        yield ("member", pointer)
    elif symptom.kind in {"header", "body"}:
        yield (symptom.kind, symptom.name)
    elif symptom.kind == "unknown" and any(name == "sort" for name, _ in exchange.request.query):
        yield ("sort", operation.id)
    is_lost = exchange.missed and operation.parameter == "id" and symptom.kind in {"status", "unknown"}
    is_listed = operation.id == "listEngagements" and pointer in {"/data", "/meta/total"}
    if is_lost or is_listed or symptom.kind == "listed":
        yield _PRESENCE


def _joined(nodes: Sequence[_Node], exchanges: Sequence[Exchange]) -> list[list[_Node]]:
    """Return the nodes in groups of those that are related, also indirectly."""
    groups = {node: [node] for node in nodes}

    def join(first: _Node, other: _Node) -> None:
        one, two = groups[first], groups[other]
        if one is not two:
            one.extend(two)
            groups.update((node, one) for node in two)

    seen: dict[Key, _Node] = {}
    for node in nodes:
        for key in node.in_common():
            join(seen.setdefault(key, node), node)
    for is_cause in (_is_known_cause, lambda cause, node: cause.explains(node, exchanges)):
        for cause, node in product(nodes, nodes):
            if is_cause(cause, node):
                node.explained_by.add(cause.id)
                join(cause, node)
    return list({id(group): group for group in groups.values()}.values())


def _is_known_cause(cause: _Node, node: _Node) -> bool:
    """Whether a breach of a requirement is known to show as a breach of another one; a law needs no other evidence."""
    if node.is_law:
        return cause.id == _PREFIX and node.id.endswith("-succeeds")
    return cause.id in EXPLAINED_BY.get(node.id, ())


def _rank(node: _Node) -> Key:
    """Return the sort key of a requirement in its group: causes before consequences.

    Laws of every response come before what other checks concluded from the responses; of laws the first broken one,
    of other requirements the one that was broken most often, and effects of a request before its own response.
    """
    law = (node.first, -len(node.requirement["operations"])) if node.is_law else ()
    is_excused = excuse(node.requirement) is not None
    explained = bool(node.explained_by)
    return (is_excused, explained, not node.is_law, law, -node.times, not node.is_effect, node.first)


def _importance(group: Sequence[_Node]) -> Key:
    """Return the sort key of a group: core before other classes, many failures before few."""
    return (excuse(group[0].requirement) is not None, group[0].requirement["class"] != "core", -len(group))
