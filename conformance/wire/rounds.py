"""Rounds of a batch of requests: a deletion goes beside no other write to the same resource."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.wire.requests import Request

T = TypeVar("T")


def in_rounds(requests: Sequence[Request], send: Callable[[list[Request]], Sequence[T]]) -> list[T]:
    """Send independent requests concurrently, but deletions after the other writes to their resource.

    A service may give the id to another user's engagement as soon as a deletion is carried out.

    Args:
        requests: The requests.
        send: Sends the requests of one round at once, and returns what came of each.

    Returns:
        What came of each request, in the order of the requests.
    """
    numbers = _numbers(requests)
    found: dict[int, T] = {}
    for number in sorted(set(numbers)):
        places = [place for place, other in enumerate(numbers) if other == number]
        found |= zip(places, send([requests[place] for place in places]), strict=True)
    return [found[place] for place in range(len(requests))]


def _numbers(requests: Sequence[Request]) -> list[int]:
    """Return for each request the number of the round in which it is sent."""
    changed = {
        request.identifier
        for request in requests
        if request.operation.changes and request.method != "DELETE" and request.identifier is not None
    }
    deletions: Counter[str | None] = Counter()
    numbers = []
    for request in requests:
        is_deletion = request.method == "DELETE" and request.is_proper
        numbers.append(deletions[request.identifier] + (request.identifier in changed) if is_deletion else 0)
        deletions[request.identifier] += is_deletion
    return numbers
