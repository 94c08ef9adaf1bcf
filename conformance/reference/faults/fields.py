"""Faults of names and descriptions that are stored or shown with other text, and of times."""

from __future__ import annotations

import html
import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from .changes import edit, reply, send, view
from .conditions import counted, described, header_has, noted, of_member, sends, sends_only, undescribed
from .mutations import Method, Mutation, after, after_change, fault, flat, override, result, wrap
from .operations import ARCHIVE, EDIT, UNARCHIVE
from .situations import Condition, note, overwrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from . import Fault
    from .mutations import Change

    TextChange = Callable[[str], str | None]
    Way = tuple[str, str, TextChange, str]
    """The end of an id, that of a title, the change of the text, and the places with this fault."""
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.service import Service


_FIFTH = 5
_PLACES: dict[str, tuple[str, ...]] = {
    "create": ("check_creation", "a new engagement", "create-engagement-keeps-text"),
    "edit": ("check_edit", "an edited engagement", "update-engagement-keeps-text"),
    "rename": ("check_organization_update", "the organization", "update-organization-keeps-text"),
    "listed": ("view_item", "a listed engagement", "list-engagements-as-read"),
    "read": ("view_read", "a read engagement",
             "create-engagement-keeps-text", "create-engagement-lasts", "update-engagement-keeps-text"),
    "renamed": ("view_renamed", "the renamed organization", "update-organization-answers-new-name"),
    "organization": ("view_organization", "the organization",
                     "update-organization-keeps-text", "update-organization-takes-effect"),
}  # fmt: skip
"""The method that returns the text, the words for it in a title, and the broken requirements."""

_BROKEN_BY_ANY_TEXT = {
    "create": ("create-engagement-answers-what-was-sent", "create-engagement-lasts"),
    "edit": ("update-engagement-takes-effect",),
    "rename": ("update-organization-answers-new-name", "update-organization-takes-effect"),
}
"""The further requirements that a fault breaks if it shows with plain words, without odd signs or great length."""


def _replaced(sign: str, other: str) -> TextChange:
    return lambda text: text.replace(sign, other)


def _without(pattern: str) -> TextChange:
    return lambda text: re.sub(pattern, "", text)


def _first(characters: int) -> TextChange:
    return lambda text: text[:characters]


def _nothing_if(word: str) -> TextChange:
    return lambda text: None if text == word else text


def _without_accents(text: str) -> str:
    plain = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(sign for sign in plain if unicodedata.category(sign) != "Mn"))


def _half_width(text: str) -> str:
    return "".join(chr(ord(sign) - 0xFEE0) if "\uff01" <= sign <= "\uff5e" else sign for sign in text)


def _letters_for_flags(text: str) -> str:
    return re.sub("[\U0001f1e6-\U0001f1ff]", lambda found: chr(ord(found.group()) - 0x1F1E6 + ord("A")), text)


def _changed(field: str, change: TextChange) -> Change:
    """Change a text in an object, unless it is empty or missing."""
    return lambda values: {**values, field: change(values[field])} if values.get(field) else values


def _spoilt(ways: tuple[Way, ...], also_breaks: dict[str, tuple[str, ...]]) -> Iterator[Fault]:
    for way, says, change, places in ways:
        for place in places.split():
            where, field = place.split("-")
            method, words, *breaks = _PLACES[where]
            kind, end = ("shown", " in responses") if method.startswith("view_") else ("text", "")
            yield fault(f"{kind}-{place}-{way}", f"The {field} of {words} {says}{end}.",
                        result(method, _changed(field, change)), *also_breaks.get(where, ()), *breaks)  # fmt: skip


_CUT: tuple[Way, ...] = tuple((f"cut-{most}", f"is cut after {most:,} characters", _first(most), places)
                              for most, places in (
    (32, "create-name rename-name organization-name"),
    (64, "create-name edit-name rename-name"),
    (100, "create-name create-description edit-name rename-name listed-name listed-description"),
    (128, "create-name edit-name rename-name"),
    (200, "create-name edit-name edit-description"),
    (255, "create-name"),
    (500, "create-description edit-description"),
    (1000, "create-description edit-description"),
    (2000, "create-description edit-description read-description"),
    (4096, "create-description"),
    (10_000, "create-description")))  # fmt: skip

