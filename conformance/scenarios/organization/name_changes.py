"""Renaming of the organization, and updates of its other fields."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.fields import SETTINGS
from conformance.oracle import read
from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.two_organizations import other_organization
from conformance.scenarios.access.unauthenticated import NO_KEY
from conformance.scenarios.basics import QUOTED
from conformance.scenarios.keys_in_turn import key_made_for_run, scoped_key_or_none, send_with, with_scoped_key
from conformance.scenarios.limits.recovery import seconds_until
from conformance.scenarios.renaming import name_before, restored_name
from conformance.scenarios.samples import AT_THE_END, BROKEN, SCRIPTS, SYNTAX, counted, joined, shuffled
from conformance.wire import requests
from conformance.wire.exchange import BESIDE_OTHERS
from conformance.wire.rate_limit_headers import quota

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_ODD_NAMES: Final = (joined(SCRIPTS), joined(SYNTAX))
_SINGLY: Final = {Effort.QUICK: 1, Effort.STANDARD: 2, Effort.DEEP: len(AT_THE_END)}
"""The number of broken names, and one more than that of names with nothing odd but their end."""
_REQUESTS: Final = 32
"""Requests left that are enough for renaming and restoring."""
_LONGEST_WAIT: Final = 60.0
"""Longest wait in seconds for the end of a window."""
_FIXED: Final = ("id", "slug", "plan", "createdAt")


@dataclass(frozen=True, slots=True)
class Rename:
    """A renaming and a read after it."""

    response: Exchange
    after: Exchange


@dataclass(frozen=True, slots=True)
class Renaming:
    """Renamings of the organization, and attempts to change more.

    Attributes:
        plain: The renaming to a plain name that every service should accept.
        odd: The renamings to odd names.
        nameless: The responses to updates with null and with an empty text as the name.
        empty: An update without any field, and a read after it.
        foreign: The updates that sent other fields: all at once and, if that was refused, singly with the name.
        after_foreign: A read after those.
    """

    plain: Rename
    odd: tuple[Rename, ...]
    nameless: tuple[Exchange, ...]
    empty: Rename
    foreign: tuple[Exchange, ...]
    after_foreign: Exchange

    @property
    def last(self) -> Rename:
        """The last renaming."""
        return (self.plain, *self.odd)[-1]


@scenario(alone=True)
def renaming(run: Run) -> Renaming:
    """Rename the organization several times, send fields that cannot be changed, and restore its name."""
    run.scenarios.wait_for(other_organization)  # its name must stay unchanged meanwhile
    before = run.send(requests.get_organization())
    name = name_before(run, before)
    _ensure_room(run, before)
    reads = with_scoped_key(run, "organizations:read", requests.get_organization())
    run.send_all(reads)
    with restored_name(run, name):
        return _renamed(run, reads)


def _ensure_room(run: Run, before: Exchange) -> None:
    """Ensure that the key's window lasts for the scenario, or ends soon, so that the name can be restored."""
    window = quota(before.response)
    if window is None or window.remaining >= _REQUESTS:
        return
    if seconds_until(run, window.reset) > _LONGEST_WAIT:
        left = f"only {window.remaining} requests are left until a reset far ahead"
        raise CantTell(f"{left}, too few to rename the organization and restore it", before)


def _renamed(run: Run, reads: Sequence[Request]) -> Renaming:
    random = run.random("names of the organization")
    ends, broken = shuffled(AT_THE_END, random), shuffled(BROKEN, random)
    for text in broken[: _SINGLY[run.effort]]:  # no reason for a server error
        body = json.dumps({"name": f"{run.name('organization')} {text}"}).encode()
        run.send(requests.update_organization({}).with_body(body))
    address = run.address("meanwhile")  # both organizations invite it, and both must write to it
    plain = _rename_while_inviting(run, address)
    texts = (f"{counted(250)} {ends[0]}", *ends[1 : _SINGLY[run.effort]])
    odd = _oddly_renamed(run, ends[-1])
    _use(run)
    key = scoped_key_or_none(run, "organizations:write")
    odd += tuple(_rename(run, f"{run.name('organization')} {text}", key) for text in texts)
    _rename_elsewhere(run, address)
    run.send_all(reads)
    # Open, but no reason for a server error, not even at once, and a refused name must not be set.
    nameless = run.send_all([requests.update_organization({"name": name}) for name in (None, "")])
    empty = Rename(run.send(requests.update_organization({})), run.send(requests.get_organization()))
    foreign = _claim(run, empty.after, _claims(run, read.data(empty.after)))
    after = run.send(requests.get_organization())
    if differences(empty.after, after):
        _repair(run, empty.after)
    return Renaming(plain, odd, tuple(nameless), empty, foreign, after)


