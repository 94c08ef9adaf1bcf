"""Faults of headers that only one operation, one status or one kind of request shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.clock import timestamp
from conformance.reference.faults.making import made
from conformance.reference.routes import OPERATIONS
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.limiting import Quota
    from conformance.reference.request_context import Reply, RequestContext

    Kind = Callable[[RequestContext, Reply], bool]

_LIMIT, _REMAINING, _RESET = "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"


def _operation_id(context: RequestContext) -> str:
    """Give the operation of a call that may have been refused before it was known."""
    return context.operation.id if hasattr(context, "operation") else ""


def _of(operation: str, *statuses: int) -> Kind:
    """Answers of an operation with one of some statuses, or with any."""
    return lambda context, reply: _operation_id(context) == operation and (not statuses or reply.status in statuses)


# Headers, one operation at a time


def _headless(operation: str, name: str) -> Fault:
    def rate_limit_headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.rate_limit_headers(self, context, reply)
        return {key: value for key, value in honest.items() if key != name or _operation_id(context) != operation}

    return made(f"headers-{operation}-without-{name.rpartition('-')[2]}".lower(), f"What {operation} answers lacks "
                f"{name}.", "rate-limit-headers-present", rate_limit_headers=rate_limit_headers)  # fmt: skip


HEADLESS = tuple(
    _headless(operation.id, (_LIMIT, _REMAINING, _RESET)[place % 3]) for place, operation in enumerate(OPERATIONS)
)


def _valued(
    identifier: str, title: str, name: str, value: Callable[[RequestContext, Quota], str], requirement: str, kind: Kind
) -> Fault:
    """A header with another value in some answers."""

    def rate_limit_headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.rate_limit_headers(self, context, reply)
        return {**honest, name: value(context, context.quota)} if kind(context, reply) else honest

    return made(identifier, title, requirement, rate_limit_headers=rate_limit_headers)


def _is_error(_: RequestContext, reply: Reply) -> bool:
    return reply.is_error


def _is_write(context: RequestContext, _: Reply) -> bool:
    return context.request.method != "GET"


_TIME, _RANGE, _FALLS = "rate-limit-reset-is-time", "rate-limit-remaining-in-range", "rate-limit-remaining-falls"

VALUED = (
    _valued("reset-milliseconds-on-writes", "The reset of a write is in milliseconds.", _RESET,
            lambda _, quota: str(int(quota.reset * 1000)), _TIME, _is_write),
    _valued("reset-delay-on-errors", "The reset of an error is a delay.", _RESET, lambda *_: "60", _TIME, _is_error),
    _valued("reset-iso-on-lists", "The reset of a list is an ISO 8601 time.", _RESET,
            lambda _, quota: timestamp(int(quota.reset * 1000)), _TIME, _of("listEngagements")),
    _valued("reset-ten-minutes-ago", "The reset is ten minutes ago.", _RESET,
            lambda _, quota: str(int(quota.reset) - 660), _TIME, lambda *_: True),
    _valued("reset-microseconds", "The reset is in microseconds.", _RESET,
            lambda _, quota: str(int(quota.reset * 1_000_000)), _TIME, lambda *_: True),
    _valued("reset-negative", "The reset is negative.", _RESET, lambda *_: "-1", _TIME, _is_write),
    _valued("reset-next-year-but-one", "The reset is 400 days ahead.", _RESET,
            lambda _, quota: str(int(quota.reset) + 400 * 86_400), _TIME, lambda *_: True),
    _valued("remaining-negative-on-errors", "What remains is -1 on an error.", _REMAINING, lambda *_: "-1", _RANGE,
            _is_error),
    _valued("remaining-above-limit-on-writes", "One more remains after a write than the limit allows.", _REMAINING,
            lambda _, quota: str(quota.limit + 1), _RANGE, _is_write),
    _valued("remaining-word", "What remains is a word.", _REMAINING, lambda *_: "many", _RANGE, _is_write),
    _valued("remaining-constant-on-reads", "What remains does not change with reads.", _REMAINING,
            lambda _, quota: str(quota.limit - 1), _FALLS, lambda context, _: context.request.method == "GET"),
    _valued("limit-empty-on-deletion", "The limit of a deletion is empty.", _LIMIT, lambda *_: "",
            "rate-limit-limit-positive", _of("deleteEngagement")),
    _valued("limit-zero-on-401", "The limit of a 401 is 0.", _LIMIT, lambda *_: "0", "rate-limit-limit-positive",
            lambda _, reply: reply.status == 401),  # noqa: PLR2004
    _valued("limit-hexadecimal", "The limit is written in hexadecimal.", _LIMIT, lambda _, quota: hex(quota.limit),
            "rate-limit-limit-positive", lambda *_: True),
)  # fmt: skip


def _of_a_day(identifier: str, title: str, remaining: Callable[[Quota], int]) -> Fault:
    """A service with a window of a day that tells something else for what remains in it."""

    def rate_limit_headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.rate_limit_headers(self, context, reply)
        told = {_REMAINING: str(remaining(context.quota)), _RESET: str(int(context.quota.reset) + 86_400)}
        return {**honest, **told}

    return made(identifier, title, _FALLS, rate_limit_headers=rate_limit_headers)


OF_A_DAY = (
    _of_a_day("remaining-counts-up", "What was sent in the day is told for what remains.",
              lambda quota: quota.limit - quota.remaining),
    _of_a_day("remaining-always-five", "What remains in the day is always 5.", lambda _: 5),
)  # fmt: skip


def _free(identifier: str, title: str, is_free: Callable[[RequestContext], bool]) -> Fault:
    """A service that does not count some requests."""

    def rate_limit_headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        if is_free(context) and not context.quota.exceeded:
            context.allowance.give_back()
            context.quota = replace(context.quota, remaining=context.quota.remaining + 1)
        return Service.rate_limit_headers(self, context, reply)

    return made(identifier, title, _FALLS, rate_limit_headers=rate_limit_headers)


FREE = (
    _free("remaining-of-reads-only", "Writes do not count against the limit that the headers tell.",
          lambda context: context.request.method != "GET"),
    _free("remaining-without-lists", "Lists do not count against the limit that the headers tell.",
          lambda context: _operation_id(context).startswith("list")),
)  # fmt: skip


# The media type, one operation at a time


def _typed(operation: str, media_type: str, *statuses: int) -> Fault:
    kind = _of(operation, *statuses)

    def headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.headers(self, context, reply)
        return {**honest, "Content-Type": media_type} if kind(context, reply) else honest

    of = f"A {statuses[0]} of {operation}" if statuses else f"What {operation} answers"
    label = f"{operation}-{statuses[0]}" if statuses else operation
    return made(f"type-{label}".lower(), f"{of} has the media type {media_type}.", "json-media-type", headers=headers)


TYPED = (
    _typed("updateEngagement", "text/html"),
    _typed("removeMember", "text/plain"),
    _typed("updateMemberRole", "application/xml"),
    _typed("updateCurrentOrganization", "text/html; charset=utf-8"),
    _typed("unarchiveEngagement", "application/json-patch"),
    _typed("listMembers", "application/jsonp"),
    _typed("createEngagement", "text/plain", 422),
    _typed("getEngagement", "text/html", 404),
    _typed("listEngagements", "text/html", 422),
    _typed("listMembers", "text/html", 422),
)
