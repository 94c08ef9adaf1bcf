"""Keys of the main key's organization that have carried out an operation in the run."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from conformance.oracle.permissions import Permission, permission_of

if TYPE_CHECKING:
    from conformance.running.run import Run
    from conformance.wire.requests import Credential


def keys_used(run: Run, operation: str) -> list[Credential]:
    """Return the keys beside the main one with which an operation succeeded, sorted by name.

    Keys that were refused with 401 or 429, such as that of a removed member, are left out.
    """
    found: dict[str, Credential] = {}
    lost = set()
    for exchange in run.wire.exchanges:
        key = exchange.request.credential
        if key is None or exchange.by_main_key or permission_of(exchange.request) is Permission.REFUSED:
            continue
        if exchange.request.operation.id == operation and exchange.accepted:
            found[key.name] = key
        elif exchange.received is not None and exchange.received.status in _LOST:
            lost.add(key.name)
    return [found[name] for name in sorted(found.keys() - lost)]


_LOST = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS})