_LETTERS: tuple[Way, ...] = (
    ("cut-bytes", "is cut after 255 bytes",
     lambda text: text.encode()[:255].decode(errors="ignore"), "create-name edit-name"),
    ("end-lost", "loses punctuation at its end, except a full stop",
     lambda text: re.sub(r"[^\w.]+$", "", text) or text, "create-description edit-name rename-name"),
    ("title-case", "gets a capital at the beginning of each word", str.title, "edit-name"),
    ("capitalized", "gets a capital at its beginning", lambda text: text[:1].upper() + text[1:], "edit-description"),
    ("decomposed", "is normalized to NFD", lambda text: unicodedata.normalize("NFD", text), "create-name"),
    ("compatible", "is normalized to NFKC", lambda text: unicodedata.normalize("NFKC", text), "edit-description"),
    ("marks-lost", "loses accents", _without_accents, "edit-name"),
    ("ascii-only", "loses all characters outside ASCII", _without(r"[^\u0000-\u007f]"), "create-name"),
    ("latin-only", "has question marks instead of characters outside Latin-1",
     lambda text: text.encode("latin-1", "replace").decode("latin-1"), "create-name rename-name"),
    ("mojibake", "is decoded as Latin-1 instead of UTF-8", lambda text: text.encode().decode("latin-1"), "rename-name"),
    ("astral-lost", "loses characters outside the Basic Multilingual Plane",
     _without(r"[^\u0000-\uffff]"), "create-name edit-description rename-name"),
    ("astral-marks", "has question marks instead of characters outside the Basic Multilingual Plane",
     lambda text: re.sub(r"[^\u0000-\uffff]", "??", text), "create-description"),
    ("cjk-lost", "loses Chinese, Japanese and Korean characters",
     _without(r"[\u3040-\u9fff\uac00-\ud7af]"), "create-description rename-name"),
    ("emoji-lost", "loses its emoji", _without(r"[\U0001f300-\U0001faff]"), "edit-name rename-name listed-name"),
    ("right-to-left-reversed", "has its Hebrew and Arabic text reversed",
     lambda text: re.sub(r"[\u0590-\u06ff]+", lambda found: found.group()[::-1], text), "create-name"),
    ("sharp-s-spelt", "has ss instead of sharp s", _replaced("\u00df", "ss"), "create-name rename-name"),
    ("half-width", "has plain letters instead of full-width letters", _half_width, "create-name"),
    ("ligature-spelt", "has separate letters instead of ligatures", _replaced("\ufb01", "fi"),
     "create-name edit-description"),
    ("dotted-i-plain", "has I instead of the dotted capital I", _replaced("\u0130", "I"), "create-name"),
    ("sigma-alike", "has the same sigma in all positions", _replaced("\u03c2", "\u03c3"), "create-name"),
    ("thai-lost", "loses its Thai characters", _without(r"[\u0e00-\u0e7f]"), "create-name"),
    ("cyrillic-unknown", "has question marks instead of Cyrillic letters",
     lambda text: re.sub("[\u0400-\u04ff]", "?", text), "create-name"),
    ("skin-lost", "loses the skin tones of its emoji", _without(r"[\U0001f3fb-\U0001f3ff]"), "create-name"),
    ("keycap-lost", "loses its keycap emoji", _without(r"[\u20e3]"), "create-name"),
    ("flags-spelt", "has letters instead of flag emoji", _letters_for_flags, "create-description edit-description"),
)  # fmt: skip

