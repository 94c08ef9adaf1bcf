"""Confirmation of an inconsistent list at once, before later requests of the run can hide its fault."""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.oracle.laws.registry import LAWS
from conformance.oracle.lists.listing import contents
from conformance.oracle.outcomes import CheckOutcome, NonConformity
from conformance.wire.exchange import NoResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.oracle.laws.registry import Law
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

_LISTS: Final = [law for law in LAWS.values() if law.confirmed]
_MAX_LISTS: Final = 6
"""Lists that break the same law and are requested again at once."""
_REPETITIONS: Final = 5
"""Repetitions: other users hardly disturb as many responses in the same way."""


class ListConfirmation:
    """Sends a list request again at once if its response breaks a law that other users may disturb.

    A stale total may be right again by the end of a run. A law is broken for certain if five repetitions break it with
    the same items while the run writes nothing; ``Run.broken_at_once`` then has it.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._repeated: Counter[Law] = Counter()

    def __call__(self, exchanges: Sequence[Exchange]) -> None:
        """Confirm the lists among responses."""
        for exchange in exchanges:
            broken = next((law for law in _LISTS if law.concerns(exchange) and _breaks(exchange, law)), None)
            if broken is None or exchange.request.expects_429:
                continue
            # Which list comes first depends on the threads, so a replay follows the recording.
            is_due = self._run.recorded_value("whether a list is requested again", partial(self._is_due, broken))
            if is_due and self._stays_broken(exchange, broken):
                self._run.broken_at_once.add(broken)

    def _is_due(self, law: Law) -> bool:
        with self._lock:
            if law in self._run.broken_at_once or self._repeated[law] == _MAX_LISTS:
                return False
            self._repeated[law] += 1
            return True

    def _stays_broken(self, exchange: Exchange, law: Law) -> bool:
        repeated: list[Exchange] = []
        with self._run.wire.undisturbed():
            for _ in range(_REPETITIONS):
                repeated += self._run.wire.send_all([exchange.request])
                if not _breaks(repeated[-1], law) or contents(repeated[-1:]) != contents(repeated[:1]):
                    return False
        return True


def _breaks(exchange: Exchange, law: Law) -> bool:
    try:
        law.judge(exchange)
    except NonConformity:
        return True
    except (CheckOutcome, NoResponse):
        return False
    return False
