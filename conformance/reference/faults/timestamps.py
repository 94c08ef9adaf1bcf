"""Faults of how moments are written: one way for each place where a moment stands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from conformance.reference.faults.making import instead, made, shown
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault


def _local(text: str) -> str:
    """Write a moment in the time of a place two hours ahead."""
    moment = datetime.fromisoformat(text).astimezone(timezone(timedelta(hours=2)))
    return moment.isoformat(timespec="milliseconds")


_FORMS: dict[str, tuple[str, Callable[[str], str]]] = {
    "seconds": ("in whole seconds", lambda text: f"{text[:-5]}Z"),
    "micros": ("in microseconds", lambda text: f"{text[:-1]}000Z"),
    "offset": ("with +00:00 instead of Z", lambda text: f"{text[:-1]}+00:00"),
    "bare": ("without Z", lambda text: text[:-1]),
    "small-z": ("with a small z", lambda text: f"{text[:-1]}z"),
    "space": ("with a space instead of T", lambda text: text.replace("T", " ")),
    "local": ("in local time", _local),
    "date": ("as a date", lambda text: text[:10]),
    "comma": ("with a decimal comma", lambda text: text.replace(".", ",")),
    "basic": ("without separators", lambda text: text.replace("-", "").replace(":", "")),
    "epoch": (
        "as seconds since the epoch, in a string",
        lambda text: str(int(datetime.fromisoformat(text).timestamp())),
    ),
    "centiseconds": ("with two decimals", lambda text: f"{text[:-2]}Z"),
    "http": ("as an HTTP date", lambda text: f"{datetime.fromisoformat(text):%a, %d %b %Y %H:%M:%S} GMT"),
    "no-date": ("with a 13th month", lambda text: f"{text[:5]}13{text[7:]}"),
}

_PLACES = (
    ("organization", "view_organization", "createdAt", "seconds"),
    ("renamed-organization", "view_renamed", "updatedAt", "micros"),
    ("member", "view_member", "joinedAt", "offset"),
    ("member", "view_member", "lastSeenAt", "bare"),
    ("invitation", "view_invitation", "expiresAt", "date"),
    ("invitation", "view_invitation", "createdAt", "space"),
    ("role", "view_role", "updatedAt", "http"),
    ("listed-engagement", "view_item", "createdAt", "centiseconds"),
    ("listed-engagement", "view_item", "updatedAt", "local"),
    ("new-engagement", "view_created", "createdAt", "small-z"),
    ("new-engagement", "view_created", "updatedAt", "comma"),
    ("read-engagement", "view_read", "createdAt", "epoch"),
    ("read-engagement", "view_read", "updatedAt", "basic"),
    ("archived-engagement", "view_archived", "updatedAt", "no-date"),
)


def _fault(place: str, view: str, field: str, form: str) -> Fault:
    words, write = _FORMS[form]
    return shown(
        f"time-{place}-{field.lower()}-{form}",
        f"The {field} of a {place.replace('-', ' ')} is written {words}.",
        view,
        instead((field,), write),
        "timestamp-format",
    )


PLACES = tuple(_fault(*place) for place in _PLACES)

EVERYWHERE = tuple(
    made(
        f"time-everywhere-{form}",
        f"Every moment is written {_FORMS[form][0]}.",
        "timestamp-format",
        timestamp=lambda self, moment, write=_FORMS[form][1]: write(Service.timestamp(self, moment)),
    )
    for form in ("seconds", "micros", "offset", "bare")
)


def _in_zone(place: str, minutes: int) -> Fault:
    ahead = "ahead" if minutes > 0 else "behind"
    return made(
        f"time-of-{place}-as-utc",
        f"Every moment is that of a place {abs(minutes) / 60:g} hours {ahead}, with a Z behind it.",
        "timestamps-are-utc",
        timestamp=lambda self, moment: Service.timestamp(self, moment + minutes * 60_000),
    )


def _off(identifier: str, says: str, wrong: Callable[[datetime], datetime]) -> Fault:
    def timestamp(self: Service, moment: int) -> str:
        told = wrong(datetime.fromtimestamp(moment / 1000, UTC))
        return Service.timestamp(self, round(told.timestamp() * 1000))

    return made(identifier, f"Every moment is {says}.", "timestamps-are-utc", timestamp=timestamp)


def _month_before(moment: datetime) -> datetime:
    """The same day of the month before, as it comes of a month that is counted from 0."""
    before = moment.replace(day=1) - timedelta(days=1)
    return before.replace(day=1) + timedelta(days=moment.day - 1)


CALENDARS = (
    _off("time-of-yesterday", "a day behind", lambda moment: moment - timedelta(days=1)),
    _off("time-of-tomorrow", "a day ahead", lambda moment: moment + timedelta(days=1)),
    _off("time-of-last-month", "a month behind, months being counted from 0", _month_before),
)

ZONES = (_in_zone("berlin", 120), _in_zone("new-york", -300), _in_zone("kathmandu", 345))
