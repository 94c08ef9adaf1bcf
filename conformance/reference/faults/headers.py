"""Faults of media types and rate limits: their headers, whose requests count, requests beyond a limit, its window."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import cycle
from types import SimpleNamespace
from typing import TYPE_CHECKING

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.interface.operations import SCOPES
from conformance.reference.clock import timestamp
from conformance.reference.limiting import FixedWindow, Quota
from conformance.reference.refusal import Refusal

from .changes import header
from .conditions import all_of, always, has_status, is_error, reads, responds, succeeds, writes
from .mutations import Method, Mutation, at_step, fault, flat, override, refuse_with, refused_early, wrap
from .operations import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from .situations import Condition, Situation

    Value = str | None | Callable[[Quota], str]
    """The text of a header, or how it is made from the quota; None if the header is missing."""
    from conformance.reference.records import Key
    from conformance.reference.request_context import RequestContext
    from conformance.reference.service import Service


_JSON, _PRESENT, _POSITIVE = "json-media-type", "rate-limit-headers-present", "rate-limit-limit-positive"
_RANGE, _FALLS, _TIME = "rate-limit-remaining-in-range", "rate-limit-remaining-falls", "rate-limit-reset-is-time"
_HOUR, _DAY = 3600, 86_400


def _media_type(text: str | None, when: Condition) -> Mutation:
    return header("Content-Type", lambda _: text, when)


def _rate_limit(name: str, value: Value, when: Condition = always) -> Mutation:
    return header(f"X-RateLimit-{name}", lambda at: value(at.context.quota) if callable(value) else value, when)


_limit, _remaining, _reset = (partial(_rate_limit, name) for name in ("Limit", "Remaining", "Reset"))


def _no_headers(when: Condition) -> Mutation:
    return _limit(None, when) | _remaining(None, when) | _reset(None, when)


def _reset_after(seconds: int) -> Mutation:
    """Send a reset that is later than the honest one; earlier if ``seconds`` is negative."""
    return _reset(lambda quota: str(int(quota.reset) + seconds))


def _reset_in(units: int, when: Condition = always) -> Mutation:
    """Send the reset in another unit, of which a second has ``units``."""
    return _reset(lambda quota: str(int(quota.reset * units)), when)


def _used(quota: Quota) -> str:
    return str(quota.limit - quota.remaining)


def _above_limit(quota: Quota) -> str:
    return str(quota.limit + 1)


def _not_counted(when: Condition) -> Mutation:
    """Give back what a request took from the limit."""

    def around(at: Situation, honest: Method) -> object:
        if when(at) and not at.context.quota.exceeded:
            at.context.allowance.give_back()
            at.context.quota = replace(at.context.quota, remaining=at.context.quota.remaining + 1)
        return honest()

    return at_step("rate_limit_headers", around)


def _repeat_remaining(_: Situation, honest: Method) -> Response:
    """Add the header as a gateway with a limit of its own does."""
    response: Response = honest()
    response.raw_headers.append((b"X-RateLimit-Remaining", b"4999"))
    return response


_LISTED = succeeds("listEngagements", "listMembers")

MEDIA_TYPES = flat(
    fault("media-type-error-html", "Errors have the media type text/html; charset=utf-8.",
          _media_type("text/html; charset=utf-8", is_error), _JSON),
    fault("media-type-404-plain", "A 404 has the media type text/plain.",
          _media_type("text/plain", has_status(404)), _JSON),
    fault("media-type-401-none", "A 401 has no media type.", _media_type(None, has_status(401)), _JSON),
    fault("media-type-429-html", "A 429 has the media type text/html.",
          _media_type("text/html", has_status(429)), _JSON),
    fault("media-type-lists-none", "The response to a list request has no media type.", _media_type(None, _LISTED),
          _JSON),
    fault("media-type-unarchive-none", "The response to an unarchive has no media type.",
          _media_type(None, succeeds("unarchiveEngagement")), _JSON),
    *(fault(f"media-type-{label}", f"The response to {subject} has the media type {media_type}.",
            _media_type(media_type, succeeds(operation)), _JSON) for label, subject, operation, media_type in (
        ("creation-html", "a creation", "createEngagement", "text/html"),
        ("deletion-plain", "a deletion", "deleteEngagement", "text/plain; charset=utf-8"),
        ("read-octets", "a read", "getEngagement", "application/octet-stream"),
        ("archive-javascript", "an archive", "archiveEngagement", "application/javascript"),
        ("invite-form", "An invitation", "inviteMember", "application/x-www-form-urlencoded"),
        ("organization-json-lines", "a read of the organization", "getCurrentOrganization", "application/jsonl"))),
    *(fault(f"type-{operation}".lower(), f"The response of {operation} has the media type {media_type}.",
            _media_type(media_type, responds(operation)), _JSON) for operation, media_type in (
        ("updateEngagement", "text/html"),
        ("removeMember", "text/plain"),
        ("updateMemberRole", "application/xml"),
        ("updateCurrentOrganization", "text/html; charset=utf-8"),
        ("unarchiveEngagement", "application/json-patch"),
        ("listMembers", "application/jsonp"))),
    *(fault(f"type-{operation}-{status}".lower(), f"A {status} of {operation} has the media type {media_type}.",
            _media_type(media_type, responds(operation, status)), _JSON) for operation, status, media_type in (
        ("createEngagement", 422, "text/plain"),
        ("getEngagement", 404, "text/html"),
        ("listEngagements", 422, "text/html"),
        ("listMembers", 422, "text/html"))),
)  # fmt: skip

MISSING = flat(
    *(fault(identifier, f"{subject} lacks all three rate-limit headers.",
            _no_headers(when), _PRESENT) for identifier, subject, when in (
        *((f"{status}-without-headers", f"A {status}", has_status(status)) for status in (400, 401, 403, 429)),
        ("invitation-without-headers", "An invitation", succeeds("inviteMember")),
        ("removal-without-headers", "A removal", succeeds("removeMember")))),
    fault("not-found-without-limits", "The 404 for a missing resource lacks the rate-limit headers.",
          _no_headers(has_status(404)), _PRESENT),
    fault("errors-without-limit", "Errors lack X-RateLimit-Limit.", _limit(None, is_error), _PRESENT),
    fault("409-without-limit", "A 409 lacks X-RateLimit-Limit.", _limit(None, has_status(409)), _PRESENT),
    fault("writes-without-limit", "Responses to writes lack X-RateLimit-Limit.",
          _limit(None, all_of(writes, succeeds())), _PRESENT),
    fault("successes-without-remaining", "Successful responses lack X-RateLimit-Remaining.",
          _remaining(None, succeeds()), _PRESENT),
    fault("401-without-remaining", "A 401 lacks X-RateLimit-Remaining.", _remaining(None, has_status(401)), _PRESENT),
    fault("deletion-without-remaining", "The response to a deletion lacks X-RateLimit-Remaining.",
          _remaining(None, succeeds("deleteEngagement")), _PRESENT),
    fault("no-reset", "Every response lacks X-RateLimit-Reset.", _reset(None), _PRESENT),
    fault("422-without-reset", "A 422 lacks X-RateLimit-Reset.", _reset(None, has_status(422)), _PRESENT),
    fault("429-without-reset", "A 429 lacks X-RateLimit-Reset.", _reset(None, has_status(429)), _PRESENT),
    fault("lists-without-reset", "Responses with lists lack X-RateLimit-Reset.", _reset(None, _LISTED), _PRESENT),
    *(fault(f"headers-{operation}-without-{name}".lower(), f"The response of {operation} lacks X-RateLimit-{name}.",
            _rate_limit(name, None, responds(operation)), _PRESENT)
      for operation, name in zip(ACTIONS, cycle(("Limit", "Remaining", "Reset")), strict=False)),
)  # fmt: skip

LIMIT = (
    fault("limit-zero", "X-RateLimit-Limit is 0.", _limit("0"), _POSITIVE),
    fault("limit-zero-on-401", "X-RateLimit-Limit of a 401 is 0.", _limit("0", has_status(401)), _POSITIVE),
    fault("limit-negative-on-errors", "X-RateLimit-Limit of an error is -1.", _limit("-1", is_error), _POSITIVE),
    fault("limit-unlimited", "X-RateLimit-Limit is the word unlimited.", _limit("unlimited"), _POSITIVE),
    fault("limit-empty-on-deletion", "X-RateLimit-Limit is empty in the response to a deletion.",
          _limit("", responds("deleteEngagement")), _POSITIVE),
    fault("limit-with-window", "X-RateLimit-Limit states the window, too.",
          _limit(lambda quota: f"{quota.limit};w=60"), _POSITIVE),
    fault("limit-fraction", "X-RateLimit-Limit has decimals.", _limit(lambda quota: f"{quota.limit}.5"), _POSITIVE),
    fault("limit-hexadecimal", "X-RateLimit-Limit is hexadecimal.", _limit(lambda quota: hex(quota.limit)),
          _POSITIVE),
)  # fmt: skip

REMAINING = (
    fault("remaining-negative", "X-RateLimit-Remaining is negative.", _remaining("-1"), _RANGE),
    fault("remaining-negative-on-errors", "X-RateLimit-Remaining of an error is -1.", _remaining("-1", is_error),
          _RANGE),
    fault("remaining-above-limit", "X-RateLimit-Remaining is one more than X-RateLimit-Limit.",
          _remaining(_above_limit), _RANGE),
    fault("remaining-above-limit-on-writes", "X-RateLimit-Remaining after a write is one more than X-RateLimit-Limit.",
          _remaining(_above_limit, writes), _RANGE),
    fault("remaining-fraction", "X-RateLimit-Remaining has decimals.", _remaining(lambda quota: f"{quota.remaining}.0"),
          _RANGE),
    fault("remaining-empty-on-401", "X-RateLimit-Remaining of a 401 is empty.", _remaining("", has_status(401)),
          _RANGE),
    fault("remaining-word", "X-RateLimit-Remaining is a word.", _remaining("many", writes), _RANGE),
    fault("remaining-stated-twice", "Every response has X-RateLimit-Remaining twice, with different values.",
          at_step("respond", _repeat_remaining), _RANGE),
    fault("remaining-constant", "X-RateLimit-Remaining never changes.",
          _remaining(lambda quota: "0" if quota.exceeded else str(quota.limit - 1)), _FALLS),
    fault("remaining-constant-on-reads", "X-RateLimit-Remaining does not change with reads.",
          _remaining(lambda quota: str(quota.limit - 1), reads), _FALLS),
    fault("remaining-used", "X-RateLimit-Remaining counts the requests used instead of those left.",
          _remaining(lambda quota: "0" if quota.exceeded else _used(quota)), _FALLS),
    fault("remaining-counts-up",
          "X-RateLimit-Remaining counts the requests used in a window of a day instead of those left.",
          _remaining(_used) | _reset_after(_DAY), _FALLS),
    fault("remaining-always-five", "X-RateLimit-Remaining is always 5, with a window of a day.",
          _remaining("5") | _reset_after(_DAY),
          _FALLS),
    fault("remaining-of-writes-only", "X-RateLimit-Remaining does not count reads.",
          _not_counted(reads), _FALLS),
    fault("remaining-of-reads-only", "X-RateLimit-Remaining does not count writes.",
          _not_counted(writes), _FALLS),
    fault("remaining-without-edits", "X-RateLimit-Remaining does not count PATCH requests.",
          _not_counted(lambda at: at.method == "PATCH"), _FALLS),
    fault("remaining-without-lists", "X-RateLimit-Remaining does not count list requests.",
          _not_counted(lambda at: at.operation.startswith("list")), _FALLS),
)  # fmt: skip

RESET = (
    fault("reset-milliseconds", "X-RateLimit-Reset is in milliseconds.", _reset_in(1000), _TIME),
    fault("reset-milliseconds-on-writes", "X-RateLimit-Reset after a write is in milliseconds.",
          _reset_in(1000, writes), _TIME),
    fault("reset-microseconds", "X-RateLimit-Reset is in microseconds.", _reset_in(1_000_000), _TIME),
    fault("reset-delay", "X-RateLimit-Reset is a delay.", _reset("60"), _TIME),
    fault("reset-delay-on-errors", "X-RateLimit-Reset of an error is a delay.", _reset("60", is_error), _TIME),
    fault("reset-delay-on-429", "X-RateLimit-Reset of a 429 is a delay.", _reset("3", has_status(429)), _TIME),
    fault("reset-iso", "X-RateLimit-Reset is an ISO 8601 time.", _reset("2027-01-01T00:00:00.000Z"), _TIME),
    fault("reset-iso-on-lists", "X-RateLimit-Reset of a list is an ISO 8601 time.",
          _reset(lambda quota: timestamp(int(quota.reset * 1000)), responds("listEngagements")), _TIME),
    fault("reset-http-date", "X-RateLimit-Reset is an HTTP date.", _reset("Fri, 01 Jan 2027 00:00:00 GMT"), _TIME),
    fault("reset-zero-on-errors", "X-RateLimit-Reset of an error is 0.", _reset("0", is_error), _TIME),
    fault("reset-negative", "X-RateLimit-Reset is negative.", _reset("-1", writes), _TIME),
    fault("reset-ten-minutes-ago", "X-RateLimit-Reset is ten minutes in the past.", _reset_after(-660), _TIME),
    fault("reset-last-hour", "X-RateLimit-Reset is an hour in the past.", _reset_after(-60 - _HOUR), _TIME),
    fault("reset-next-year-but-one", "X-RateLimit-Reset is 400 days ahead.", _reset_after(400 * _DAY), _TIME),
    fault("reset-far-ahead", "X-RateLimit-Reset is 50 years ahead.", _reset_after(50 * 366 * _DAY), _TIME),
)  # fmt: skip


_STATUS, _NOTHING, _ZERO = "throttled-answers-429", "throttled-changes-nothing", "throttled-remaining-zero"
_RESUMES, _ALONE, _PER_KEY = "throttled-resumes-at-reset", "throttled-key-alone", "rate-limit-per-key"
_TOO_MANY = 429
_LOW = 100
"""The highest limit that a key has of its own."""


def _serve_beyond_limit(when: Condition = always) -> Mutation:
    """Serve requests beyond the limit."""

    def around(at: Situation, honest: Method) -> None:
        try:
            honest()
        except Refusal as refusal:
            if refusal.status != _TOO_MANY or not when(at):
                raise
            at.context.quota = replace(at.context.quota, exceeded=False)

    return at_step("admit", around)


def _window(take: Callable[[FixedWindow, float], Quota]) -> Mutation:
    """Count the requests of keys with a limit of their own in another way."""

    def around(_: Service, honest: Method, limit: int | None, seconds: int | None) -> object:
        if not (limit and seconds):
            return honest(limit, seconds)
        window = FixedWindow(limit, seconds)
        return SimpleNamespace(take=partial(take, window), give_back=window.give_back)

    return wrap("new_allowance", around)


def _permit_twice_as_many(window: FixedWindow, now: float) -> Quota:
    if now >= window.end:
        return window.take(now)
    window.count += 1
    exceeded = window.count > 2 * window.limit + 1
    return Quota(window.limit, max(window.limit - window.count, 0), window.end, exceeded)


class _Grudging(FixedWindow):
    """A window that serves a single request if the limit of the window before was exceeded."""

    was_exceeded = is_exceeded = False

    def take(self, now: float) -> Quota:
        """Count a request."""
        if now >= self.end:
            self.was_exceeded, self.is_exceeded = self.is_exceeded, False
        shown = super().take(now)
        self.is_exceeded = self.is_exceeded or shown.exceeded
        return replace(shown, remaining=0, exceeded=True) if self.was_exceeded and self.count > 1 else shown


def _act(at: Situation) -> None:
    at.service.act(at.context)


def _refuse_all(group_of: Callable[[Key | None], str | None]) -> Mutation:
    """While a key is beyond its limit, refuse all requests of its group; None stands for no group."""

    def around(service: Service, honest: Method, context: RequestContext, key: Key | None) -> None:
        honest(context, key)
        ends, group = service.memory.setdefault("ends", {}), group_of(key)
        if group is not None and context.quota.exceeded:
            ends[group] = context.quota.reset
        elif ends.get(group, 0) > service.seconds():
            context.quota = replace(context.quota, remaining=0, reset=ends[group], exceeded=True)

    return wrap("count_request", around)


def _one_limit(client_of: Callable[[RequestContext], str]) -> Mutation:
    """Count requests against the limit of a client, whatever its keys."""
    return override(allowance=lambda service, context, _: service.memory.setdefault(
        client_of(context), service.new_allowance(None, None)))  # fmt: skip


def _share_limit(_: Service, honest: Method, context: RequestContext, key: Key | None) -> object:
    shares = key is not None and len(key.scopes) == len(SCOPES) and key.limit is None
    return honest(context, replace(key, digest=key.organization_id) if key is not None and shares else key)


def _count_items(_: Service, honest: Method, context: RequestContext, key: Key | None) -> None:
    size = context.request.query_params.get("perPage", "")
    items = min(int(size), MAX_PER_PAGE) if size.isdecimal() else 0
    for _count in range(max(1, items // 20)):
        honest(context, key)


def _count_all_keys(service: Service, honest: Method, context: RequestContext, key: Key | None) -> None:
    """Take off what all keys sent within the last minute."""
    honest(context, key)
    window, own = service.memory.setdefault("window", FixedWindow(2**62, 60)), context.quota
    sent = window.limit - window.take(service.seconds()).remaining
    context.quota = replace(own, remaining=max(own.limit - sent, 0), exceeded=sent > own.limit)


WHOSE = (
    fault("limit-of-all-keys", "All keys share one limit.", _one_limit(lambda _: "everybody"), _PER_KEY),
    fault("limit-of-full-keys", "The keys of an organization that have all permissions share one limit.",
          wrap("allowance", _share_limit), _PER_KEY),
    fault("limit-by-address", "The limit is per client address, not per key.",
          _one_limit(lambda context: context.request.client.host if context.request.client else ""), _PER_KEY),
    fault("limit-counts-others", "Each key has its own limit, but the requests of all keys count against it.",
          wrap("count_request", _count_all_keys), _PER_KEY),
    fault("throttles-everybody", "While one key has exceeded its limit, all keys of its organization are refused.",
          _refuse_all(lambda key: key.organization_id if key else None), _ALONE),
    fault("throttles-other-organizations",
          "While one key has exceeded its limit, all keys are refused.",
          _refuse_all(lambda _: "everybody"), _ALONE),
)  # fmt: skip

BEYOND = flat(
    fault("never-429", "The limit is stated but never enforced.", _serve_beyond_limit(), _STATUS),
    fault("throttled-reads-only", "Writes beyond the limit are served.",
          _serve_beyond_limit(writes), _STATUS, _NOTHING),
    fault("throttled-writes-only", "Reads beyond the limit are served.", _serve_beyond_limit(reads), _STATUS),
    fault("throttled-at-twice-the-limit", "Twice as many requests are served as the limit permits.",
          _window(_permit_twice_as_many), _STATUS),
    fault("limit-counts-items",
          "A request with perPage counts once for every 20 items, and gets 429 if fewer requests are left.",
          wrap("count_request", _count_items), _STATUS),
    fault("throttled-one-early", "One request fewer is served than the limit permits.",
          _window(lambda window, now: replace(quota := window.take(now), exceeded=quota.remaining == 0)), _STATUS),
    fault("throttled-again-after-one", "After a reset only one request is served, if the limit was exceeded before.",
          wrap("new_allowance", lambda _, honest, limit, seconds:
               _Grudging(limit, seconds) if limit and seconds else honest(limit, seconds)), _STATUS),
    *(fault(f"throttled-{status}", f"A request beyond the limit gives {status}.",
            refuse_with(status, "admit", statuses=(_TOO_MANY,)), *breaks, _STATUS) for status, breaks in (
        (403, ()), (400, ()), (500, ("no-server-error",)))),
    fault("throttled-remaining-one", "A 429 has 1 as X-RateLimit-Remaining.",
          header("X-RateLimit-Remaining", lambda _: "1", has_status(_TOO_MANY)), _ZERO),
    fault("throttled-remaining-full", "A 429 has the full limit as X-RateLimit-Remaining.",
          header("X-RateLimit-Remaining", lambda at: str(at.context.quota.limit), has_status(_TOO_MANY)), _ZERO),
    fault("throttled-write-remaining", "A 429 for a write has 1 as X-RateLimit-Remaining.",
          header("X-RateLimit-Remaining", lambda _: "1", lambda at: at.status == _TOO_MANY and writes(at)), _ZERO),
    fault("throttled-applied", "A request beyond the limit is refused with 429 but carried out.",
          refused_early(_TOO_MANY, "*", _act), _NOTHING),
    fault("throttled-creates", "A creation beyond the limit is refused with 429 but carried out.",
          refused_early(_TOO_MANY, "createEngagement", _act), _NOTHING),
    *(fault(f"throttled-applied-{label}", f"{operation} beyond the limit is refused with 429 but carried out.",
            refused_early(_TOO_MANY, operation, _act), _NOTHING) for label, operation in (
        ("edit", "updateEngagement"), ("archive", "archiveEngagement"), ("deletion", "deleteEngagement"))),
    fault("throttled-applied-name", "An edit beyond the limit is refused with 429 but stores the name.",
          refused_early(_TOO_MANY, "updateEngagement", lambda at: at.edit(name=at.field("name")),
                        lambda at: at.stored is not None and isinstance(at.field("name"), str)), _NOTHING),
)  # fmt: skip

END = (
    fault("throttled-for-good", "A key that exceeds its limit is never served again, whatever X-RateLimit-Reset says.",
          _window(lambda window, now: Quota(window.limit, 0, now + 1, exceeded=True)
                  if window.count >= window.limit and now >= window.end else window.take(now)), _RESUMES),
    fault("throttled-longer-than-told", "A window lasts 8 seconds longer than X-RateLimit-Reset says.",
          wrap("new_allowance", lambda _, honest, limit, window: honest(limit, window + 8 if window else None))
          | header("X-RateLimit-Reset", lambda at: str(int(at.context.quota.reset) - 8),
                              lambda at: at.context.quota.limit <= _LOW), _RESUMES),
)  # fmt: skip
