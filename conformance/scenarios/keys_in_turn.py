"""Keys of the main key's organization that have carried out an operation in the run."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.oracle.permissions import Permission, permission_of
from conformance.wire.exchange import KEY_REFUSED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_LOST: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS})


def send_by_turns(run: Run, batch: Sequence[Request], also: Sequence[Credential] = ()) -> list[Exchange]:
    """Send independent requests of one operation with all keys in turn that have carried it out.

    A request whose key is refused now is sent again with the main key; the exchanges are in the order of the requests.

    Args:
        run: The run.
        batch: The requests.
        also: Further keys, which may have done nothing yet.
    """
    used = _keys_used(run, {request.operation.id for request in batch})
    keys = [None, *used, *(key for key in also if key.name not in {known.name for known in used})]
    return _send(run, [replace(each, credential=keys[place % len(keys)]) for place, each in enumerate(batch)])


def send_with(run: Run, key: Credential | None, request: Request) -> Exchange:
    """Send a request with a key; with the main key if that is refused, or if there is no such key."""
    return _send(run, [replace(request, credential=key)])[0]


def _send(run: Run, batch: Sequence[Request]) -> list[Exchange]:
    """Send independent requests, those again with the main key whose own key is refused."""
    exchanges = run.send_all(batch)
    refused = [
        place
        for place, exchange in enumerate(exchanges)
        if exchange.received_status in KEY_REFUSED and not exchange.by_main_key
    ]
    again = run.send_all([replace(batch[place], credential=None) for place in refused])
    for place, exchange in zip(refused, again, strict=True):
        exchanges[place] = exchange
    return exchanges


def _keys_used(run: Run, operations: Collection[str]) -> list[Credential]:
    """Return the keys beside the main one with which such an operation succeeded, sorted by name.

    Keys that were refused with 401 or 429, such as that of a removed member, are left out.
    """
    found: dict[str, Credential] = {}
    lost = set()
    for exchange in run.wire.exchanges:
        key = exchange.request.credential
        if key is None or exchange.by_main_key or permission_of(exchange.request) is Permission.REFUSED:
            continue
        if exchange.request.operation.id in operations and exchange.accepted:
            found[key.name] = key
        elif exchange.received_status in _LOST:
            lost.add(key.name)
    return [found[name] for name in sorted(found.keys() - lost)]
