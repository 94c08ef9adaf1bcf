"""Faults of rate limiting that show only for some requests, or only a while beyond the limit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.limiting import FixedWindow, Quota
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.limiting import Allowance
    from conformance.reference.records import Key
    from conformance.reference.request_context import Reply, RequestContext

_TOO_MANY = 429


# Limits


@fault("throttled-reads-only", "throttled-answers-429", "throttled-changes-nothing")
class ThrottledReadsOnly(Service):
    """Writes beyond the limit are served."""

    def admit(self, context: RequestContext) -> None:
        """Forget the limit."""
        _admit_some(self, context, context.request.method != "GET")


@fault("throttled-writes-only", "throttled-answers-429")
class ThrottledWritesOnly(Service):
    """Reads beyond the limit are served."""

    def admit(self, context: RequestContext) -> None:
        """Forget the limit."""
        _admit_some(self, context, context.request.method == "GET")


def _admit_some(service: Service, context: RequestContext, served: bool) -> None:  # noqa: FBT001 - what is decided
    try:
        Service.admit(service, context)
    except Refusal as refusal:
        if refusal.status != _TOO_MANY or not served:
            raise
        context.quota = replace(context.quota, exceeded=False)


@dataclass(slots=True)
class _LooseWindow(FixedWindow):
    """A window that lets twice as many requests pass as it tells."""

    def take(self, now: float) -> Quota:
        """Count one request."""
        if now >= self.end:
            return FixedWindow.take(self, now)
        self.count += 1
        exceeded = self.count > 2 * self.limit + 1
        return Quota(self.limit, max(self.limit - self.count, 0), self.end, exceeded)


@fault("throttled-at-twice-the-limit", "throttled-answers-429")
class ThrottledAtTwiceTheLimit(Service):
    """Twice as many requests are served as the limit says."""

    def new_allowance(self, limit: int | None, window: int | None) -> Allowance:
        """Take the loose window."""
        return _LooseWindow(limit, window) if limit and window else super().new_allowance(limit, window)


@fault("throttles-other-organizations", "throttled-key-alone")
class ThrottlesByAddress(Service):
    """Requests are counted by the address that they come from, whatever the key, once a key is beyond its limit."""

    _until: float = 0

    def count_request(self, context: RequestContext, key: Key | None) -> None:
        """Look at what others did."""
        super().count_request(context, key)
        if context.quota.exceeded:
            self._until = context.quota.reset
        elif self._until > self.seconds():
            context.quota = replace(context.quota, remaining=0, reset=self._until, exceeded=True)


@fault("throttled-creates", "throttled-changes-nothing")
class ThrottledCreates(Service):
    """A creation beyond the limit is refused with 429, and done; other requests are not."""

    async def serve(self, context: RequestContext) -> Reply:
        """Do it after all."""
        try:
            return await super().serve(context)
        except Refusal as refusal:
            if refusal.status == _TOO_MANY and self.find_operation(context).id == "createEngagement":
                context.operation = self.find_operation(context)
                context.content = await self.receive(context)
                with suppress(Refusal):
                    self.act(context)
            raise
