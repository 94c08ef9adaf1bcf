"""What a run can change, and what is known of each change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What a run can change."""

    CREATE_ENGAGEMENT = "create-engagement"
    RENAME_ORGANIZATION = "rename-organization"
    INVITE = "invite"
    CHANGE_ROLE = "change-role"
    REMOVE_MEMBER = "remove-member"
    MAKE_MEMBER = "make-member"


class State(StrEnum):
    """What is known of a change."""

    INTENDED = "intended"
    """It was about to be sent; whether it was carried out is unknown."""
    DONE = "done"
    """The service says that it was carried out."""
    REFUSED = "refused"
    """The service says that it was not; a faulty one may have done it all the same."""
    SETTLED = "settled"
    """Nothing is left of it."""


@dataclass(slots=True)
class Entry:
    """One change.

    Attributes:
        number: 1 for the first.
        action: What is changed.
        key: The name of the key that it was sent with.
        subject: The name sent, the address invited, or the user's id; None if none was sent.
        before: The organization's name or the member's role before, as far as it was known.
        wanted: The role that was asked for; of a renaming, that is the subject.
        became: What the service showed right after a renaming: it may have trimmed the name.
        state: What is known of it.
        id: The id of what was created, as the service gave it.
        at: When it was about to be sent, in seconds of the epoch; 0 where that is not known.
    """

    number: int
    action: Action
    key: str
    subject: str | None
    before: str | None = None
    wanted: str | None = None
    became: str | None = None
    state: State = State.INTENDED
    id: str | None = None
    at: float = 0.0
