"""Writes of different scenarios to one resource take turns."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.wire.call import Call

_Resource = tuple[str, str]
"""The name of a path parameter, and its value."""


class Turns:
    """Lets writes to one resource overlap only if one scenario sends them.

    A faulty service may answer the creations of two scenarios with one id, and give that id away again as soon as one
    of them has deleted it. What a guard of the wire has read of a resource must hold until the write is answered.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: dict[_Resource, tuple[str, int]] = {}

    @contextmanager
    def of(self, scenario: str, calls: Sequence[Call]) -> Iterator[None]:
        """Wait until no other scenario writes to what some calls write to, and keep others waiting inside a ``with``.

        Args:
            scenario: Who sends the calls; it may have as many turns at once as it likes.
            calls: What will be sent; reads wait for nothing.
        """
        resources = {
            (call.operation.parameter, call.identifier)
            for call in calls
            if call.may_change and call.operation.parameter is not None and call.identifier is not None
        }
        with self._changed:
            self._changed.wait_for(lambda: all(self._holder(resource, scenario) == scenario for resource in resources))
            self._count(scenario, resources, 1)
        try:
            yield
        finally:
            with self._changed:
                self._count(scenario, resources, -1)
                self._changed.notify_all()

    def _holder(self, resource: _Resource, scenario: str) -> str:
        return self._held.get(resource, (scenario, 0))[0]

    def _count(self, scenario: str, resources: set[_Resource], step: int) -> None:
        for resource in resources:
            turns = self._held.get(resource, (scenario, 0))[1] + step
            if turns:
                self._held[resource] = scenario, turns
            else:
                del self._held[resource]
