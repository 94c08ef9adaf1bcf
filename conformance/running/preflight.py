"""Reading a target with each of its keys, to tell what they are worth; nothing is written."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome
from conformance.targets.census import organization_census
from conformance.wire import requests
from conformance.wire.exchange import NoResponse
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.targets.profile import Profile
    from conformance.targets.secret import Secret
    from conformance.wire.client import Wire
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

READS: Final = ("organization", "engagement", "engagements")
"""What a key is tried on: reading the organization, reading one engagement, listing engagements."""

_MEMBERS: Final = 100
_WORDS: Final = {HTTPStatus.OK: "yes", 403: "no"}
_RIGHTS: Final = {"organizations:read": "organization", "engagements:read": "engagement"}
"""What a key of a single permission must be able to read."""
_FORBIDDEN: Final = {"organizations": "engagement", "engagements": "organization"}
"""What a key of a family must not be able to read."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a key turned out to be worth.

    Attributes:
        name: What the target file calls it.
        responses: The answers to ``READS``; None where there was nothing to read.
    """

    name: str
    responses: Mapping[str, Exchange | None]

    @property
    def organization(self) -> str | None:
        """The id of the organization that it says it belongs to."""
        response = self.responses["organization"]
        found = None if response is None else organization_census(response).get("id")
        return found if isinstance(found, str) else None

    @property
    def is_refused(self) -> bool:
        """Whether the service does not know it."""
        return self.status("organization") == HTTPStatus.UNAUTHORIZED

    def status(self, what: str) -> int | None:
        """The status of an answer; None where there is none."""
        response = self.responses[what]
        return None if response is None or response.received is None else response.received.status

    def worth(self, what: str) -> str:
        """Whether it reads something: yes, no, or the status."""
        response = self.responses[what]
        if response is None:
            return "-"
        return (
            "no answer"
            if response.received is None
            else _WORDS.get(response.received.status, str(response.received.status))
        )


def try_keys(profile: Profile, wire: Wire, first: Exchange) -> list[Tried]:
    """Read the target with every key of the target file, with the main key first.

    Args:
        profile: The target.
        wire: How it is reached.
        first: What it answered the main key about the organization.

    Raises:
        RunStopped: The target was lost.
    """
    listed = wire.send(requests.list_engagements(perPage=1))
    engagement = _first_id(listed)
    one = None if engagement is None else requests.get_engagement(engagement)
    alone = None if one is None else wire.send(one)
    main = Tried("api_key", {"organization": first, "engagement": alone, "engagements": listed})
    return [main, *(_tried(wire, name, key, one) for name, key in _further(profile))]


def _tried(wire: Wire, name: str, key: Secret, one: Request | None) -> Tried:
    batch = {"organization": requests.get_organization(), "engagements": requests.list_engagements(perPage=1)}
    if one is not None and name != "other_organization":
        batch["engagement"] = one
    credential = Credential.bearer(name, key.reveal())
    responses = wire.send_all([asked.with_key(credential) for asked in batch.values()])
    return Tried(name, dict.fromkeys(READS) | dict(zip(batch, responses, strict=True)))


def _further(profile: Profile) -> list[tuple[str, Secret]]:
    members = [(f"member {member.user_id}", member.key) for member in profile.members if member.key is not None]
    return [*profile.keys.items(), *members]


def _first_id(listed: Exchange) -> str | None:
    try:
        found = next(iter(read.items(listed)), {}).get("id")
    except (CheckOutcome, NoResponse):
        return None
    return found if isinstance(found, str) else None


def problems(profile: Profile, wire: Wire, keys: list[Tried]) -> Iterator[str]:
    """What is wrong with what the target file says, as far as reading shows it, a sentence each."""
    main, *others = keys
    if refusal := profile.organization_refusal(main.organization):
        yield f"organization: {refusal}"
    for what in READS:
        if main.status(what) == 403:  # noqa: PLR2004
            yield f"api_key: must have all five permissions, and may not read the {what}."
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
        yield f"{key.name}: may not read the {right}, which this permission is for ({key.worth(right)})."
    wrong = _FORBIDDEN.get(key.name.partition(":")[0])
    if wrong is not None and key.status(wrong) == HTTPStatus.OK:
        yield f"{key.name}: also reads the {wrong}; it has more than the one permission, or the service is wrong."
    if key.organization is None or main.organization is None:
        return
    if key.name == "other_organization" and key.organization == main.organization:
        yield "other_organization: belongs to the same organization as api_key."
    if key.name != "other_organization" and key.organization != main.organization:
        yield f"{key.name}: belongs to another organization than api_key."


def _of_members(profile: Profile, wire: Wire) -> Iterator[str]:
    """Members that the list does not have, where it can be read as a whole, and owners."""
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
            yield f"members: {member.user_id} is an owner, who is neither changed nor removed."


def _of_provisioner(profile: Profile) -> Iterator[str]:
    """A program that is not there; it is not started, since it might write."""
    if profile.provisioner is None:
        return
    program = profile.provisioner.command[0]
    beside = profile.folder is not None and (profile.folder / program).is_file()
    if shutil.which(program) is None and not beside:
        yield "provisioner: there is no program of that name."
