"""Latency of the responses of each operation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.wire.exchange import Exchange

_WIDTH: Final = 240
_HEIGHT: Final = 24
_BINS: Final = 40
_TEN_MILLISECONDS: Final = 0.01
_TICKS: Final = (
    (0.001, "1 ms"),
    (0.01, "10 ms"),
    (0.1, "100 ms"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (100.0, "100 s"),
)


@dataclass(frozen=True, slots=True)
class Latency:
    """The times of one operation, in seconds.

    Attributes:
        operation: Its operationId.
        responses: The number of responses.
        median: The median.
        late: The 95th percentile.
        longest: The maximum.
        bars: The distribution, as left edge, width, top and height in a picture of 240 by 24 units.
    """

    operation: str
    responses: int
    median: float
    late: float
    longest: float
    bars: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Latencies:
    """All operations over one axis; the ticks are positions and texts."""

    operations: tuple[Latency, ...]
    ticks: tuple[tuple[float, str], ...]


def latencies(exchanges: Iterable[Exchange]) -> Latencies:
    """Return the times of every operation with a response, in the interface's order, over one logarithmic axis."""
    times: dict[str, list[float]] = {name: [] for name in OPERATIONS}
    for exchange in exchanges:
        if exchange.received is not None:
            times.setdefault(exchange.operation_id, []).append(max(exchange.seconds, 1e-6))
    responded = {name: sorted(values) for name, values in times.items() if values}
    if not responded:
        return Latencies((), ())
    low = math.floor(2 * math.log10(min(values[0] for values in responded.values()))) / 2
    high = max(low + 1, math.ceil(2 * math.log10(max(values[-1] for values in responded.values()))) / 2)
    ticks = [(_across(seconds, low, high), text) for seconds, text in _TICKS if low <= math.log10(seconds) <= high]
    return Latencies(tuple(_latency(name, values, low, high) for name, values in responded.items()), tuple(ticks))


def _across(seconds: float, low: float, high: float) -> float:
    return round(_WIDTH * (math.log10(seconds) - low) / (high - low), 1)


def _latency(name: str, values: Sequence[float], low: float, high: float) -> Latency:
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int(_across(value, low, high) * _BINS / _WIDTH))] += 1
    step, most = _WIDTH / _BINS, max(counts)
    heights = [_HEIGHT * count / most for count in counts]
    bars = [
        (round(place * step, 1), round(step - 1, 1), round(_HEIGHT - height, 1), round(height, 1))
        for place, height in enumerate(heights)
        if height
    ]
    return Latency(name, len(values), quantile(values, 0.5), quantile(values, 0.95), values[-1], tuple(bars))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values: the smallest value that at least the share of them does not exceed."""
    return values[max(0, math.ceil(share * len(values)) - 1)]


def duration(seconds: float) -> str:
    """Return a duration such as ``0.8 ms``, ``12 ms`` and ``1.2 s``."""
    if seconds >= 1:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= _TEN_MILLISECONDS else f"{seconds * 1000:.1f} ms"
