"""Section 8: beyond a key's limit requests get 429 without effect, others are served, and service resumes at reset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect
from conformance.oracle.laws import rate_limits
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, NonConformity, Untested
from conformance.scenarios.limits.limit_sharing import expect_limits_apart
from conformance.scenarios.limits.recovery import GRACE
from conformance.scenarios.limits.throttling import Throttling, throttling
from conformance.verdicts.stages import Stage
from conformance.wire.exchange import TOO_MANY_REQUESTS

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

pytestmark = pytest.mark.stage(Stage.AFTER_SCENARIOS)

_EXPECTED: Final = "429 once the limit of a window is reached"


@requirement("throttled-answers-429")
def test_key_beyond_its_limit_gets_429(throttling: Throttling) -> None:
    """A key gets 429 beyond its limit, and not before."""
    exhausted = throttling.exhausted
    if throttling.early:
        message = f"with a limit of {exhausted.limit} a window, fewer requests were served before a 429"
        expected = f"{exhausted.limit} requests are served"
        raise NonConformity(message, exhausted.served[0], *throttling.early, expected=expected, actual="429")
    if exhausted.beyond is not None:
        served = f"{len(exhausted.served)} requests were served"
        message = f"with a limit of {exhausted.limit} a window, {served} without a 429"
        raise NonConformity(message, exhausted.beyond, expected=_EXPECTED, actual=describe_response(exhausted.beyond))
    if throttling.passed:
        message = f"{len(throttling.passed)} requests beyond the limit were served, between refused reads"
        raise NonConformity(
            message, *throttling.passed, expected=_EXPECTED, actual=describe_response(throttling.passed[0])
        )

    expect.status_in(_refusal(throttling), TOO_MANY_REQUESTS)


@requirement("throttled-remaining-zero")
def test_429_says_that_nothing_remains(throttling: Throttling) -> None:
    """A 429 states that no requests remain."""
    _refusal(throttling)
    for refusal in throttling.refusals:
        remaining = rate_limits.remaining(refusal)
        if remaining is None:
            raise CantTell("X-RateLimit-Remaining of a 429 cannot be read", refusal)

        expect.equal("X-RateLimit-Remaining of a 429", remaining, 0, refusal)


@requirement("throttled-resumes-at-reset")
def test_service_resumes_at_reset(throttling: Throttling) -> None:
    """After the time of X-RateLimit-Reset the key is served again."""
    refusal = _refusal(throttling)
    if throttling.after_reset is None:
        raise CantTell(throttling.not_awaited, refusal)

    expect.holds(
        throttling.after_reset.status != TOO_MANY_REQUESTS,
        f"the key is still refused {GRACE:.0f} s after the reset in its 429",
        refusal,
        throttling.after_reset,
        expected="a response other than 429",
        actual=describe_response(throttling.after_reset),
    )


@requirement("throttled-key-alone")
def test_other_keys_are_served(throttling: Throttling) -> None:
    """Other keys are served while a key is beyond its limit."""
    if throttling.other_missing is not None:
        raise Untested(throttling.other_missing)
    if throttling.other is None:
        raise CantTell("no other key could be used while one was refused", _refusal(throttling))

    expect.holds(
        throttling.other.status != TOO_MANY_REQUESTS,
        "a key that had requests left was refused while another was beyond its limit",
        throttling.other,
        expected="a response other than 429",
        actual=describe_response(throttling.other),
    )


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("rate-limit-per-key")
def test_limit_is_of_each_key(run: Run) -> None:
    """Requests of one key take nothing from the limit of another."""
    expect_limits_apart(run)


def _refusal(throttling: Throttling) -> Exchange:
    """Return the first 429."""
    if not throttling.exhausted.refused:
        raise CantTell("the key never got 429", *throttling.exhausted.served[-1:])
    return throttling.exhausted.refused[0]


def _form(retry_after: str | None) -> str:
    if retry_after is None:
        return "absent"
    return "seconds" if retry_after.strip().isdecimal() else "a date or something else"


def _limit(seen: Throttling) -> Described:
    exhausted, first = seen.exhausted, _refusal(seen)
    served = sum(1 for exchange in exhausted.served if exchange.number < first.number)
    return f"{served} served before the first 429, X-RateLimit-Limit {exhausted.limit}", first


def _retry_after(seen: Throttling) -> Described:
    first = _refusal(seen)
    return _form(first.response.header("Retry-After")), first


OBSERVATIONS: Final = (
    observing("limit-honoured", throttling, _limit),
    observing("retry-after", throttling, _retry_after),
)
