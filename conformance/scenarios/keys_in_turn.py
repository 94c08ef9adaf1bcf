"""Requests with several keys in turn, and with keys that the service may not know yet."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.interface.operations import SCOPES
from conformance.oracle.permissions import KEYS, Rule, rule_of
from conformance.targets.capabilities import MissingMeans
from conformance.wire.exchange import KEY_REFUSED
from conformance.wire.requests import OTHER_KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_Exchange = TypeVar("_Exchange", "Exchange", "Exchange | None")

_PAUSES: Final = (0.3, 0.7, 1.5)
"""Seconds before a request with a new key is sent again."""
_LOST: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS})


class RetryNewKeys:
    """Sends requests with keys that the service may not know yet.

    A request that gets 401 on the first use of its key is sent again after pauses, since a 401 has no effect. After the
    first other status every response counts.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._used: set[str] = set()

    def send(self, asked: Request) -> Exchange:
        """Send a request."""
        return self.send_all([asked])[0]

    def send_all(self, batch: Sequence[Request]) -> list[Exchange]:
        """Send independent requests; the responses are in the order of the requests."""
        return self._retrying(batch, self._run.send_all(batch))

    def send_permitted(self, batch: Sequence[Request]) -> list[Exchange | None]:
        """Send independent requests like ``send_all``, with None for those that a guard withholds."""
        return self._retrying(batch, self._run.send_permitted(batch))

    def _retrying(self, batch: Sequence[Request], exchanges: list[_Exchange]) -> list[_Exchange]:
        for pause in _PAUSES:
            again = [place for place, sent in enumerate(exchanges) if sent is not None and self._is_too_early(sent)]
            if not again:
                break
            self._run.sleep(pause)
            responses = self._run.send_all([batch[place] for place in again])
            for place, response in zip(again, responses, strict=True):
                exchanges[place] = response
        self._used |= {request.credential.name for request in batch if request.credential is not None}
        return exchanges

    def _is_too_early(self, exchange: Exchange) -> bool:
        key = exchange.request.credential
        is_new = key is not None and key.name not in self._used
        return is_new and exchange.received_status == HTTPStatus.UNAUTHORIZED


def key_made_for_run(run: Run) -> Credential | None:
    """Return the key of another organization that was made for the run; None if there is none."""
    if OTHER_KEY in run.profile.keys:
        return None
    with suppress(MissingMeans):
        return run.fixtures.other_organization()
    return None


def send_by_turns(run: Run, batch: Sequence[Request], also: Iterable[Credential | None] = ()) -> list[Exchange]:
    """Send independent requests of one operation with all keys in turn that have carried it out.

    A request whose key is refused now is sent again with the main key; the exchanges are in the order of the requests.

    Args:
        run: The run.
        batch: The requests.
        also: Further keys, which may have done nothing yet; None for one that the target does not have.
    """
    used = _keys_used(run, {request.operation.id for request in batch})
    keys = [None, *{key.name: key for key in (*used, *also) if key is not None}.values()]
    exchanges = run.send_all(
        [replace(request, credential=keys[place % len(keys)]) for place, request in enumerate(batch)]
    )
    refused = [place for place, exchange in enumerate(exchanges) if exchange.received_status in KEY_REFUSED]
    for place, again in zip(refused, run.send_all([batch[place] for place in refused]), strict=True):
        exchanges[place] = again
    return exchanges


def send_with(run: Run, key: Credential | None, request: Request) -> Exchange:
    """Send a request with a key, which may be new; with the main key if that is refused, or if there is no such key."""
    exchange = None if key is None else RetryNewKeys(run).send(request.with_key(key))
    return run.send(request) if exchange is None or exchange.received_status in KEY_REFUSED else exchange


def key_named(run: Run, name: str) -> Credential:
    """Return one of the keys with few permissions, by its name in ``KEYS``.

    Raises:
        MissingMeans: The target has no such key.
    """
    return run.fixtures.scoped_key(name) if name in SCOPES else run.fixtures.key_with(name, KEYS[name])


def scoped_key_or_none(run: Run, scope: str) -> Credential | None:
    """Return a key with one permission; None if the target has no such key."""
    with suppress(MissingMeans):
        return run.fixtures.scoped_key(scope)
    return None


def with_scoped_key(run: Run, scope: str, *batch: Request) -> list[Request]:
    """Return requests with a key that has one permission; none if the target has no such key."""
    key = scoped_key_or_none(run, scope)
    return [] if key is None else [request.with_key(key) for request in batch]


def _keys_used(run: Run, operations: Collection[str]) -> list[Credential]:
    """Return the keys other than the main key with which one of these operations succeeded, sorted by name.

    Keys that were refused with 401 or 429, such as that of a removed member, are left out.
    """
    found: dict[str, Credential] = {}
    lost = set()
    for exchange in run.wire.exchanges:
        key = exchange.request.credential
        if key is None or exchange.by_main_key or rule_of(exchange.request) is Rule.REFUSED:
            continue
        if exchange.request.operation.id in operations and exchange.accepted:
            found[key.name] = key
        elif exchange.received_status in _LOST:
            lost.add(key.name)
    return [found[name] for name in sorted(found.keys() - lost)]
