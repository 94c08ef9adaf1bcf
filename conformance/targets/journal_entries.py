"""Entries of the journal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Action(StrEnum):
    """Action of a run that changes data."""

    CREATE_ENGAGEMENT = "create-engagement"
    RENAME_ORGANIZATION = "rename-organization"
    UPDATE_WITHOUT_FIELDS = "update-without-fields"
    """It should change nothing; a faulty service may remove the name of the organization."""
    CHANGE_FIELDS = "change-fields"
    """A faulty service may store fields of the organization that only the service sets."""
    INVITE = "invite"
    CHANGE_ROLE = "change-role"
    REMOVE_MEMBER = "remove-member"
    MAKE_MEMBER = "make-member"


class ChangeState(StrEnum):
    """State of a change."""

    INTENDED = "intended"
    """It may have been sent; whether it was carried out is unknown."""
    DONE = "done"
    """The service reported that it was carried out."""
    REFUSED = "refused"
    """The service refused it; a faulty service may have carried it out."""
    SETTLED = "settled"
    """Nothing is left of it."""


class Person(NamedTuple):
    """Join time and address, in lower case, empty if unknown: a later member with the same id has other ones."""

    joined_at: str
    email: str


@dataclass(slots=True)
class Entry:
    """A change.

    Attributes:
        number: 1 for the first.
        action: The action.
        key: The name of the key of the request.
        subject: The name sent, the invited address, or the user's id; None if none was sent.
        before: The earlier name or fields of the organization, or role of the member, if known.
        wanted: The requested role or fields; the requested name of a renaming is the subject.
        became: The name right after a renaming, which the service may have trimmed.
        person: The person whom a list first shows under the id of a created member.
        state: The state of the change.
        id: The id of the created object, as the service returned it.
        at: The time before the request, in seconds of the epoch; 0 if unknown.
    """

    number: int
    action: Action
    key: str
    subject: str | None
    before: str | None = None
    wanted: str | None = None
    became: str | None = None
    person: Person | None = None
    state: ChangeState = ChangeState.INTENDED
    id: str | None = None
    at: float = 0.0
