"""Faults of updatedAt and createdAt: what edits and archiving make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .conditions import sends, sends_only, undescribed
from .mutations import Mutation, after, after_change, fault, override
from .operations import ARCHIVE, EDIT
from .replies import reply
from .situations import Condition, note, overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.service import Service

_MOVES, _KEEPS = "update-engagement-moves-updated-at", "update-engagement-keeps-the-rest"
_NEVER_BACK, _CREATED, _REFRESHES = (
    "updated-at-never-goes-back", "created-at-never-changes", "archive-refreshes-updated-at"
)  # fmt: skip
_HOUR = 3_600_000


def _edited_at(time: Callable[[Engagement, int], int]) -> Mutation:
    """Store another updatedAt after an edit; ``time`` gets the engagement as it was found, and the present time."""
    return after(EDIT, lambda at: at.overwrite(updated_at=time(at.engagement, at.now)))


def _keep_time(when: Condition) -> Mutation:
    """Keep the old updatedAt after some edits, and store the present time after the others."""
    return after(EDIT, lambda at: at.overwrite(updated_at=at.engagement.updated_at if when(at) else at.now))


_SHOWN = reply(EDIT, lambda at: at.shown("edited"))


def _archive_without_time(*, edited: bool) -> Mutation:
    """Archive engagements that were edited before, or those that were not, without moving updatedAt."""

    def keep(service: Service, engagement: Engagement, _: str) -> None:
        if (engagement.id in service.memory.get("edited", ())) is edited:
            overwrite(service, "engagements", engagement.id, updated_at=engagement.updated_at)

    return after(EDIT, note("edited")) | after_change(keep)


EDITED = (
    fault("edit-keeps-updated-at", "An edit does not move updatedAt.",
          _edited_at(lambda old, _: old.updated_at) | _SHOWN, _MOVES),
    fault("edit-moves-updated-at-back", "An edit moves updatedAt back by an hour.",
          _edited_at(lambda old, _: old.updated_at - _HOUR) | _SHOWN, _NEVER_BACK, _MOVES),
    fault("edit-resets-updated-at", "An edit sets updatedAt to createdAt.",
          _edited_at(lambda old, _: old.created_at) | _SHOWN, _MOVES, _NEVER_BACK),
    fault("edit-moves-updated-at-by-a-millisecond-back", "An edit moves updatedAt a millisecond back.",
          _edited_at(lambda old, _: old.updated_at - 1), _NEVER_BACK, _MOVES),
    fault("edit-sets-updated-at-ahead", "An edit sets updatedAt an hour ahead, which archiving takes back.",
          _edited_at(lambda _, now: now + _HOUR) | override(set_status=lambda service, engagement, status: overwrite(
              service, "engagements", engagement.id, status=status, updated_at=service.now())),
          _NEVER_BACK, _REFRESHES),
    fault("edit-name-keeps-updated-at", "An edit of the name alone does not move updatedAt.",
          _keep_time(sends_only("name")), _MOVES),
    fault("edit-description-keeps-updated-at", "An edit of the description alone does not move updatedAt.",
          after(EDIT, lambda at: at.overwrite(updated_at=at.engagement.updated_at), sends_only("description")) | _SHOWN,
          _MOVES),
    fault("edit-both-keeps-updated-at", "An edit of name and description does not move updatedAt.",
          _keep_time(sends("name", "description")), _MOVES),
    fault("edit-undescribed-keeps-updated-at",
          "An edit of an engagement without a description does not move updatedAt.", _keep_time(undescribed), _MOVES),
    fault("edit-second-keeps-updated-at", "Only the first edit of an engagement moves updatedAt.",
          _keep_time(lambda at: at.engagement.updated_at != at.engagement.created_at), _MOVES, "sort-by-updated-at"),
    fault("clearing-keeps-updated-at", "An edit that takes the description away does not move updatedAt.",
          after(EDIT, lambda at: at.overwrite(updated_at=at.engagement.updated_at),
                lambda at: sends("description")(at) and not at.values["description"]), _MOVES),
    fault("edit-moves-created-at", "An edit moves createdAt.",
          after(EDIT, lambda at: at.overwrite(created_at=at.now)) | _SHOWN, _CREATED, _KEEPS),
    fault("edit-description-moves-created-at", "An edit of the description alone moves createdAt.",
          after(EDIT, lambda at: at.overwrite(created_at=at.now), sends_only("description")), _CREATED, _KEEPS),
)  # fmt: skip

ARCHIVED = (
    fault("archive-in-local-time", "Archiving writes the time of Athens as updatedAt, with a Z.",
          after(ARCHIVE, lambda at: at.overwrite(updated_at=at.now + 2 * _HOUR))
          | reply(ARCHIVE, lambda at: at.shown("archived")), "timestamps-are-utc"),
    fault("archive-moves-created-at", "Archiving moves createdAt.",
          after_change(lambda service, engagement, _: overwrite(
              service, "engagements", engagement.id, created_at=service.now())), _CREATED, "archive-keeps-content"),
    fault("archive-moves-updated-at-back", "Archiving moves updatedAt back by an hour.",
          after_change(lambda service, engagement, _: overwrite(
              service, "engagements", engagement.id, updated_at=engagement.updated_at - _HOUR)),
          _NEVER_BACK, _REFRESHES),
    *(fault(f"archive-{word}-keeps-time", f"Archiving does not move updatedAt of engagements that were {which} before.",
            _archive_without_time(edited=edited), _REFRESHES) for word, which, edited in (
        ("unedited", "never edited", False), ("edited", "edited", True))),
)  # fmt: skip
