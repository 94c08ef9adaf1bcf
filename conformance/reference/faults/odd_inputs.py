"""Faults of unusual, but permitted input: unexpected errors, and pages out of bounds."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from types import NoneType
from typing import TYPE_CHECKING, Any

from .changes import inside
from .conditions import field_is, lacks, parameter_is
from .mutations import Method, Mutation, crash, fault, override, wrap
from .pages import page, page_of_members
from .replies import content
from .situations import NOTHING, Condition, Situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.request_context import RequestContext
    from conformance.reference.service import Service

_CREATE, _EDIT, _RENAME = "createEngagement", "updateEngagement", "updateCurrentOrganization"
_GET, _DELETE, _ARCHIVE = "getEngagement", "deleteEngagement", "archiveEngagement"
_LIST, _LIST_MEMBERS = "listEngagements", "listMembers"
_ERROR, _PAST_THE_END, _LIMITS = "no-server-error", "list-past-the-end", "list-paging-limits-truthful"


def _crash_of_any(when: Condition) -> Mutation:
    """Raise an unexpected error in any operation."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        if when(Situation(service, context)):
            raise RuntimeError("an unexpected error of the fault")
        return honest(context)

    return wrap("act", around)


def _body_has(*parts: bytes) -> Condition:
    return lambda at: any(part in at.context.content for part in parts)


def _text(at: Situation, name: str) -> str:
    return str(at.field(name))


def _sends_field(name: str) -> Condition:
    return lambda at: at.field(name) is not NOTHING


def _longer(name: str, length: int) -> Condition:
    return lambda at: len(_text(at, name)) > length


def _asks_number(name: str, least: float, most: float = inf) -> Condition:
    """An integer parameter was sent, and it is within bounds."""
    return parameter_is(name, lambda text: text.lstrip("-").isdigit() and least <= int(text) <= most)


def _unknown_id(at: Situation) -> bool:
    return not at.context.resource_id.startswith("eng_")


# --- one operation

