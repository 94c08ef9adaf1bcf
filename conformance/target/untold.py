"""Sees whether a service tells the ids of what it creates, without which nothing could be deleted."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from conformance.target.asking import data_of, identifier_of, member_of

if TYPE_CHECKING:
    from conformance.target.names import RunNames
    from conformance.wire.call import Call
    from conformance.wire.exchange import Answer, Exchange

MOST_UNTOLD: Final = 4
"""Engagements whose id may stay unknown before it is known of any."""


class UntoldIds:
    """An observer of the wire that knows when no further engagement should be created.

    Args:
        names: Tells the run's engagements from those of others.
    """

    def __init__(self, names: RunNames) -> None:
        self._names = names
        self._lock = threading.Lock()
        self._untold = 0
        self._told = False

    def before(self, call: Call) -> None:
        """Nothing is known before an answer."""

    def after(self, exchange: Exchange) -> None:
        """See whether an answer tells the id of something that the run made."""
        answer, call = exchange.received, exchange.call
        if answer is None or not call.is_proper or not 200 <= answer.status < 300:  # noqa: PLR2004
            return
        with self._lock:
            if call.operation.id == "createEngagement":
                told = identifier_of(data_of(answer)) is not None
                self._told |= told
                self._untold += not told
            elif call.operation.id == "listEngagements":
                self._told |= self._tells_own(answer)

    def refusal(self) -> str | None:
        """Why nothing more should be created, as a clause; None where that is no trouble."""
        with self._lock:
            if self._told or self._untold < MOST_UNTOLD:
                return None
        return "no answer tells the id of an engagement that was created, so that none could be deleted again"

    def _tells_own(self, answer: Answer) -> bool:
        items = member_of(answer, "data")
        return any(
            isinstance(item, dict) and self._names.owns(item.get("name")) and identifier_of(item) is not None
            for item in (items if isinstance(items, list) else ())
        )
