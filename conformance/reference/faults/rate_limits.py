"""Faults of rate limits: whose requests count, the requests beyond a limit, and the end of the window."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

from conformance.operations import SCOPES
from conformance.reference.limiting import FixedWindow, Quota
from conformance.reference.refusal import Refusal

from .conditions import always, has_status, reads, writes
from .mutations import Method, Mutation, at_step, fault, flat, override, refuse_with, refused_early, wrap
from .replies import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Key
    from conformance.reference.request_context import RequestContext
    from conformance.reference.service import Service

    from .situations import Condition, Situation

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