CRASHES = tuple(
    fault(f"{operation}-stumbles-over-{label}".lower(), f"The operation {operation} stumbles over {words}.",
          crash(operation, when), _ERROR, *breaks)
    for operations, label, words, when, *breaks in (
        ((_EDIT, _RENAME), "an-emoji", "an emoji", _body_has(b"\xf0\x9f", b"\\ud83")),
        ((_CREATE, _EDIT, _RENAME), "a-percent-sign", "a percent sign", _body_has(b"%")),
        ((_EDIT,), "a-quote", "a single quote", lambda at: "'" in _text(at, "name") + _text(at, "description")),
        ((_RENAME,), "a-quote", "a single quote", lambda at: "'" in _text(at, "name")),
        ((_CREATE, _EDIT, _RENAME), "an-empty-name", "an empty name", lambda at: at.field("name") == ""),
        ((_EDIT, _RENAME), "a-null-name", "null as the name", field_is("name", NoneType)),
        ((_RENAME,), "no-name", "an object without fields", lacks("name")),
        ((_RENAME,), "a-long-name", "a name of more than 200 characters", _longer("name", 200)),
        ((_RENAME,), "an-unknown-field", "fields that cannot be changed", _sends_field("slug")),
        (("updateMemberRole",), "an-unknown-field", "a field beside the role",
         lambda at: isinstance(at.body, dict) and set(at.body) > {"role"}),
        ((_EDIT,), "an-empty-body", "an empty body", lambda at: not at.context.content),
        ((_EDIT,), "a-long-description", "a description of more than 2,000 characters", _longer("description", 2000)),
        ((_CREATE, _EDIT), "an-empty-description", "an empty description", lambda at: at.field("description") == ""),
        ((_EDIT,), "a-status", "a status in the body", _sends_field("status")),
        ((_CREATE,), "a-null-description", "null as the description", field_is("description", NoneType)),
        ((_CREATE,), "bytes-beyond-utf-8", "bytes that are no UTF-8", _body_has(b"\xff")),
        ((_CREATE,), "nul", "the character U+0000", _body_has(b"\\u0000")),
        ((_CREATE,), "lines", "a description of several lines", lambda at: "\n" in _text(at, "description")),
        ((_CREATE,), "a-huge-number", "a huge number", _body_has(b"9" * 100)),
        ((_CREATE,), "an-identifier", "an id in the body", _sends_field("id")),
        ((_CREATE,), "right-to-left", "Hebrew and Arabic",
         lambda at: any("\u0590" <= character <= "\u06ff" for character in _text(at, "name"))),
        ((_LIST,), "a-huge-page", "a page beyond 64 bits", _asks_number("page", 2**63), _PAST_THE_END),
        ((_LIST,), "a-decimal-page", "a page with a decimal point", parameter_is("page", lambda text: "." in text)),
        ((_LIST,), "an-empty-page", "an empty page", parameter_is("page", lambda text: not text)),
        ((_LIST,), "an-empty-status", "an empty status", parameter_is("status", lambda text: not text)),
        ((_LIST,), "a-negative-per-page", "a negative perPage", _asks_number("perPage", -inf, -1)),
        ((_LIST, _LIST_MEMBERS), "per-page-101", "a perPage of more than 100", _asks_number("perPage", 101)),
        ((_LIST,), "capitals", "an order in capitals", parameter_is("order", str.isupper)),
        ((_LIST_MEMBERS,), "a-page-past-the-end", "a page past the end", _asks_number("page", 201), _PAST_THE_END),
        ((_LIST_MEMBERS,), "an-unknown-parameter", "a parameter that it does not know",
         lambda at: bool(set(at.query) - {"role", "page", "perPage"}), _LIMITS),
        ((_LIST_MEMBERS,), "page-zero", "page 0", _asks_number("page", 0, 0)),
        ((_LIST_MEMBERS,), "per-page-zero", "a perPage of 0", _asks_number("perPage", 0, 0)),
        ((_LIST_MEMBERS,), "a-capital", "a role with a capital", parameter_is("role", lambda it: it != it.lower())),
        ((_GET,), "a-quote", "a single quote in the identifier", lambda at: "'" in at.context.resource_id),
        ((_GET,), "length", "an identifier of more than 200 characters",
         lambda at: len(at.context.resource_id) > 200),  # noqa: PLR2004
        ((_GET,), "letters", "an identifier that is not ASCII", lambda at: not at.context.resource_id.isascii()),
        ((_DELETE,), "an-unknown-identifier", "an identifier that it does not find", _unknown_id,
         "delete-unknown-engagement"),
        ((_ARCHIVE,), "an-unknown-identifier", "an identifier of another shape", _unknown_id,
         "archive-unknown-engagement"),
    ) for operation in operations
)  # fmt: skip


# --- all operations

CRASHES_OF_ALL = (
    *(fault(f"breaks-on-{label}", f"{words} ends in an unexpected error.", _crash_of_any(when), _ERROR, *breaks)
      for label, words, when, *breaks in (
        ("emoji", "An emoji", _body_has(b"\xf0\x9f", b"\\ud83d", b"\\ud83D")),
        ("astral", "A character beyond the first plane", _body_has(b"\xf0", b"\\ud8")),
        ("backslash", "A backslash", _body_has(b"\\\\")),
        ("quote", "A single quote", lambda at: at.context.operation.takes_body and b"');" in at.context.content),
        ("long-text", "A body of more than 1,000 bytes", lambda at: len(at.context.content) > 1000),  # noqa: PLR2004
        ("lone-surrogate", "Half of a surrogate pair", _body_has(b'\\ud800"', b'\\uD800"', b"\\ud800 ", b"\\udc00")),
        ("nesting", "A deeply nested body", _body_has(b"[[[[[[[[", b'{"a":{"a":{"a":{"a":')),
        ("page-zero", "Page 0", _asks_number("page", 0, 0)),
        ("negative-page", "A negative page", _asks_number("page", -inf, -1)),
        ("page-past-end", "A page past the end", _asks_number("page", 201), _PAST_THE_END),
        ("unknown-parameter", "An unknown query parameter",
         lambda at: bool(set(at.query) - set(at.context.operation.parameters))),
        ("blank-name", "A blank name", _body_has(b'"name": "   "', b'"name":"   "')),
        ("text-plain", "A body that is announced as text",
         lambda at: at.context.request.headers.get("content-type", "").startswith("text/plain")),
        ("odd-identifier", "An identifier of an odd shape",
         lambda at: at.context.operation.finds == "engagement" and _unknown_id(at)),
        ("unknown-user", "An unknown user",
         lambda at: at.context.operation.finds == "member" and not at.context.resource_id.startswith("usr_")),
    )),
    fault("breaks-on-per-page-zero", "A perPage of 0 ends in an unexpected error, as a division by it would.",
          _crash_of_any(_asks_number("perPage", 0, 0)), _ERROR),
    fault("breaks-on-empty-object", "An edit without any field ends in an unexpected error.",
          crash(_EDIT, lambda at: at.context.content.strip() == b"{}", step="act"), _ERROR),
    fault("breaks-on-null-description", "An edit that takes the description away ends in an unexpected error.",
          crash(_EDIT, _body_has(b'"description":null', b'"description": null'), step="act"), _ERROR),
    fault("breaks-on-unknown-field", "A creation with an unknown field ends in an unexpected error.",
          crash(_CREATE, _body_has(b'"colour"'), step="act"), _ERROR),
)  # fmt: skip


