"""Faults of times: their format, their time zone, and what edits and archiving make of them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from .changes import edit
from .conditions import noted, sends, sends_only, undescribed
from .mutations import Method, Mutation, after, after_change, fault, override, result, wrap
from .operations import ARCHIVE, EDIT, UNARCHIVE
from .replies import reply, view
from .situations import Condition, note, overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.service import Service

_FORMAT, _UTC = "timestamp-format", "timestamps-are-utc"
_MOVES, _KEEPS = "update-engagement-moves-updated-at", "update-engagement-keeps-the-rest"
_NEVER_BACK, _CREATED, _REFRESHES = (
    "updated-at-never-goes-back", "created-at-never-changes", "archive-refreshes-updated-at"
)  # fmt: skip
_HOUR = 3_600_000


def _at_wrong_time(wrong: Callable[[datetime], datetime]) -> Mutation:
    """Show another time; ``wrong`` gets the honest one."""

    def around(_: Service, honest: Method, milliseconds: int) -> str:
        shown = wrong(datetime.fromtimestamp(milliseconds / 1000, UTC))
        return str(honest(round(shown.timestamp() * 1000)))

    return wrap("timestamp", around)


def _month_before(at: datetime) -> datetime:
    """Return the same day of the month before, counted from its first day."""
    before = at.replace(day=1) - timedelta(days=1)
    return before.replace(day=1) + timedelta(days=at.day - 1)


def _two_hours_ahead(text: str) -> str:
    there = datetime.fromisoformat(text).astimezone(timezone(timedelta(hours=2)))
    return there.isoformat(timespec="milliseconds")


_FORMS: dict[str, tuple[str, Callable[[str], str]]] = {
    "seconds": ("in whole seconds", lambda text: f"{text[:-5]}Z"),
    "micros": ("in microseconds", lambda text: f"{text[:-1]}000Z"),
    "offset": ("with +00:00 instead of Z", lambda text: f"{text[:-1]}+00:00"),
    "bare": ("without Z", lambda text: text[:-1]),
    "small-z": ("with a lower-case z", lambda text: f"{text[:-1]}z"),
    "space": ("with a space instead of T", lambda text: text.replace("T", " ")),
    "local": ("in local time", _two_hours_ahead),
    "date": ("as a date", lambda text: text[:10]),
    "comma": ("with a decimal comma", lambda text: text.replace(".", ",")),
    "basic": ("without separators", lambda text: text.replace("-", "").replace(":", "")),
    "epoch": ("as seconds since the epoch, in a string",
              lambda text: str(int(datetime.fromisoformat(text).timestamp()))),
    "centiseconds": ("with two decimals", lambda text: f"{text[:-2]}Z"),
    "http": ("as an HTTP date", lambda text: f"{datetime.fromisoformat(text):%a, %d %b %Y %H:%M:%S} GMT"),
    "no-date": ("with a 13th month", lambda text: f"{text[:5]}13{text[7:]}"),
}  # fmt: skip

TIMES = (
    *(fault(f"time-{place}-{field.lower()}-{form}",
            f"The {field} of a {place.replace('-', ' ')} is written {_FORMS[form][0]}.",
            view(shown, edit(**{field: _FORMS[form][1]})), _FORMAT) for place, shown, field, form in (
        ("organization", "organization", "createdAt", "seconds"),
        ("renamed-organization", "renamed", "updatedAt", "micros"),
        ("member", "member", "joinedAt", "offset"),
        ("member", "member", "lastSeenAt", "bare"),
        ("invitation", "invitation", "expiresAt", "date"),
        ("invitation", "invitation", "createdAt", "space"),
        ("role", "role", "updatedAt", "http"),
        ("listed-engagement", "item", "createdAt", "centiseconds"),
        ("listed-engagement", "item", "updatedAt", "local"),
        ("new-engagement", "created", "createdAt", "small-z"),
        ("new-engagement", "created", "updatedAt", "comma"),
        ("read-engagement", "read", "createdAt", "epoch"),
        ("read-engagement", "read", "updatedAt", "basic"),
        ("archived-engagement", "archived", "updatedAt", "no-date"))),
    *(fault(f"time-everywhere-{form}", f"Every timestamp is written {_FORMS[form][0]}.",
            result("timestamp", _FORMS[form][1]), _FORMAT) for form in ("seconds", "micros", "offset", "bare")),
    *(fault(f"time-{identifier}", f"Every timestamp {words}.", result("timestamp", write), _FORMAT)
      for identifier, words, write in (
        ("trailing-zeros-lost", "is written without trailing zeros",
         lambda text: f"{text[:-1].rstrip('0').rstrip('.')}Z"),
        ("zone-name", "ends with UTC instead of Z", lambda text: f"{text[:-1]}UTC"),
        ("without-zeros", "is written without leading zeros",
         lambda text: re.sub("([-T:.])0", r"\1", text)),
        ("four-decimals", "is written with four decimals", lambda text: f"{text[:-1]}0Z"),
        ("week", "is written as an ISO week date", lambda text: f"{text[:4]}-W12-3{text[10:]}"))),
    *(fault(f"time-of-{place}", f"Every timestamp is {words}.", _at_wrong_time(wrong), _UTC)
      for place, words, wrong in (
        ("yesterday", "a day behind", lambda at: at - timedelta(days=1)),
        ("tomorrow", "a day ahead", lambda at: at + timedelta(days=1)),
        ("last-month", "a month behind, as if months were counted from 0", _month_before),
        ("berlin-as-utc", "a local time 2 hours ahead of UTC, with a Z", lambda at: at + timedelta(hours=2)),
        ("new-york-as-utc", "a local time 5 hours behind UTC, with a Z", lambda at: at - timedelta(hours=5)),
        ("kathmandu-as-utc", "a local time 5.75 hours ahead of UTC, with a Z",
         lambda at: at + timedelta(hours=5.75)))),
)  # fmt: skip


# --- what edits and archiving make of times


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
    fault("edit-moves-updated-at-by-a-millisecond-back", "An edit moves updatedAt back by a millisecond.",
          _edited_at(lambda old, _: old.updated_at - 1), _NEVER_BACK, _MOVES),
    fault("edit-sets-updated-at-ahead", "An edit sets updatedAt an hour ahead, so that archiving moves it back.",
          _edited_at(lambda _, now: now + _HOUR) | override(set_status=lambda service, engagement, status: overwrite(
              service, "engagements", engagement.id, status=status, updated_at=service.now())),
          _NEVER_BACK, _REFRESHES),
    fault("edit-name-keeps-updated-at", "An edit of only the name does not move updatedAt.",
          _keep_time(sends_only("name")), _MOVES),
    fault("edit-description-keeps-updated-at", "An edit of only the description does not move updatedAt.",
          after(EDIT, lambda at: at.overwrite(updated_at=at.engagement.updated_at), sends_only("description")) | _SHOWN,
          _MOVES),
    fault("edit-both-keeps-updated-at", "An edit of name and description does not move updatedAt.",
          _keep_time(sends("name", "description")), _MOVES),
    fault("edit-undescribed-keeps-updated-at",
          "An edit of an engagement without a description does not move updatedAt.", _keep_time(undescribed), _MOVES),
    fault("edit-second-keeps-updated-at", "Only the first edit of an engagement moves updatedAt.",
          _keep_time(lambda at: at.engagement.updated_at != at.engagement.created_at), _MOVES, "sort-by-updated-at"),
    fault("clearing-keeps-updated-at", "An edit with an empty or null description does not move updatedAt.",
          after(EDIT, lambda at: at.overwrite(updated_at=at.engagement.updated_at),
                lambda at: sends("description")(at) and not at.values["description"]), _MOVES),
    fault("edit-moves-created-at", "An edit moves createdAt.",
          after(EDIT, lambda at: at.overwrite(created_at=at.now)) | _SHOWN, _CREATED, _KEEPS),
    fault("edit-description-moves-created-at", "An edit of only the description moves createdAt.",
          after(EDIT, lambda at: at.overwrite(created_at=at.now), sends_only("description")), _CREATED, _KEEPS),
)  # fmt: skip

ARCHIVED = (
    fault("archive-in-local-time", "Archiving writes updatedAt in the local time of Athens, with a Z.",
          after(ARCHIVE, lambda at: at.overwrite(updated_at=at.now + 2 * _HOUR))
          | reply(ARCHIVE, lambda at: at.shown("archived")), _UTC),
    fault("archive-moves-created-at", "Archiving moves createdAt.",
          after_change(lambda service, engagement, _: overwrite(
              service, "engagements", engagement.id, created_at=service.now())), _CREATED, "archive-keeps-content"),
    fault("archive-moves-updated-at-back", "Archiving moves updatedAt back by an hour.",
          after_change(lambda service, engagement, _: overwrite(
              service, "engagements", engagement.id, updated_at=engagement.updated_at - _HOUR)),
          _NEVER_BACK, _REFRESHES),
    *(fault(f"archive-{word}-keeps-time",
            f"Archiving does not move the updatedAt of an engagement that was {which} before.",
            _archive_without_time(edited=edited), _REFRESHES) for word, which, edited in (
        ("unedited", "never edited", False), ("edited", "edited", True))),
    fault("archive-again-keeps-time",
          "Archiving does not move the updatedAt of an engagement that was unarchived before.",
          after(UNARCHIVE, note("unarchived"))
          | after(ARCHIVE, lambda at: at.overwrite(updated_at=at.engagement.updated_at), noted("unarchived"))
          | reply(ARCHIVE, lambda at: at.shown("archived")), _REFRESHES),
)  # fmt: skip
