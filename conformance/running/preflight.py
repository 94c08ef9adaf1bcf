"""Read-only probe of a target with each of its keys."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.json_text import text_or_none
from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome
from conformance.targets.census import organization_census
from conformance.wire import requests
from conformance.wire.exchange import NoResponse
from conformance.wire.requests import MAIN_KEY, OTHER_KEY, Credential

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.targets.profile import Profile
    from conformance.targets.secret import Secret
    from conformance.wire.client import Wire
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

READS: Final = ("organization", "engagement", "engagements")
"""Reads that each key is tried on: get the organization, get an engagement, list engagements."""

_MEMBERS: Final = 100
_LABELS: Final[Mapping[int, str]] = {HTTPStatus.OK: "yes", HTTPStatus.FORBIDDEN: "no"}
_RIGHTS: Final = {"organizations:read": "organization", "engagements:read": "engagement"}
"""The resource that a single-permission key must be able to read."""
_FORBIDDEN: Final = {"organizations": "engagement", "engagements": "organization"}
"""The resource that a single-permission key must not be able to read, by the first part of its permission."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A key and its reads.

    Attributes:
        name: Its name in the target file.
        exchanges: The exchanges of ``READS``; None if there was nothing to read.
    """

    name: str
    exchanges: Mapping[str, Exchange | None]

    @property
    def organization(self) -> str | None:
        """The id of the organization that the service returns to the key."""
        exchange = self.exchanges["organization"]
        return None if exchange is None else text_or_none(organization_census(exchange.received).get("id"))

    @property
    def is_refused(self) -> bool:
        """Whether the service refuses the key with 401."""
        return self.status("organization") == HTTPStatus.UNAUTHORIZED

    def status(self, what: str) -> int | None:
        """Return the status of a read; None without a response."""
        exchange = self.exchanges[what]
        return None if exchange is None or exchange.received is None else exchange.received.status

    def access(self, what: str) -> str:
        """Return "yes" if the key can read a resource, "no" for 403, or the status."""
        if self.exchanges[what] is None:
            return "-"
        status = self.status(what)
        return "no response" if status is None else _LABELS.get(status, str(status))


def try_keys(profile: Profile, wire: Wire, first: Exchange) -> list[Tried]:
    """Read the target with every key of the target file, the main key first.

    Args:
        profile: The target.
        wire: The wire to the target.
        first: The exchange that read the organization with the main key.

    Raises:
        RunStopped: The target was lost.
    """
    listed = wire.send(requests.list_engagements(perPage=1))
    engagement = read.first_identifier(listed) if listed.accepted else None
    read_engagement = None if engagement is None else requests.get_engagement(engagement)
    exchange = None if read_engagement is None else wire.send(read_engagement)
    main = Tried(MAIN_KEY, {"organization": first, "engagement": exchange, "engagements": listed})
    return [main, *(_tried(wire, name, key, read_engagement) for name, key in _other_keys(profile))]


def _tried(wire: Wire, name: str, key: Secret, read_engagement: Request | None) -> Tried:
    batch = {"organization": requests.get_organization(), "engagements": requests.list_engagements(perPage=1)}
    if read_engagement is not None and name != OTHER_KEY:
        batch["engagement"] = read_engagement
    credential = Credential.bearer(name, key.reveal())
    exchanges = wire.send_all([request.with_key(credential) for request in batch.values()])
    return Tried(name, dict.fromkeys(READS) | dict(zip(batch, exchanges, strict=True)))


def _other_keys(profile: Profile) -> list[tuple[str, Secret]]:
    members = [(f"member {member.user_id}", member.key) for member in profile.members if member.key is not None]
    return [*profile.keys.items(), *members]


def problems(profile: Profile, wire: Wire, keys: list[Tried]) -> Iterator[str]:
    """Yield each problem of the target file that reading reveals, as a sentence."""
    main, *others = keys
    if refusal := profile.organization_refusal(main.organization):
        yield f"organization: {refusal}"
    for what in READS:
        if main.status(what) == HTTPStatus.FORBIDDEN:
            yield f"api_key: the main key cannot read the {what}; give it all five permissions."
    for key in others:
        yield from _of_key(key, main)
    yield from _of_members(profile, wire)
    yield from _of_provisioner(profile)


def _of_key(key: Tried, main: Tried) -> Iterator[str]:
    if key.is_refused:
        yield f"{key.name}: the service refuses this key with 401."
        return
    right = _RIGHTS.get(key.name)
    if right is not None and key.status(right) not in {None, HTTPStatus.OK}:
        yield f"{key.name}: the key cannot read the {right} ({key.access(right)}); give it this permission."
    wrong = _FORBIDDEN.get(key.name.partition(":")[0])
    if wrong is not None and key.status(wrong) == HTTPStatus.OK:
        yield f"{key.name}: the key can also read the {wrong}; it has other permissions, or the service is wrong."
    if key.organization is None or main.organization is None:
        return
    if key.name == OTHER_KEY and key.organization == main.organization:
        yield "other_organization: the key belongs to the same organization as api_key."
    if key.name != OTHER_KEY and key.organization != main.organization:
        yield f"{key.name}: the key belongs to another organization than api_key."


def _of_members(profile: Profile, wire: Wire) -> Iterator[str]:
    """Yield the members that a complete list lacks, and those that are owners."""
    if not profile.members:
        return
    listed = wire.send(requests.list_members(perPage=_MEMBERS))
    try:
        roles = {str(member.get("id")): member.get("role") for member in read.items(listed)}
        whole = read.number(listed, "total") == len(roles)
    except (CheckOutcome, NoResponse):
        return
    for member in profile.members:
        if member.user_id not in roles and whole:
            yield f"members: the organization has no member {member.user_id}."
        if roles.get(member.user_id) == "owner":
            yield f"members: {member.user_id} is an owner; a run changes and removes no owner."


def _of_provisioner(profile: Profile) -> Iterator[str]:
    """Yield a problem if the program does not exist; it is not started, since it might write."""
    if profile.provisioner is None:
        return
    program = profile.provisioner.command[0]
    beside = profile.folder is not None and (profile.folder / program).is_file()
    if shutil.which(program) is None and not beside:
        yield "provisioner: the program does not exist."
