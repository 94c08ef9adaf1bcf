"""Failed requirements grouped by cause: failures at the same place of the same response."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reports.model import Failure, Requirement

    Trace = tuple[int, str]


def by_cause(failed: Sequence[Requirement]) -> list[list[Requirement]]:
    """Return the failed requirements in groups, in the order of their first members.

    Two requirements belong together if their failures cite the same exchange and the same place in it. The place is
    the JSON pointer or, without a pointer, the actual value.
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
