"""Faults of validation, and of input that is unusual but permitted."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import inf
from types import NoneType
from typing import TYPE_CHECKING, Any

from conformance.interface.list_parameters import ROLES

from .changes import content, edit, inside, page, page_of_members
from .conditions import all_of, always, field_is, lacks, parameter_is, responds, sends_other_than_text
from .mutations import (
    Change,
    Method,
    Mutation,
    at_step,
    crash,
    fault,
    flat,
    instead,
    override,
    receive,
    receive_object,
    refuse_with,
    wrap,
)
from .operations import ARCHIVE, CREATE, DELETE, EDIT, INVITE, LIST, LIST_MEMBERS, NAMES, READ, RENAME, ROLE
from .situations import NOTHING, Condition, Situation, parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.service import Service


_VALID = {
    CREATE: b'{"name": "Untitled"}', EDIT: b"{}", RENAME: b"{}",
    INVITE: b'{"email": "somebody@example.com", "role": "member"}', ROLE: b'{"role": "member"}',
}  # fmt: skip
_ALL = tuple(_VALID)
_TITLES = {
    CREATE: "A creation", EDIT: "An edit", RENAME: "A renaming", INVITE: "An invitation",
    ROLE: "A role change", LIST: "The list of engagements", LIST_MEMBERS: "The list of members",
}  # fmt: skip
_REFUSES = {operation: f"{name}-refuses-invalid" for operation, name in NAMES.items()}
_WITH_ROLE, _ADDRESS = (INVITE, ROLE), "somebody@example.com"


# --- invalid JSON that is read


def _not_an_object(at: Situation) -> bool:
    return not isinstance(at.body, dict)


def _reads(operation: str, read: Callable[[bytes], object]) -> Mutation:
    """Process the object that ``read`` makes of a body that is none; without one, the body stays as it is."""

    def change(sent: bytes) -> bytes:
        try:
            found = read(sent)
        except ValueError:
            return sent
        return json.dumps(found).encode() if isinstance(found, dict) else sent

    return receive(operation, change, _not_an_object)


def _corrected(pattern: str, replacement: str) -> Callable[[bytes], object]:
    return lambda sent: json.loads(re.sub(pattern, replacement, sent.decode()))


def _first_item(sent: bytes) -> object:
    found = parsed(sent)
    return found[0] if isinstance(found, list) and found else found


def _accepts(operation: str, when: Condition) -> Mutation:
    """Process a valid body instead of an invalid one."""
    return receive(operation, lambda _: _VALID[operation], when)


BODIES = flat(
    *(fault(f"{NAMES[operation]}-takes-{label}", f"{operation} accepts {words}.", _reads(operation, read),
            _REFUSES[operation]) for label, words, read, operations in (
        ("text-behind", "JSON with text after it", lambda sent: json.JSONDecoder().raw_decode(sent.decode())[0], _ALL),
        ("cut-json", "JSON that is cut short", lambda sent: json.loads(sent + b"}"), _ALL),
        ("array", "an array as the body and uses its first item", _first_item, _ALL),
        ("single-quotes", "JSON in single quotes", _corrected("'", '"'), (CREATE, RENAME, INVITE)),
        ("comments", "JSON with comments", _corrected(r"\s//.*", ""), (CREATE, EDIT, INVITE)),
        ("last-comma", "JSON with a trailing comma", _corrected(r",\s*}$", "}"), (EDIT,)),
        ("bare-names", "JSON with unquoted names", _corrected(r"([{,]\s*)(\w+):", r'\1"\2":'), (ROLE,)),
    ) for operation in operations),
    (fault(f"{NAMES[operation]}-takes-anything",
           f"{operation} treats any body that is not an object as an empty object.",
           _accepts(operation, _not_an_object), _REFUSES[operation]) for operation in _ALL),
)  # fmt: skip


# --- invalid fields that are made valid


def _text_if(*types: type) -> Change:
    return lambda sent: str(sent) if isinstance(sent, types) else sent


def _role_if(test: Callable[[Any], bool], role: str = "member") -> Change:
    """Take some values of the field for another role."""
    return edit(role=lambda sent: role if test(sent) else sent)


def _default(**fields: str) -> Change:
    return lambda sent: {**fields, **sent}


_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "number": ("a number", (int, float)),
    "boolean": ("a boolean", (bool,)),
    "array": ("an array", (list,)),
    "object": ("an object", (dict,)),
    "anything": ("any type", (bool, int, float, list, dict)),
}

FIELDS = (
    *(fault(f"{NAMES[operation]}-takes-{field}-{kind}",
            f"{_TITLES[operation]} accepts {_TYPES[kind][0]} as the {field}.",
            receive_object(operation, edit(**{field: _text_if(*_TYPES[kind][1])})), _REFUSES[operation])
      for operation, field, kinds in (
        (CREATE, "name", ("number", "boolean", "array", "object")),
        (CREATE, "description", ("number", "anything")),
        (EDIT, "name", ("number", "anything")),
        (EDIT, "description", ("boolean", "array")),
        (RENAME, "name", ("number", "object", "array")),
    ) for kind in kinds),
    *(fault(f"{NAMES[operation]}-takes-{label}", f"{_TITLES[operation]} {words}.", receive_object(operation, change),
            _REFUSES[operation]) for operations, label, words, change in (
        ((CREATE,), "nameless", "without a name is accepted", _default(name="Untitled")),
        ((CREATE,), "null-named", "with a null name is accepted",
         edit(name=lambda sent: "Untitled" if sent is None else sent)),
        ((INVITE,), "addressless", "without an email is accepted", _default(email=_ADDRESS)),
        ((INVITE,), "null-address", "with a null email is accepted",
         edit(email=lambda sent: _ADDRESS if sent is None else sent)),
        ((INVITE,), "no-at", "with an address without @ is accepted", edit(
            email=lambda sent: f"{sent}@example.com" if isinstance(sent, str) and "@" not in sent else sent)),
        ((INVITE,), "owner", "with the role owner is accepted", _role_if(lambda sent: sent == "owner", "admin")),
        (_WITH_ROLE, "roleless", "without a role is accepted", _default(role="member")),
        (_WITH_ROLE, "null-role", "with a null role is accepted", _role_if(lambda sent: sent is None)),
        (_WITH_ROLE, "empty-role", "with an empty role is accepted", _role_if(lambda sent: sent == "")),
        (_WITH_ROLE, "unknown-role", "with an unknown role is accepted",
         _role_if(lambda sent: isinstance(sent, str) and sent not in ROLES)),
        (_WITH_ROLE, "role-anything", "with a role of any type is accepted",
         _role_if(lambda sent: isinstance(sent, _TYPES["anything"][1]))),
    ) for operation in operations),
)  # fmt: skip


# --- invalid input that is accepted, or ends in an unexpected error


def _empty(at: Situation) -> bool:
    return not at.context.content


def _malformed(at: Situation) -> bool:
    return bool(at.context.content) and at.body is NOTHING


def _body_is(kind: type) -> Condition:
    return lambda at: isinstance(at.body, kind)


def _falsy(name: str) -> Condition:
    """The field has a value that some languages take for none."""
    return lambda at: at.field(name) in (False, 0, [], {})


def _asks_word(name: str, *known: str) -> Condition:
    return parameter_is(name, lambda text: text.lower() not in {*known, ""})


def _asks_with(name: str, part: str) -> Condition:
    return parameter_is(name, lambda text: part in text)


_INVALID: tuple[tuple[str, str, Condition, tuple[str, ...], tuple[str, ...]], ...] = (
    ("an-empty-body", "an empty body", _empty, (CREATE, INVITE), ()),
    ("malformed-json", "malformed JSON", _malformed, (), (EDIT, INVITE, ROLE)),
    ("null", "null as the body", _body_is(NoneType), _ALL, (CREATE, RENAME, INVITE)),
    ("an-array", "an array as the body", _body_is(list), (), (EDIT, RENAME, INVITE, ROLE)),
    ("a-text", "a string as the body", _body_is(str), (EDIT, RENAME), (CREATE, EDIT)),
    ("a-null-name", "null as the name", field_is("name", NoneType), (), (CREATE,)),
    ("a-name-number", "a number as the name", field_is("name", int), (), (RENAME,)),
    ("a-name-boolean", "a boolean as the name", field_is("name", bool), (EDIT, RENAME), ()),
    ("a-name-list", "a list as the name", field_is("name", list), (EDIT,), ()),
    ("a-name-object", "an object as the name", field_is("name", dict), (), (CREATE, RENAME)),
    ("a-name-that-is-nothing", "false and 0 as the name", _falsy("name"), (EDIT, RENAME), ()),
    ("a-description-number", "a number as the description", field_is("description", int), (EDIT,), (EDIT,)),
    ("a-description-boolean", "a boolean as the description", field_is("description", bool), (CREATE,), ()),
    ("a-description-list", "a list as the description", field_is("description", list), (CREATE,), (EDIT,)),
    ("a-description-object", "an object as the description", field_is("description", dict), (EDIT,), (CREATE,)),
    ("a-description-that-is-nothing", "false and 0 as the description", _falsy("description"), (CREATE, EDIT), ()),
    ("no-address", "a missing address", lacks("email"), (), (INVITE,)),
    ("a-null-address", "null as the address", field_is("email", NoneType), (), (INVITE,)),
    ("an-address-number", "a number as the address", field_is("email", int), (INVITE,), (INVITE,)),
    ("an-address-list", "a list as the address", field_is("email", list), (INVITE,), ()),
    ("no-role", "a missing role", lacks("role"), (), (INVITE, ROLE)),
    ("a-null-role", "null as the role", field_is("role", NoneType), (), (INVITE, ROLE)),
    ("a-role-number", "a number as the role", field_is("role", int), (INVITE, ROLE), ()),
    ("a-role-boolean", "a boolean as the role", field_is("role", bool), (ROLE,), ()),
    ("a-role-list", "a list as the role", field_is("role", list), (ROLE,), ()),
    ("a-role-object", "an object as the role", field_is("role", dict), (), (ROLE,)),
    ("owner", "the role owner", lambda at: at.field("role") == "owner", (), (ROLE,)),
    ("a-per-page-word", "a perPage that is not a number", _asks_with("perPage", "abc"), (), (LIST,)),
    ("an-order-word", "an invalid order", _asks_word("order", "asc", "desc"), (), (LIST,)),
    ("a-status-word", "an invalid status", _asks_word("status", "active", "archived"), (), (LIST,)),
    ("a-page-word", "a page that is not a number", _asks_with("page", "abc"), (), (LIST_MEMBERS,)),
    ("a-role-word", "an invalid role", _asks_word("role", *ROLES), (), (LIST_MEMBERS,)),
)  # fmt: skip
"""Invalid inputs, the operations that accept them, and those in which they end in an unexpected error."""

ACCEPTED = tuple(
    fault(f"{operation}-passes-{label}".lower(), f"{operation} accepts {words}.",
          _accepts(operation, when), _REFUSES[operation])
    for label, words, when, operations, _ in _INVALID for operation in operations
)  # fmt: skip

CRASHES = flat(
    (fault(f"{operation}-stumbles-over-{label}".lower(), f"{operation} gives 500 for {words}.",
           crash(operation, when), "no-server-error", _REFUSES[operation])
     for label, words, when, _, operations in _INVALID for operation in operations),
    *(fault(f"{NAMES[operation]}-breaks-on-{label}", f"{_TITLES[operation]} {words} causes a 500.",
            crash(operation, when),
            "no-server-error", _REFUSES[operation]) for operation, label, words, when in (
        (CREATE, "malformed", "with malformed JSON", _malformed),
        (CREATE, "empty", "with an empty body", _empty),
        (CREATE, "array", "with an array as the body", _body_is(list)),
        (CREATE, "no-name", "without a name", lacks("name")),
        (EDIT, "name-type", "with a name that is not a string", sends_other_than_text("name")),
        (EDIT, "null-body", "with null as the body", _body_is(NoneType)),
        (RENAME, "malformed", "with malformed JSON", lambda at: at.body is NOTHING),
        (INVITE, "no-at", "with an address without @",
         lambda at: isinstance(at.field("email"), str) and "@" not in at.field("email")),
        (INVITE, "role-type", "with a role that is not a string", sends_other_than_text("role")),
        (ROLE, "role-type", "with a role that is not a string", sends_other_than_text("role")),
        (LIST, "page-abc", "with a page that is not a number", _asks_with("page", "abc")),
        (LIST, "sort-nonsense", "with an invalid sort", _asks_with("sort", "no")),
        (LIST_MEMBERS, "perpage-abc", "with a perPage that is not a number", _asks_with("perPage", "abc")),
    )),
)  # fmt: skip

STATUSES = tuple(
    fault(f"{NAMES[operation]}-refuses{label}-with-{status}", f"{operation} refuses {words} with {status}.",
          refuse_with(status, "check", all_of(responds(operation), when), statuses=(400, 422)), requirement)
    for operation, status, label, words, when, requirement in (
        *((operation, status, "", "invalid input", always, _REFUSES[operation]) for operation, status in (
            (CREATE, 409), (CREATE, 415), (EDIT, 404), (RENAME, 403), (INVITE, 409), (ROLE, 403), (LIST, 404),
            (LIST_MEMBERS, 404))),
        (EDIT, 409, "-two-fields", "a name and a description of the wrong type",
         all_of(sends_other_than_text("name"), sends_other_than_text("description")), _REFUSES[EDIT]),
        (INVITE, 404, "-nothing", "a body without email and role", all_of(lacks("email"), lacks("role")),
         _REFUSES[INVITE]),
        (ROLE, 500, "-for-no-member", "an invalid role for a user who is no member",
         lambda at: at.store.member(at.context.organization_id, at.context.resource_id) is None, "no-server-error"))
)  # fmt: skip


# --- invalid parameters that are ignored


_PARAMETERS: dict[str, tuple[str, str, Callable[[str], object]]] = {
    "page": ("page-abc", "a page that is not a number", re.compile("-?[0-9]*").fullmatch),
    "perPage": ("perpage-abc", "a perPage that is not a number", re.compile("-?[0-9]*").fullmatch),
    "status": ("status-nonsense", "an invalid status", {"active", "archived"}.__contains__),
    "sort": ("sort-nonsense", "an invalid sort", {"createdAt", "updatedAt", "name"}.__contains__),
    "order": ("order-nonsense", "an invalid order", {"asc", "desc"}.__contains__),
    "role": ("role-nonsense", "an invalid role", ROLES.__contains__),
}
"""The parameters, each with the end of a fault's id, the words for an invalid value, and the test of a valid one."""


