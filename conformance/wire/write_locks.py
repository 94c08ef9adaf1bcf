"""Writes of different scenarios to one resource take turns, and all wait while a scenario must be undisturbed."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.wire.requests import Request

_Resource = tuple[str, str]
"""The name of a path parameter, and its value."""


class WriteLocks:
    """Lets writes to one resource overlap only if one scenario sends them.

    A faulty service may answer the creations of two scenarios with one id, and give that id away again as soon as one
    of them has deleted it. What a guard of the wire has read of a resource must hold until the write is answered. And
    a list that is read while something is written need not be of one piece.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[_Resource, tuple[str, int]] = {}
        self._writing: Counter[str] = Counter()
        self._undisturbed: tuple[str, int] | None = None

    @contextmanager
    def of(self, scenario: str, requests: Sequence[Request]) -> Iterator[None]:
        """Wait until no other scenario writes to what some requests write to, and keep others waiting inside a ``with``.

        Writes wait for a scenario that must be undisturbed, too.

        Args:
            scenario: Who sends the calls; it may have as many turns at once as it likes.
            requests: What will be sent; reads wait for nothing.
        """
        resources = {
            (request.operation.parameter, request.identifier)
            for request in requests
            if request.may_change and request.operation.parameter is not None and request.identifier is not None
        }
        writes = any(request.may_change for request in requests)
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    all(self._holder(resource, scenario) == scenario for resource in resources)
                    and not (writes and self._is_kept_from(scenario))
                )
            )
            self._count(scenario, resources, 1)
            self._writing[scenario] += writes
        try:
            yield
        finally:
            with self._changed:
                self._count(scenario, resources, -1)
                self._writing[scenario] -= writes
                self._changed.notify_all()

    @contextmanager
    def undisturbed(self, scenario: str) -> Iterator[None]:
        """Wait until no other scenario writes anything, and let none begin to inside a ``with``.

        Nothing that another scenario does may be waited for in there.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._is_kept_from(scenario))
            self._undisturbed = scenario, 1 + (self._undisturbed[1] if self._undisturbed else 0)
        try:
            with self._changed:
                self._changed.wait_for(lambda: not any(n for one, n in self._writing.items() if one != scenario))
            yield
        finally:
            with self._changed:
                depth = self._undisturbed[1] - 1
                self._undisturbed = (scenario, depth) if depth else None
                self._changed.notify_all()

    def _is_kept_from(self, scenario: str) -> bool:
        """Whether another scenario must be undisturbed."""
        return self._undisturbed is not None and self._undisturbed[0] != scenario

    def _holder(self, resource: _Resource, scenario: str) -> str:
        return self._held.get(resource, (scenario, 0))[0]

    def _count(self, scenario: str, resources: set[_Resource], step: int) -> None:
        for resource in resources:
            depth = self._held.get(resource, (scenario, 0))[1] + step
            if depth:
                self._held[resource] = scenario, depth
            else:
                del self._held[resource]
