"""Faults of the format of times, and of the time zone that they are in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from .changes import edit
from .mutations import Method, Mutation, fault, result, wrap
from .replies import view

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.service import Service

_FORMAT, _UTC = "timestamp-format", "timestamps-are-utc"


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
    "small-z": ("with a small z", lambda text: f"{text[:-1]}z"),
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
    *(fault(f"time-everywhere-{form}", f"Every moment is written {_FORMS[form][0]}.",
            result("timestamp", _FORMS[form][1]), _FORMAT) for form in ("seconds", "micros", "offset", "bare")),
    *(fault(f"time-{identifier}", f"A moment {words}.", result("timestamp", write), _FORMAT)
      for identifier, words, write in (
        ("trailing-zeros-lost", "is written without zeros at its end",
         lambda text: f"{text[:-1].rstrip('0').rstrip('.')}Z"),
        ("zone-name", "ends with UTC instead of Z", lambda text: f"{text[:-1]}UTC"),
        ("without-zeros", "is written without the zeros that its parts begin with",
         lambda text: re.sub("([-T:.])0", r"\1", text)),
        ("four-decimals", "is written with four decimals", lambda text: f"{text[:-1]}0Z"),
        ("week", "is written as a day of a week of the year", lambda text: f"{text[:4]}-W12-3{text[10:]}"))),
    *(fault(f"time-of-{place}", f"Every moment is {words}.", _at_wrong_time(wrong), _UTC)
      for place, words, wrong in (
        ("yesterday", "a day behind", lambda at: at - timedelta(days=1)),
        ("tomorrow", "a day ahead", lambda at: at + timedelta(days=1)),
        ("last-month", "a month behind, months being counted from 0", _month_before),
        ("berlin-as-utc", "that of a place 2 hours ahead, with a Z behind it", lambda at: at + timedelta(hours=2)),
        ("new-york-as-utc", "that of a place 5 hours behind, with a Z behind it", lambda at: at - timedelta(hours=5)),
        ("kathmandu-as-utc", "that of a place 5.75 hours ahead, with a Z behind it",
         lambda at: at + timedelta(hours=5.75)))),
)  # fmt: skip
