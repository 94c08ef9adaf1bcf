"""Faults of headers: the media type, and what tells of the rate limit, by kind of answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.limiting import Quota
    from conformance.reference.request_context import Reply, RequestContext

    Kind = Callable[[RequestContext, Reply], bool]

_HOUR = 3600
_LIMIT, _REMAINING, _RESET = "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"


def _status(*statuses: int) -> Kind:
    return lambda _, reply: reply.status in statuses


def _operation(*operations: str) -> Kind:
    return lambda context, reply: not reply.is_error and context.operation.id in operations


def _is_error(_: RequestContext, reply: Reply) -> bool:
    return reply.is_error


def _is_success(_: RequestContext, reply: Reply) -> bool:
    return not reply.is_error


def _is_write(context: RequestContext, reply: Reply) -> bool:
    return not reply.is_error and context.request.method != "GET"


_LISTS = _operation("listEngagements", "listMembers")

# The media type


def _typed(identifier: str, where: str, media_type: str, kind: Kind) -> Fault:
    def headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.headers(self, context, reply)
        if not kind(context, reply):
            return honest
        return {name: value for name, value in {**honest, "Content-Type": media_type}.items() if value}

    title = f"{where} has the media type {media_type}." if media_type else f"{where} has no media type."
    return made(identifier, title, "json-media-type", headers=headers)


MEDIA_TYPES = (
    _typed("media-type-error-html", "An error", "text/html; charset=utf-8", _is_error),
    _typed("media-type-404-plain", "A 404", "text/plain", _status(404)),
    _typed("media-type-401-none", "A 401", "", _status(401)),
    _typed("media-type-lists-none", "A list", "", _LISTS),
    _typed("media-type-creation-html", "A creation", "text/html", _operation("createEngagement")),
    _typed("media-type-deletion-plain", "A deletion", "text/plain; charset=utf-8", _operation("deleteEngagement")),
    _typed("media-type-read-octets", "A read engagement", "application/octet-stream", _operation("getEngagement")),
    _typed("media-type-archive-javascript", "An archive", "application/javascript", _operation("archiveEngagement")),
    _typed("media-type-unarchive-none", "An unarchiving", "", _operation("unarchiveEngagement")),
    _typed("media-type-invite-form", "An invitation", "application/x-www-form-urlencoded", _operation("inviteMember")),
    _typed(
        "media-type-organization-json-lines",
        "The organization",
        "application/jsonl",
        _operation("getCurrentOrganization"),
    ),
    _typed("media-type-429-html", "A 429", "text/html", _status(429)),
)

# The headers of the rate limit are missing


def _lacking(identifier: str, where: str, names: tuple[str, ...], kind: Kind) -> Fault:
    def rate_limit_headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.rate_limit_headers(self, context, reply)
        return {name: value for name, value in honest.items() if not (name in names and kind(context, reply))}

    title = f"{where} lacks {' and '.join(names)}."
    return made(identifier, title, "rate-limit-headers-present", rate_limit_headers=rate_limit_headers)


MISSING = (
    _lacking("no-reset", "Every answer", (_RESET,), lambda *_: True),
    _lacking("errors-without-limit", "An error", (_LIMIT,), _is_error),
    _lacking("successes-without-remaining", "A success", (_REMAINING,), _is_success),
    _lacking("401-without-headers", "A 401", (_LIMIT, _REMAINING, _RESET), _status(401)),
    _lacking("401-without-remaining", "A 401", (_REMAINING,), _status(401)),
    _lacking("403-without-headers", "A 403", (_LIMIT, _REMAINING, _RESET), _status(403)),
    _lacking("422-without-reset", "A 422", (_RESET,), _status(422)),
    _lacking("400-without-headers", "A 400", (_LIMIT, _REMAINING, _RESET), _status(400)),
    _lacking("409-without-limit", "A 409", (_LIMIT,), _status(409)),
    _lacking("429-without-headers", "A 429", (_LIMIT, _REMAINING, _RESET), _status(429)),
    _lacking("429-without-reset", "A 429", (_RESET,), _status(429)),
    _lacking("lists-without-reset", "A list", (_RESET,), _LISTS),
    _lacking("writes-without-limit", "A write", (_LIMIT,), _is_write),
    _lacking("invitation-without-headers", "An invitation", (_LIMIT, _REMAINING, _RESET), _operation("inviteMember")),
    _lacking("removal-without-headers", "A removal", (_LIMIT, _REMAINING, _RESET), _operation("removeMember")),
    _lacking("deletion-without-remaining", "A deletion", (_REMAINING,), _operation("deleteEngagement")),
)

# Their values


def _valued(
    identifier: str,
    title: str,
    name: str,
    value: Callable[[Quota, str], str],
    *breaks: str,
    kind: Kind = lambda *_: True,
) -> Fault:
    """A header with another value, which is made from the quota and the honest one."""

    def rate_limit_headers(self: Service, context: RequestContext, reply: Reply) -> dict[str, str]:
        honest = Service.rate_limit_headers(self, context, reply)
        return {**honest, name: value(context.quota, honest[name])} if kind(context, reply) else honest

    return made(identifier, title, *breaks, rate_limit_headers=rate_limit_headers)


_POSITIVE, _RANGE, _TIME, _FALLS = (
    "rate-limit-limit-positive",
    "rate-limit-remaining-in-range",
    "rate-limit-reset-is-time",
    "rate-limit-remaining-falls",
)

VALUES = (
    _valued("limit-zero", "The limit is 0.", _LIMIT, lambda *_: "0", _POSITIVE),
    _valued("limit-unlimited", "The limit is the word unlimited.", _LIMIT, lambda *_: "unlimited", _POSITIVE),
    _valued(
        "limit-with-window", "The limit tells the window, too.", _LIMIT, lambda _, honest: f"{honest};w=60", _POSITIVE
    ),
    _valued(
        "limit-negative-on-errors", "The limit of an error is -1.", _LIMIT, lambda *_: "-1", _POSITIVE, kind=_is_error
    ),
    _valued("limit-fraction", "The limit is a fraction.", _LIMIT, lambda _, honest: f"{honest}.5", _POSITIVE),
    _valued("remaining-negative", "What remains is negative.", _REMAINING, lambda *_: "-1", _RANGE),
    _valued(
        "remaining-above-limit",
        "One more remains than the limit allows.",
        _REMAINING,
        lambda quota, _: str(quota.limit + 1),
        _RANGE,
    ),
    _valued("remaining-fraction", "What remains is a fraction.", _REMAINING, lambda _, honest: f"{honest}.0", _RANGE),
    _valued(
        "remaining-empty-on-401",
        "What remains is empty on a 401.",
        _REMAINING,
        lambda *_: "",
        _RANGE,
        kind=_status(401),
    ),
    _valued(
        "remaining-constant",
        "What remains never changes.",
        _REMAINING,
        lambda quota, _: "0" if quota.exceeded else str(quota.limit - 1),
        _FALLS,
    ),
    _valued(
        "remaining-used",
        "What remains is what was used.",
        _REMAINING,
        lambda quota, _: "0" if quota.exceeded else str(quota.limit - quota.remaining),
        _FALLS,
    ),
    _valued(
        "reset-milliseconds",
        "The reset is in milliseconds.",
        _RESET,
        lambda quota, _: str(int(quota.reset * 1000)),
        _TIME,
    ),
    _valued("reset-delay", "The reset is a delay.", _RESET, lambda *_: "60", _TIME),
    _valued("reset-iso", "The reset is an ISO 8601 time.", _RESET, lambda *_: "2027-01-01T00:00:00.000Z", _TIME),
    _valued(
        "reset-last-hour",
        "The reset is an hour ago.",
        _RESET,
        lambda quota, _: str(int(quota.reset) - 60 - _HOUR),
        _TIME,
    ),
    _valued("reset-zero-on-errors", "The reset of an error is 0.", _RESET, lambda *_: "0", _TIME, kind=_is_error),
    _valued("reset-http-date", "The reset is an HTTP date.", _RESET, lambda *_: "Fri, 01 Jan 2027 00:00:00 GMT", _TIME),
    _valued(
        "reset-far-ahead",
        "The reset is 50 years ahead.",
        _RESET,
        lambda quota, _: str(int(quota.reset) + 50 * 366 * 86_400),
        _TIME,
    ),
    _valued("reset-delay-on-429", "The reset of a 429 is a delay.", _RESET, lambda *_: "3", _TIME, kind=_status(429)),
)


@fault("remaining-of-writes-only", "rate-limit-remaining-falls")
class RemainingOfWritesOnly(Service):
    """Reads do not count against the limit that the headers tell."""

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Give back what a read took."""
        if context.request.method == "GET" and not context.quota.exceeded:
            context.allowance.give_back()
            context.quota = replace(context.quota, remaining=context.quota.remaining + 1)
        return super().rate_limit_headers(context, reply)
