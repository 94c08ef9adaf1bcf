"""Faults of unusual, but permitted input: unexpected errors, and pages out of bounds."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from types import NoneType
from typing import TYPE_CHECKING, Any

from .changes import inside
from .conditions import all_of, field_is, lacks, parameter_is
from .mutations import Mutation, crash, fault, override
from .operations import ARCHIVE, CREATE, DELETE, EDIT, LIST, LIST_MEMBERS, READ, RENAME, ROLE
from .pages import page, page_of_members
from .replies import content
from .situations import NOTHING, Condition, Situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.service import Service

_ERROR, _PAST_THE_END, _LIMITS = "no-server-error", "list-past-the-end", "list-paging-limits-truthful"


def _body_has(*parts: bytes) -> Condition:
    return lambda at: any(part in at.context.content for part in parts)


def _text(at: Situation, name: str) -> str:
    return str(at.field(name))


def _longer(name: str, length: int) -> Condition:
    return lambda at: len(_text(at, name)) > length


def _asks_number(name: str, least: float, most: float = inf) -> Condition:
    """An integer parameter was sent, and it is within bounds."""
    return parameter_is(name, lambda text: text.lstrip("-").isdigit() and least <= int(text) <= most)


def _unknown_id(at: Situation) -> bool:
    return not at.context.resource_id.startswith("eng_")


# --- one operation

CRASHES = tuple(
    fault(f"{operation}-stumbles-over-{label}".lower(), f"{operation} gives 500 for {words}.",
          crash(operation, when), _ERROR, *breaks)
    for operations, label, words, when, *breaks in (
        ((EDIT, RENAME), "an-emoji", "an emoji", _body_has(b"\xf0\x9f", b"\\ud83")),
        ((CREATE, EDIT, RENAME), "a-percent-sign", "a percent sign", _body_has(b"%")),
        ((EDIT,), "a-quote", "a single quote", lambda at: "'" in _text(at, "name") + _text(at, "description")),
        ((RENAME,), "a-quote", "a single quote", lambda at: "'" in _text(at, "name")),
        ((CREATE, EDIT, RENAME), "an-empty-name", "an empty name", lambda at: at.field("name") == ""),
        ((EDIT, RENAME), "a-null-name", "null as the name", field_is("name", NoneType)),
        ((RENAME,), "a-control-character", "an unprintable character",
         lambda at: not _text(at, "name").isprintable()),
        ((LIST,), "a-character", "a parameter value that is not printable ASCII",
         lambda at: any(not (value.isascii() and value.isprintable()) for value in at.query.values())),
        ((RENAME,), "no-name", "an empty object as the body", lacks("name")),
        ((RENAME,), "a-long-name", "a name of more than 200 characters", _longer("name", 200)),
        ((RENAME,), "an-unknown-field", "fields other than the name", lambda at: at.field("slug") is not NOTHING),
        ((ROLE,), "an-unknown-field", "a field other than the role",
         lambda at: isinstance(at.body, dict) and set(at.body) > {"role"}),
        ((EDIT,), "an-empty-body", "an empty body", lambda at: not at.context.content),
        ((EDIT,), "a-long-description", "a description of more than 2,000 characters", _longer("description", 2000)),
        ((CREATE, EDIT), "an-empty-description", "an empty description", lambda at: at.field("description") == ""),
        ((EDIT,), "a-status", "a status in the body", lambda at: at.field("status") is not NOTHING),
        ((CREATE,), "a-null-description", "null as the description", field_is("description", NoneType)),
        ((CREATE,), "bytes-beyond-utf-8", "bytes that are not UTF-8", _body_has(b"\xff")),
        ((CREATE,), "nul", "the character U+0000", _body_has(b"\\u0000")),
        ((CREATE,), "lines", "a description of several lines", lambda at: "\n" in _text(at, "description")),
        ((CREATE,), "a-huge-number", "a huge number", _body_has(b"9" * 100)),
        ((CREATE,), "an-identifier", "an id in the body", lambda at: at.field("id") is not NOTHING),
        ((CREATE,), "right-to-left", "Hebrew and Arabic",
         lambda at: any("\u0590" <= character <= "\u06ff" for character in _text(at, "name"))),
        ((LIST,), "a-huge-page", "a page number beyond 64 bits", _asks_number("page", 2**63), _PAST_THE_END),
        ((LIST,), "a-decimal-page", "a page number with a decimal point",
         parameter_is("page", lambda text: "." in text)),
        ((LIST,), "an-empty-page", "an empty page parameter", parameter_is("page", lambda text: not text)),
        ((LIST,), "an-empty-status", "an empty status parameter", parameter_is("status", lambda text: not text)),
        ((LIST,), "a-negative-per-page", "a negative perPage", _asks_number("perPage", -inf, -1)),
        ((LIST, LIST_MEMBERS), "per-page-101", "a perPage of more than 100", _asks_number("perPage", 101)),
        ((LIST,), "capitals", "an order in capitals", parameter_is("order", str.isupper)),
        ((LIST_MEMBERS,), "a-page-past-the-end", "a page past the end", _asks_number("page", 201), _PAST_THE_END),
        ((LIST_MEMBERS,), "an-unknown-parameter", "an unknown query parameter",
         lambda at: bool(set(at.query) - {"role", "page", "perPage"}), _LIMITS),
        ((LIST_MEMBERS,), "page-zero", "page 0", _asks_number("page", 0, 0)),
        ((LIST_MEMBERS,), "per-page-zero", "a perPage of 0", _asks_number("perPage", 0, 0)),
        ((LIST_MEMBERS,), "a-capital", "a role with a capital", parameter_is("role", lambda it: it != it.lower())),
        ((READ,), "a-quote", "a single quote in the identifier", lambda at: "'" in at.context.resource_id),
        ((READ,), "length", "an identifier of more than 200 characters",
         lambda at: len(at.context.resource_id) > 200),  # noqa: PLR2004
        ((READ,), "letters", "an identifier that is not ASCII", lambda at: not at.context.resource_id.isascii()),
        ((DELETE,), "an-unknown-identifier", "an unknown identifier", _unknown_id,
         "delete-unknown-engagement"),
        ((ARCHIVE,), "an-unknown-identifier", "an identifier that no service has issued", _unknown_id,
         "archive-unknown-engagement"),
    ) for operation in operations
)  # fmt: skip


# --- all operations

CRASHES_OF_ALL = (
    *(fault(f"breaks-on-{label}", f"{words} causes a 500.",
            crash("*", when, step="act"), _ERROR, *breaks)
      for label, words, when, *breaks in (
        ("emoji", "An emoji", _body_has(b"\xf0\x9f", b"\\ud83d", b"\\ud83D")),
        ("astral", "A character outside the Basic Multilingual Plane", _body_has(b"\xf0", b"\\ud8")),
        ("backslash", "A backslash", _body_has(b"\\\\")),
        ("quote", "A single quote", lambda at: at.context.operation.takes_body and b"');" in at.context.content),
        ("long-text", "A body of more than 1,000 bytes", lambda at: len(at.context.content) > 1000),  # noqa: PLR2004
        ("lone-surrogate", "A lone surrogate", _body_has(b'\\ud800"', b'\\uD800"', b"\\ud800 ", b"\\udc00")),
        ("nesting", "A deeply nested body", _body_has(b"[[[[[[[[", b'{"a":{"a":{"a":{"a":')),
        ("page-zero", "Page 0", _asks_number("page", 0, 0)),
        ("negative-page", "A negative page", _asks_number("page", -inf, -1)),
        ("page-past-end", "A page past the end", _asks_number("page", 201), _PAST_THE_END),
        ("unknown-parameter", "An unknown query parameter",
         lambda at: bool(set(at.query) - set(at.context.operation.parameters))),
        ("blank-name", "A blank name", _body_has(b'"name": "   "', b'"name":"   "')),
        ("text-plain", "A body with Content-Type text/plain",
         lambda at: at.context.request.headers.get("content-type", "").startswith("text/plain")),
        ("other-headers", "An unusual Accept or Accept-Language header",
         lambda at: at.context.request.headers.get("accept") != "application/json"
         or "accept-language" in at.context.request.headers),
        ("odd-identifier", "An engagement id that the service has not issued",
         lambda at: at.context.operation.finds == "engagement" and _unknown_id(at)),
        ("unknown-user", "An unknown user",
         lambda at: at.context.operation.finds == "member" and not at.context.resource_id.startswith("usr_")),
    )),
    fault("breaks-on-per-page-zero", "A perPage of 0 causes a 500, as after a division by zero.",
          crash("*", _asks_number("perPage", 0, 0), step="act"), _ERROR),
    fault("breaks-on-empty-object", "An edit without any field causes a 500.",
          crash(EDIT, lambda at: at.context.content.strip() == b"{}", step="act"), _ERROR),
    fault("breaks-on-null-description", "An edit with a null description causes a 500.",
          crash(EDIT, _body_has(b'"description":null', b'"description": null'), step="act"), _ERROR),
    fault("breaks-on-nul-in-edited-description", "An edit with a NUL character in the description causes a 500.",
          crash(EDIT, lambda at: "\0" in _text(at, "description")), _ERROR),
    fault("breaks-on-filtered-page-beyond-64-bits", "A page beyond 64 bits with a status causes a 500.",
          crash(LIST, all_of(_asks_number("page", 2**63), parameter_is("status", bool)), step="act"), _ERROR),
    fault("breaks-on-unknown-field", "A creation with an unknown field causes a 500.",
          crash(CREATE, _body_has(b'"colour"'), step="act"), _ERROR),
)  # fmt: skip


# --- pages out of bounds


def _any_page(shown: Callable[[int, int], tuple[int, int]]) -> Mutation:
    """Accept any page and perPage; ``shown`` returns both as ``meta`` shows them."""

    def view_meta(_: Service, total: int, number: int, size: int) -> dict[str, int]:
        number, size = shown(number, size)
        pages = -(-total // size) if size > 0 else 0
        return {"total": total, "page": number, "perPage": size, "totalPages": pages}

    return override(
        read_page=lambda service, given: {
            "page": service.integer(given, "page", 1),
            "perPage": service.integer(given, "perPage", 20),
        },
        offset=lambda _, context: max((context.values["page"] - 1) * context.values["perPage"], 0),
        view_meta=view_meta,
        check_page_exists=lambda *_: None,
    )


def _size_within(size: int) -> int:
    return min(max(size, 1), 100)


def _last_page_for_later(find: Callable[[Any], Any], asked: Any) -> Any:  # noqa: ANN401 - of either list
    found = find(asked)
    if asked.offset and asked.offset >= found.total > 0:
        return find(replace(asked, offset=(found.total - 1) // asked.limit * asked.limit))
    return found


PAGES = (
    fault("bounds-unchecked", "Any page and perPage are accepted, however small or large.",
          _any_page(lambda number, size: (number, size)), _LIMITS),
    fault("bounds-per-page-says-100", "A perPage above 100 is honoured, but meta says 100.",
          _any_page(lambda number, size: (max(number, 1), _size_within(size))), _LIMITS),
    fault("bounds-page-says-zero", "A list with page 0 has page 0 in meta.",
          _any_page(lambda number, size: (number, _size_within(size))), _LIMITS),
    fault("bounds-pages-of-default",
          "A perPage out of bounds is clamped, but totalPages counts pages of 20.",
          override(read_page=lambda service, given: {"page": max(service.integer(given, "page", 1), 1),
              "perPage": _size_within(service.integer(given, "perPage", 20))})
          | content("*", inside("meta", lambda meta: {**meta, "totalPages": -(-meta["total"] // 20)}), lambda at:
                    "meta" in at.reply_so_far.content and (
                        _asks_number("perPage", -inf, 0)(at) or _asks_number("perPage", 101)(at))), _LIMITS),
    fault("past-end-repeats-last-page", "A page of engagements past the end repeats the last page.",
          page(_last_page_for_later), _PAST_THE_END),
    fault("past-end-repeats-last-members", "A page of members past the end repeats the last page.",
          page_of_members(_last_page_for_later), _PAST_THE_END),
)  # fmt: skip
