"""Locks against concurrent writes of different scenarios to one resource, and for exclusive scenarios."""

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

    A faulty service may return one id for the creations of two scenarios, and reuse it as soon as one of them has
    deleted it. What a guard has read of a resource must hold until the write is complete. And a list that is read
    during a write may be torn.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[_Resource, tuple[str, int]] = {}
        self._writing: Counter[str] = Counter()
        self._undisturbed: tuple[str, int] | None = None

    @contextmanager
    def of(self, scenario: str, requests: Sequence[Request]) -> Iterator[None]:
        """Lock the resources that requests write to, inside a ``with``, against other scenarios.

        Writes also wait for the end of an exclusive scenario.

        Args:
            scenario: The sender; it may hold any number of locks at once.
            requests: The requests; reads do not wait.
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
                    and not (writes and self._is_blocked_for(scenario))
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
        """Block the writes of other scenarios inside a ``with``, which begins when those in flight are complete.

        The block must not wait for another scenario.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._is_blocked_for(scenario))
            self._undisturbed = scenario, 1 + (self._undisturbed[1] if self._undisturbed else 0)
        try:
            with self._changed:
                self._changed.wait_for(lambda: not any(n for other, n in self._writing.items() if other != scenario))
            yield
        finally:
            with self._changed:
                depth = self._undisturbed[1] - 1
                self._undisturbed = (scenario, depth) if depth else None
                self._changed.notify_all()

    def _is_blocked_for(self, scenario: str) -> bool:
        """Whether another scenario is exclusive."""
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