_SIGNS: tuple[Way, ...] = (
    ("full-stop-lost", "loses a full stop at its end", lambda text: text.removesuffix(".") or text, "rename-name"),
    ("html-escaped", "has its HTML escaped",
     lambda text: html.escape(text, quote=False), "create-name edit-name rename-name"),
    ("escaped-twice", "has its HTML escaped twice", lambda text: html.escape(html.escape(text)),
     "create-description listed-description read-name renamed-name"),
    ("html-unescaped", "has its HTML character references decoded", html.unescape, "create-description"),
    ("tags-stripped", "loses its HTML tags", _without(r"<[^>]*>"), "edit-description"),
    ("angles-lost", "loses its angle brackets", _without(r"[<>]"), "edit-name"),
    ("ampersand-lost", "loses its ampersands", _replaced("&", ""), "create-name rename-name"),
    ("quotes-doubled", "has its single quotes doubled", _replaced("'", "''"), "create-name rename-name"),
    ("quotes-curled", "has curly quotes instead of straight ones", _replaced('"', "\u201d"), "edit-name"),
    ("quotes-as-references", "has HTML character references instead of quotes", _replaced("'", "&#39;"),
     "edit-description"),
    ("quotes-straightened", "has straight quotes instead of curly ones",
     lambda text: text.translate({0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'"}), "create-name rename-name"),
    ("single-quotes-escaped", "has a backslash before single quotes",
     _replaced("'", "\\'"), "create-description rename-name listed-name"),
    ("double-quotes-escaped", "has a backslash before double quotes", _replaced('"', '\\"'), "edit-name"),
    ("double-quotes-lost", "loses its double quotes", _replaced('"', ""), "create-name"),
    ("backticks-lost", "loses its backticks", _replaced("`", ""), "edit-name"),
    ("backslash-stripped", "loses its backslashes", _replaced("\\", ""), "create-description"),
    ("backslash-doubled", "has its backslashes doubled", _replaced("\\", "\\\\"), "create-description rename-name"),
    ("backslash-read", "has its backslash escapes decoded",
     lambda text: text.replace("\\n", "\n").replace("\\t", "\t"), "edit-name"),
    ("unicode-escapes-read", "has its Unicode escapes decoded", _replaced("\\u0041", "A"), "edit-name"),
    ("slashes-escaped", "has a backslash before each slash", _replaced("/", "\\/"), "create-name"),
    ("slashes-lost", "loses its slashes", _replaced("/", ""), "edit-description"),
    ("semicolon-cut", "is cut at a semicolon", lambda text: text.partition(";")[0], "edit-name"),
    ("question-cut", "is cut at a question mark", lambda text: text.partition("?")[0].rstrip(), "create-name"),
    ("hash-cut", "is cut at a number sign", lambda text: text.partition("#")[0].rstrip(), "edit-name"),
    ("comment-cut", "is cut at two hyphens", lambda text: text.partition("--")[0], "create-description"),
    ("dashes-joined", "has a dash instead of two hyphens", _replaced("--", "\u2013"), "create-description"),
    ("euro-spelled", "has EUR instead of the euro sign", _replaced("\u20ac", "EUR"),
     "create-description edit-description"),
    ("plus-read", "has blanks instead of plus signs", _replaced("+", " "), "edit-description"),
    ("percent-read", "has its percent-encoding decoded", _replaced("%20", " "), "create-name"),
    ("percent-doubled", "has its percent signs doubled", _replaced("%", "%%"), "create-name"),
    ("percent-s-filled", "has %s replaced, as in a format string", _replaced("%s", ""), "edit-name rename-name"),
    ("braces-filled", "has {0} replaced, as in a format string", _replaced("{0}", ""), "create-description"),
    ("dollar-filled", "has $1 replaced, as in a regular expression", _replaced("$1", ""), "edit-description"),
    ("zeros-lost", "loses the zeros before numbers", _without(r"\b0+(?=[0-9])"), "create-name edit-description"),
    ("null-as-word", "loses the word null", _replaced("null", ""), "create-description"),
    ("underscores-blank", "has blanks instead of underscores", _replaced("_", " "),
     "create-name edit-name rename-name"),
    ("asterisks-lost", "loses its asterisks", _without(r"\*"), "create-name"),
    ("tilde-lost", "loses its tildes", _without("~"), "create-name"),
    ("pipe-slashed", "has slashes instead of vertical bars", _replaced("|", "/"), "create-name edit-name"),
    ("caret-lost", "loses its carets", _without(r"\^"), "create-name"),
    ("brackets-lost", "loses its square brackets", _without(r"[\[\]]"), "create-name"),
    ("at-spelt", "has (at) instead of at signs", _replaced("@", "(at)"), "create-name"),
    ("comma-cut", "is cut at a comma", lambda text: text.partition(",")[0].rstrip(), "create-name"),
    ("addresses-lost", "loses its web addresses", _without(r"https?://\S+"), "create-description"),
    ("javascript-lost", "loses the word javascript:", _replaced("javascript:", ""), "create-description"),
    ("scripts-lost", "loses its script elements", _without(r"<script>.*?</script>"),
     "create-description edit-description"),
    ("templates-lost", "loses the text in double braces", _without(r"\{\{.*?\}\}"), "create-description"),
)  # fmt: skip

_TYPOGRAPHY: tuple[Way, ...] = (
    ("dots-joined", "has an ellipsis instead of three dots", _replaced("...", "\u2026"), "create-name rename-name"),
    ("dashes-plain", "has hyphens instead of dashes", lambda text: re.sub("[\u2013\u2014]", "-", text), "create-name"),
    ("long-dash", "has a long dash instead of two hyphens between words", _replaced(" -- ", " \u2014 "),
     "edit-description"),
    ("copyright-joined", "has a copyright sign instead of (c)", _replaced("(c)", "\u00a9"), "create-name"),
    ("trademark-joined", "has a trade mark sign instead of (tm)", _replaced("(tm)", "\u2122"), "create-description"),
    ("registered-joined", "has a registered sign instead of (r)", _replaced("(r)", "\u00ae"), "edit-description"),
    ("face-drawn", "has an emoji instead of an emoticon", _replaced(":)", "\U0001f642"), "create-description"),
    ("shortcode-drawn", "has an emoji instead of a short code between colons",
     _replaced(":smile:", "\U0001f604"), "edit-description"),
    ("fraction-joined", "has a fraction character instead of digits with a slash", _replaced("1/2", "\u00bd"),
     "create-description"),
    ("times-drawn", "has a multiplication sign instead of an x between digits",
     lambda text: re.sub(r"(?<=\d)x(?=\d)", "\u00d7", text), "edit-description"),
    ("arrow-drawn", "has an arrow instead of a hyphen and an angle bracket", _replaced("->", "\u2192"),
     "create-description"),
)  # fmt: skip

_SHOWN_BY_ANY_TEXT: tuple[Way, ...] = (
    ("last-lost", "loses its last character",
     lambda text: text[:-1] if len(text) > 1 else text, "create-description edit-name listed-description"),
    ("newline-added", "gets a line break at its end", lambda text: f"{text}\n", "create-description edit-name"),
    ("lower-case", "is in lower case", str.lower, "create-description edit-description rename-name"),
    ("upper-case", "is in upper case", str.upper, "create-name"),
    ("title-case", "gets a capital at the beginning of each word", str.title, "rename-name"),
    ("capitalized", "gets a capital at its beginning",
     lambda text: text[:1].upper() + text[1:], "create-name create-description rename-name"),
    ("null-word", "is dropped if it is the word null", _nothing_if("null"), "create-description edit-description"),
    ("zero-word", "is dropped if it is the digit 0", _nothing_if("0"), "create-description"),
    ("zero-lost", "is emptied if it is the digit 0", lambda text: "" if text == "0" else text, "edit-description"),
    ("false-word", "is dropped if it is the word false", _nothing_if("false"), "edit-description"),
    ("true-word", "is dropped if it is the word true", _nothing_if("true"), "create-description"),
    ("number-read", "is rewritten as a number if it is digits",
     lambda text: str(int(text)) if text.isascii() and text.isdigit() else text, "create-description edit-description"),
    ("date-read", "is rewritten as a timestamp if it is a date",
     lambda text: f"{text}T00:00:00.000Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text, "create-description"),
)  # fmt: skip

SPOILT = flat(_spoilt(_CUT + _LETTERS + _SIGNS + _TYPOGRAPHY, {}), _spoilt(_SHOWN_BY_ANY_TEXT, _BROKEN_BY_ANY_TEXT))


ESCAPED = tuple(fault(identifier, title, after(
    operation, lambda at: at.overwrite(description=html.escape(at.engagement.description or "")),
    lambda at: described(at) and "description" not in at.values), requirement)
                for identifier, title, operation, requirement in (
    ("edit-escapes-standing-description", "An edit of the name escapes the description for HTML.",
     "updateEngagement", "update-engagement-keeps-the-rest"),
    ("archive-escapes-description", "Archiving escapes the description for HTML.",
     "archiveEngagement", "archive-keeps-content")))  # fmt: skip


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


def _in_german(body: bytes) -> bytes:
    return re.sub(rb'"(\d{4})-(\d\d)-(\d\d)T([\d:.]+)Z"', rb'"\3.\2.\1 \4"', body)


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
    fault("time-in-german", "Timestamps are written as in German for a request in German.",
          send(_in_german, header_has("accept-language", "de")), _FORMAT),
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
    fault("edit-fifth-keeps-updated-at", "Every fifth edit of an engagement does not move updatedAt.",
          _keep_time(counted("edits", lambda number: number % _FIFTH == 0)), _MOVES),
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
    *(fault(f"archive-{word}-keeps-time", f"Archiving{words} does not move the updatedAt of an engagement{which}.",
            after(UNARCHIVE, note("unarchived"))
            | after(ARCHIVE, lambda at: at.overwrite(updated_at=at.engagement.updated_at), when)
            | reply(ARCHIVE, lambda at: at.shown("archived")), _REFRESHES) for word, words, which, when in (
        ("again", "", " that was unarchived before", noted("unarchived")),
        ("by-member", " with a member's key", "", of_member))),
)  # fmt: skip
