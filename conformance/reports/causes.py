"""Failed requirements grouped by cause: what the same place of the same answers shows is told together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reports.model import Failure, Requirement

    Trace = tuple[int, str]


def by_cause(failed: Sequence[Requirement]) -> list[list[Requirement]]:
    """The failed requirements in groups, in the order of their first ones.

    Two belong together where failures of theirs cite the same exchange and the same place in it: the JSON pointer, or,
    without one, what actually came.
    """
    groups: list[tuple[set[Trace], list[Requirement]]] = []
    for requirement in failed:
        traces = {trace for failure in requirement["failures"] for trace in _traces(failure)}
        related = [group for group in groups if group[0] & traces]
        if not related:
            groups.append((traces, [requirement]))
            continue
        first, *others = related
        for other in others:
            first[0].update(other[0])
            first[1].extend(other[1])
            groups.remove(other)
        first[0].update(traces)
        first[1].append(requirement)
    return [members for _, members in groups]


def _traces(failure: Failure) -> set[Trace]:
    place = failure.get("pointer") or failure["actual"]
    return {(number, place) for number in failure["exchanges"]}
