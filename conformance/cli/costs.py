"""Estimated cost of a run: requests, seconds, and waits for the rate limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.catalogue import load_catalogue
from conformance.oracle.laws import rate_limits
from conformance.targets import capabilities
from conformance.targets.profile import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.targets.profile import Profile
    from conformance.wire.exchange import Exchange

REQUESTS: Final = {
    "quick": (165, 580, 1280),
    "standard": (290, 1440, 2580),
    "deep": (980, 5420, 6950),
}
"""Approximate requests of each effort: read-only, with the key alone, and with everything unlocked."""

_WORKERS: Final = 6
"""Average number of concurrent requests."""
_OWN: Final = 0.015
"""Seconds that the suite itself spends on a request."""
_START: Final = 3.0


def cost_lines(profile: Profile, seen: Sequence[Exchange]) -> Iterator[str]:
    """Return a heading and a line for each effort.

    Args:
        profile: The target; the number of requests depends on the requirements that it unlocks.
        seen: Exchanges with the target, for its latency and rate limit.
    """
    latency = sorted(exchange.seconds for exchange in seen)[len(seen) // 2]
    yield "effort     requests   about"
    for effort, measured in REQUESTS.items():
        requests = _requests(profile, *measured)
        seconds = requests * max(latency / _WORKERS, _OWN) + _START
        yield f"{effort:<10} {requests:>8}   {_duration(seconds)}{_waiting(requests, seen)}"


def _requests(profile: Profile, reading: int, alone: int, everything: int) -> int:
    """Return the estimated number of requests, by the share of unlocked requirements beyond the core class."""
    if profile.mode is Mode.READ_ONLY:
        return reading
    beyond = [entry for entry in load_catalogue().requirements.values() if entry.conformance_class != "core"]
    unlocked = sum(capabilities.are_met(profile, entry.needs) for entry in beyond)
    return alone + (everything - alone) * unlocked // len(beyond)


def _waiting(requests: int, seen: Sequence[Exchange]) -> str:
    """Return how long the run would wait for new windows of the rate limit; an empty text if it would not wait."""
    limit, remaining = rate_limits.limit(seen[-1]), rate_limits.remaining(seen[-1])
    ahead = max((far for exchange in seen if (far := rate_limits.ahead(exchange)) is not None), default=0.0)
    if limit is None or remaining is None or requests <= remaining:
        return ""
    windows = -(-(requests - remaining) // limit)
    return f", and at least {_duration(max(windows * ahead, 1))} of waiting for the rate limit"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"  # noqa: PLR2004
