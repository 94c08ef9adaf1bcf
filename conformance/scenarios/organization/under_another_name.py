"""Requests about the organization while it has another name, with keys that must be refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.oracle.permissions import Permission, permission_of
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.access.unauthenticated import NO_KEY
from conformance.scenarios.members.removal import removal
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential


@scenario(alone=True)
def refused_under_another_name(run: Run) -> tuple[Exchange, ...]:
    """Send what keys must be refused, from standard effort on; return the exchanges of the removed member's key."""
    if run.effort is Effort.QUICK:
        return ()
    name = run.name("refused")
    batch = (
        requests.get_organization(),
        requests.update_organization({"name": name}),
        requests.list_members(),
        requests.invite_member({"email": run.address("refused"), "role": "member"}),
        requests.list_engagements(),
        requests.create_engagement({"name": name}),
    )
    done = run.scenarios.result_if_any(removal)
    removed = done.member.credential if done is not None and done.attempts else None
    asked = [replace(request, credential=key, repeatable=True) for key in _keys(run) for request in batch]
    asked = [request for request in asked if permission_of(request) is Permission.REFUSED]
    asked += [replace(request, credential=removed, repeatable=True) for request in batch if removed is not None]
    sent = [exchange for exchange in run.send_permitted(asked) if exchange is not None]
    return tuple(exchange for exchange in sent if exchange.request.credential is removed)


def _keys(run: Run) -> Iterator[Credential]:
    """Yield no key, and the keys with few permissions that the run has used."""
    yield NO_KEY
    tried = run.scenarios.result_if_any(single_permissions)
    if tried is None:
        return
    keys = {scope: exchanges[0].request.credential for (scope, _), exchanges in tried.cells.items()}
    yield from (key for scope, key in keys.items() if key is not None and not tried.is_unknown(scope))
