"""Faults of what happens beyond the limit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import keeping_name, made
from conformance.reference.limiting import Allowance, FixedWindow, Quota
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Key
    from conformance.reference.request_context import Reply, RequestContext

_TOO_MANY = 429
_LOW = 100


@fault("never-429", "throttled-answers-429")
class NeverThrottled(Service):
    """The limit is told and never applied."""

    def admit(self, context: RequestContext) -> None:
        """Let everybody pass."""
        try:
            super().admit(context)
        except Refusal as refusal:
            if refusal.status != _TOO_MANY:
                raise
            context.quota = replace(context.quota, exceeded=False)


def _answering(status: int, *breaks: str) -> Fault:
    """A service that refuses what is too much with another status."""

    def admit(self: Service, context: RequestContext) -> None:
        try:
            Service.admit(self, context)
        except Refusal as refusal:
            if refusal.status == _TOO_MANY:
                raise Refusal(status, "Too many requests.") from None
            raise

    return made(f"throttled-{status}", f"Beyond the limit the answer is {status}.", *breaks, admit=admit)


STATUSES = (
    _answering(403, "throttled-answers-429"),
    _answering(400, "throttled-answers-429"),
    _answering(500, "no-server-error", "throttled-answers-429"),
)


@fault("throttled-remaining-one", "throttled-remaining-zero")
class ThrottledRemainingOne(Service):
    """A 429 says that one request remains."""

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Count one back."""
        headers = super().rate_limit_headers(context, reply)
        return {**headers, "X-RateLimit-Remaining": "1"} if reply.status == _TOO_MANY else headers


@fault("throttled-remaining-full", "throttled-remaining-zero")
class ThrottledRemainingFull(Service):
    """A 429 says that all requests remain."""

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Count all back."""
        headers = super().rate_limit_headers(context, reply)
        whole = {**headers, "X-RateLimit-Remaining": headers["X-RateLimit-Limit"]}
        return whole if reply.status == _TOO_MANY else headers


@fault("throttled-applied", "throttled-changes-nothing")
class ThrottledApplied(Service):
    """A request beyond the limit is refused with 429, and done."""

    async def serve(self, context: RequestContext) -> Reply:
        """Do it after all."""
        try:
            return await super().serve(context)
        except Refusal as refusal:
            if refusal.status == _TOO_MANY:
                context.operation = self.find_operation(context)
                context.content = await self.receive(context)
                with suppress(Refusal):
                    self.act(context)
            raise


@dataclass(slots=True)
class _ShutWindow(FixedWindow):
    """A window that stays shut long after the end that it tells."""

    def take(self, now: float) -> Quota:
        """Count one request."""
        if self.count >= self.limit and now >= self.end:
            return Quota(self.limit, 0, now + 1, exceeded=True)
        return FixedWindow.take(self, now)


@fault("throttled-for-good", "throttled-resumes-at-reset")
class ThrottledForGood(Service):
    """A key that went beyond its limit is never served again, whatever the reset says."""

    def new_allowance(self, limit: int | None, window: int | None) -> Allowance:
        """Take a window that stays shut."""
        return _ShutWindow(limit, window) if limit and window else super().new_allowance(limit, window)


@fault("throttled-longer-than-told", "throttled-resumes-at-reset")
class ThrottledLongerThanTold(Service):
    """A window lasts 8 seconds longer than the reset says."""

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Tell an earlier end."""
        headers = super().rate_limit_headers(context, reply)
        if context.quota.limit > _LOW:
            return headers
        return {**headers, "X-RateLimit-Reset": str(int(context.quota.reset) - 8)}

    def new_allowance(self, limit: int | None, window: int | None) -> Allowance:
        """Make small windows longer."""
        return super().new_allowance(limit, window + 8 if window else None)


@fault("throttles-everybody", "throttled-key-alone")
class ThrottlesEverybody(Service):
    """While one key is beyond its limit, all keys of its organization are refused."""

    _shut: dict[str, float] | None = None

    def count_request(self, context: RequestContext, key: Key | None) -> None:
        """Look at the others of the organization, too."""
        super().count_request(context, key)
        shut = self._shut = self._shut or {}
        if key is None:
            return
        if context.quota.exceeded:
            shut[key.organization_id] = context.quota.reset
        elif shut.get(key.organization_id, 0) > self.seconds():
            context.quota = replace(context.quota, remaining=0, reset=shut[key.organization_id], exceeded=True)


def _applied(operation: str, words: str) -> Fault:
    """An operation that is refused with 429, and done."""

    async def serve(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.serve(self, context)
        except Refusal as refusal:
            if refusal.status == 429:  # noqa: PLR2004
                context.operation = self.find_operation(context)
                context.content = await self.receive(context) if context.operation.takes_body else b""
                with suppress(Refusal):
                    _ = context.operation.id == operation and self.act(context)
            raise

    return made(f"throttled-applied-{words}", f"{operation} beyond the limit is refused with 429, and done.",
                "throttled-changes-nothing", serve=serve)  # fmt: skip


THROTTLED = (
    _applied("updateEngagement", "edit"),
    _applied("archiveEngagement", "archive"),
    _applied("deleteEngagement", "deletion"),
)


NAME_APPLIED = keeping_name(
    "throttled-applied-name",
    "An edit beyond the limit is refused with 429, and its name is kept.",
    _TOO_MANY,
    "throttled-changes-nothing",
)


@fault("throttled-write-remaining", "throttled-remaining-zero")
class ThrottledWriteRemaining(Service):
    """A 429 to a write says that one request remains."""

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Count one back."""
        headers = super().rate_limit_headers(context, reply)
        is_write = reply.status == 429 and context.request.method != "GET"  # noqa: PLR2004
        return {**headers, "X-RateLimit-Remaining": "1"} if is_write else headers


# Whose requests count


def _counting(identifier: str, title: str, whose: Callable[[RequestContext], str]) -> Fault:
    """A service that counts the requests of several keys together."""

    def allowance(self: Service, context: RequestContext, key: Key | None) -> Allowance:
        del key
        return self._allowances.setdefault(whose(context), self.new_allowance(None, None))

    return made(identifier, title, "rate-limit-per-key", allowance=allowance)


TOGETHER = (
    _counting("limit-of-all-keys", "All keys together have one limit.", lambda _: "everybody"),
    _counting(
        "limit-by-address",
        "The limit is that of the address that requests come from, whatever the key.",
        lambda context: context.request.client.host if context.request.client else "",
    ),
)


@fault("limit-counts-others", "rate-limit-per-key")
class LimitCountsOthers(Service):
    """Each key has a limit of its own, and the requests of all keys count against it."""

    _everybody: FixedWindow | None = None

    def count_request(self, context: RequestContext, key: Key | None) -> None:
        """Take off what the others have sent within the last minute."""
        super().count_request(context, key)
        everybody = self._everybody = self._everybody or FixedWindow(2**62, 60)
        sent, own = everybody.limit - everybody.take(self.seconds()).remaining, context.quota
        context.quota = replace(own, remaining=max(own.limit - sent, 0), exceeded=sent > own.limit)