# --- pages out of bounds


def _any_page(shown: Callable[[int, int], tuple[int, int]]) -> Mutation:
    """Accept any page and perPage; ``shown`` returns both as ``meta`` shows them."""

    def view_meta(_: Service, total: int, number: int, size: int) -> dict[str, int]:
        number, size = shown(number, size)
        pages = -(-total // size) if size > 0 else 0
        return {"total": total, "page": number, "perPage": size, "totalPages": pages}

    return override(
        read_page=_page_as_sent,
        offset=lambda _, context: max((context.values["page"] - 1) * context.values["perPage"], 0),
        view_meta=view_meta,
        check_page_exists=lambda *_: None,
    )


def _page_as_sent(service: Service, given: dict[str, str]) -> dict[str, int]:
    return {"page": service.integer(given, "page", 1), "perPage": service.integer(given, "perPage", 20)}


def _page_within(service: Service, given: dict[str, str]) -> dict[str, int]:
    sent = _page_as_sent(service, given)
    return {"page": max(sent["page"], 1), "perPage": _size_within(sent["perPage"])}


def _size_within(size: int) -> int:
    return min(max(size, 1), 100)


def _shows_size_out_of_bounds(at: Situation) -> bool:
    out_of_bounds = _asks_number("perPage", -inf, 0)(at) or _asks_number("perPage", 101)(at)
    return at.reply is not None and "meta" in at.reply.content and out_of_bounds


def _last_page_for_later(find: Callable[[Any], Any], asked: Any) -> Any:  # noqa: ANN401 - of either list
    found = find(asked)
    if asked.offset and asked.offset >= found.total > 0:
        return find(replace(asked, offset=(found.total - 1) // asked.limit * asked.limit))
    return found


PAGES = (
    fault("bounds-unchecked", "Any page and perPage are taken as they come.",
          _any_page(lambda number, size: (number, size)), _LIMITS),
    fault("bounds-per-page-says-100", "A perPage above 100 is honoured, and meta says 100.",
          _any_page(lambda number, size: (max(number, 1), _size_within(size))), _LIMITS),
    fault("bounds-page-says-zero", "Page 0 is answered as page 0.",
          _any_page(lambda number, size: (number, _size_within(size))), _LIMITS),
    fault("bounds-pages-of-default",
          "A perPage out of bounds is taken for the nearest one within, and totalPages counts pages of 20.",
          override(read_page=_page_within) | content("*", inside(
              "meta", lambda meta: {**meta, "totalPages": -(-meta["total"] // 20)}), _shows_size_out_of_bounds),
          _LIMITS),
    fault("past-end-repeats-last-page", "A page of engagements past the end holds the last one's.",
          page(_last_page_for_later), _PAST_THE_END),
    fault("past-end-repeats-last-members", "A page of members past the end holds the last one's.",
          page_of_members(_last_page_for_later), _PAST_THE_END),
)  # fmt: skip