def _rename_while_inviting(run: Run, address: str) -> Rename:
    """Rename to a plain name at the same time as an invitation, alone if that is a conflict, and read."""
    renaming = requests.update_organization({"name": run.name("organization")})
    invitation = requests.invite_member({"email": address, "role": "member"})
    *_, response = run.send_permitted([invitation, renaming])
    if response is None or response.received_status in BESIDE_OTHERS:
        response = run.send(renaming)
    return Rename(response, run.send(requests.get_organization()))


def _use(run: Run) -> None:
    """Use the renamed organization with several keys, for the ledger and the laws of every response."""
    creation = requests.create_engagement({"name": run.name("elsewhere"), "description": "Made under another name"})
    invitation = requests.invite_member({"email": run.address("elsewhere"), "role": "member"})
    update, other = (requests.update_organization({"name": run.name(f"by-{key}")}) for key in ("none", "reader"))
    refused = [request.with_key(NO_KEY) for request in (requests.get_organization(), creation, invitation, update)]
    refused += with_scoped_key(run, "organizations:read", creation, invitation, other)
    run.send_permitted([creation, *(replace(request, repeatable=True) for request in refused)])
    run.send(requests.get_organization())


def _rename_elsewhere(run: Run, address: str) -> None:
    """Rename another organization that was made for the run, use it, invite an address, and restore its name.

    The main key's organization has a name of the run meanwhile, so that a renaming of the wrong one is undone.
    """
    if (key := key_made_for_run(run)) is not None:
        name = read.text(read.data(other := run.scenarios.result(other_organization)), "name", other)
        creation = requests.create_engagement({"name": run.name("theirs")})
        invitation = requests.invite_member({"email": address, "role": "member"})
        with suppress(CantTell), restored_name(run, name, key):
            rename_made_organization(run)
            run.send_all([request.with_key(key) for request in (requests.get_organization(), creation, invitation)])


def rename_made_organization(run: Run) -> Exchange | None:
    """Rename another organization that was made for the run, after a read; return None if there is none.

    A service may refuse the comma and the quotation marks, and then gets a plain name.
    """
    if (key := key_made_for_run(run)) is None:
        return None
    run.scenarios.result(other_organization)
    name = run.name("theirs")
    exchange = run.send(requests.update_organization({"name": f"{name}, {QUOTED}"}).with_key(key))
    if exchange.refused_as_invalid:
        exchange = run.send(requests.update_organization({"name": name}).with_key(key))
    return exchange


def _oddly_renamed(run: Run, end: str) -> tuple[Rename, ...]:
    """Rename to odd names: to all of them in one, and singly if that is refused."""
    together = _rename(run, f"{run.name('organization')} {' '.join((*_ODD_NAMES, end))}")
    if together.response.succeeded:
        return (together,)
    return (together, *(_rename(run, f"{run.name('organization')} {text}") for text in (*_ODD_NAMES, end)))


def _rename(run: Run, name: str, key: Credential | None = None) -> Rename:
    """Rename with a key, or with the main key if there is none or it is refused, and read with the main key."""
    response = send_with(run, key, requests.update_organization({"name": name}))
    return Rename(response, run.send(requests.get_organization()))


def _claims(run: Run, organization: dict[str, Any]) -> dict[str, Any]:
    """Return a new value for every field that cannot be changed: plausible, and of its type."""
    settings = organization.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    return {
        "id": run.name("id"),
        "slug": run.name("slug"),
        "plan": "enterprise" if organization.get("plan") != "enterprise" else "free",
        "memberCount": 7_654_321,
        "engagementCount": 7_654_321,
        "createdAt": "2001-02-03T04:05:06.789Z",
        "settings": {name: settings.get(name) is not True for name in SETTINGS},
    }


def _claim(run: Run, before: Exchange, claimed: dict[str, Any]) -> tuple[Exchange, ...]:
    """Send the values with a new name, and without a name, which is optional; singly if they are refused.

    The settings are also sent alone with the name, as a service might store both in the same table.
    """
    name = {"name": read.text(read.data(before), "name", before)}
    together = run.send(requests.update_organization({"name": run.name("only-this")} | claimed | claimed["settings"]))
    if together.succeeded:
        return (together, run.send(requests.update_organization(claimed)))
    alone = [run.send(requests.update_organization(name | {field: value})) for field, value in claimed.items()]
    return (together, *alone)


def _repair(run: Run, before: Exchange) -> None:
    """Restore fields that a service let be changed, for which the journal has no means."""
    was = read.data(before)
    run.send(requests.update_organization({name: was[name] for name in ("name", *_FIXED, "settings") if name in was}))


def differences(before: Exchange, after: Exchange) -> list[str]:
    """Return the fields whose values differ from before, of any type."""
    was, now = read.data(before), read.data(after)
    return [name for name in (*_FIXED, "settings") if was.get(name) != now.get(name)]
