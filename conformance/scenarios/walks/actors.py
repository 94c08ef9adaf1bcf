"""Keys that send the steps of walks in turn, beside the main key."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle.permissions import KEYS, MATRIX, Rule
from conformance.scenarios.keys_in_turn import RetryNewKeys, key_named
from conformance.targets.capabilities import MissingMeans
from conformance.wire.exchange import KEY_REFUSED

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_SHARES: Final = {Rule.ALLOWED: 2, Rule.OPEN: 1, Rule.REFUSED: 1}
"""Turns of a key, by the rule for the operation."""
_OF_MAIN_KEY: Final = 6
"""Turns of the main key."""


@dataclass(slots=True)
class Actors:
    """Keys with few permissions, by their names in ``KEYS``; without any, the main key sends everything."""

    run: Run
    keys: dict[str, Credential] = field(default_factory=dict)
    _refused: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, run: Run) -> Actors:
        """Return the actors of a run: all keys that the target has."""
        keys: dict[str, Credential] = {}
        for name in KEYS:
            with suppress(MissingMeans):
                keys[name] = key_named(run, name)
        return cls(run, keys)

    def send(self, request: Request, turn: int) -> Exchange:
        """Send a request with the key whose turn it is, and again with the main key if the key may not do this.

        A key that must be refused is not followed by the main key, which would hide what the refused request has done,
        unless the walk needs the engagement. A key that is refused what the interface leaves open gets no further turn.
        """
        operation = request.operation.id
        turns = [
            name
            for name in self.keys
            if (name, operation) not in self._refused
            for _ in range(_SHARES[MATRIX[name, operation]])
        ]
        place = turn % (len(turns) + _OF_MAIN_KEY)
        if place >= len(turns):
            return self.run.send(request)
        name, rule = turns[place], MATRIX[turns[place], operation]
        exchange = RetryNewKeys(self.run).send(request.with_key(self.keys[name]))
        if exchange.received_status not in KEY_REFUSED:
            return exchange
        if rule is Rule.OPEN:
            self._refused.add((name, operation))
        return exchange if rule is Rule.REFUSED and operation != "createEngagement" else self.run.send(request)