def _ignores(operation: str, *names: str, when: Condition = always) -> Mutation:
    """Ignore the invalid values of some parameters."""

    def around(at: Situation, honest: Method) -> dict[str, str]:
        ignored = names if at.operation == operation and when(at) else ()
        return {name: text for name, text in honest().items() if name not in ignored or _PARAMETERS[name][2](text)}

    return at_step("read_parameters", around)


_WRONG_TWICE = all_of(_asks_word("status", "active", "archived"), _asks_word("sort", "createdat", "updatedat", "name"))

PARAMETERS = flat(
    *(fault(f"{NAMES[operation]}-{_PARAMETERS[name][0]}", f"{_TITLES[operation]} ignores {_PARAMETERS[name][1]}.",
            _ignores(operation, name), _REFUSES[operation]) for operation, names in (
        (LIST, ("page", "perPage", "status", "sort", "order")),
        (LIST_MEMBERS, ("page", "perPage", "role")),
    ) for name in names),
    (fault(f"{NAMES[operation]}-takes-anything", f"{_TITLES[operation]} ignores every invalid parameter.",
           _ignores(operation, *_PARAMETERS), _REFUSES[operation]) for operation in (LIST, LIST_MEMBERS)),
    fault("list-engagements-empty-for-nonsense", "The list of engagements is empty for an invalid status.",
          wrap("choice", lambda _, honest, field, value, permitted:
               value if field == "status" else honest(field, value, permitted)), _REFUSES[LIST]),
    fault("list-engagements-empty-for-two-errors",
          "The list of engagements is empty if both status and sort are invalid.",
          _ignores(LIST, "status", "sort", when=_WRONG_TWICE)
          | instead(LIST, lambda at: at.service.listed(at.context, [], 0), _WRONG_TWICE), _REFUSES[LIST]),
    fault("list-members-role-nonsense-beside-size", "The list of members ignores an invalid role if perPage is sent.",
          _ignores(LIST_MEMBERS, "role", when=parameter_is("perPage", bool)), _REFUSES[LIST_MEMBERS]),
)  # fmt: skip


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

CRASHES_ON_UNUSUAL_INPUT = tuple(
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


def _number_unless_filtered(_: Service, honest: Method, parameters: dict[str, str], name: str, default: int) -> object:
    is_ignored = name == "page" and "status" in parameters and not parameters.get(name, "1").isdigit()
    return default if is_ignored else honest(parameters, name, default)


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
    fault("bad-page-ignored-beside-status",
          "The list of engagements ignores a page that is not a number if it is filtered.",
          wrap("integer", _number_unless_filtered), "list-engagements-refuses-invalid"),
    fault("past-end-repeats-last-page", "A page of engagements past the end repeats the last page.",
          page(_last_page_for_later), _PAST_THE_END),
    fault("past-end-repeats-last-members", "A page of members past the end repeats the last page.",
          page_of_members(_last_page_for_later), _PAST_THE_END),
)  # fmt: skip
