"""Faults of validation: invalid input is accepted, refused with another status, or ends in an unexpected error."""

from __future__ import annotations

import json
import re
from types import NoneType
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from .changes import Change, edit
from .conditions import field_is, lacks, parameter_is, sends_other_than_text
from .mutations import Method, Mutation, crash, fault, flat, receive, receive_object, wrap
from .situations import NOTHING, Condition, Situation, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.reference.request_context import RequestContext
    from conformance.reference.service import Service

_CREATE, _EDIT, _RENAME = "createEngagement", "updateEngagement", "updateCurrentOrganization"
_INVITE, _CHANGE_ROLE = "inviteMember", "updateMemberRole"
_LIST, _LIST_MEMBERS = "listEngagements", "listMembers"
_VALID = {
    _CREATE: b'{"name": "Untitled"}', _EDIT: b"{}", _RENAME: b"{}",
    _INVITE: b'{"email": "somebody@example.com", "role": "member"}', _CHANGE_ROLE: b'{"role": "member"}',
}  # fmt: skip
_ALL = tuple(_VALID)
_IDS = {
    _CREATE: "create-engagement", _EDIT: "update-engagement", _RENAME: "update-organization", _INVITE: "invite",
    _CHANGE_ROLE: "update-role", _LIST: "list-engagements", _LIST_MEMBERS: "list-members",
}  # fmt: skip
_TITLES = {
    _CREATE: "A creation", _EDIT: "An edit", _RENAME: "A renaming", _INVITE: "An invitation",
    _CHANGE_ROLE: "A change of role", _LIST: "The list of engagements", _LIST_MEMBERS: "The list of members",
}  # fmt: skip
_REFUSES = {operation: f"{name}-refuses-invalid" for operation, name in _IDS.items()}
_ROLES = {"owner", "admin", "member"}


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


def _first_value(sent: bytes) -> object:
    return json.JSONDecoder().raw_decode(sent.decode())[0]


def _first_item(sent: bytes) -> object:
    found = parsed(sent)
    return found[0] if isinstance(found, list) and found else found


def _accepts(operation: str, when: Condition) -> Mutation:
    """Process a valid body instead of an invalid one."""
    return receive(operation, lambda _: _VALID[operation], when)


BODIES = flat(
    *(fault(f"{_IDS[operation]}-takes-{label}", f"{operation} takes {words}.", _reads(operation, read),
            _REFUSES[operation]) for label, words, read, operations in (
        ("text-behind", "JSON with text behind it", _first_value, _ALL),
        ("cut-json", "JSON that is cut short", lambda sent: json.loads(sent + b"}"), _ALL),
        ("array", "an array and reads its first item", _first_item, _ALL),
        ("single-quotes", "JSON in single quotes", _corrected("'", '"'), (_CREATE, _RENAME, _INVITE)),
        ("comments", "JSON with comments", _corrected(r"\s//.*", ""), (_CREATE, _EDIT, _INVITE)),
        ("last-comma", "JSON with a comma too many", _corrected(r",\s*}$", "}"), (_EDIT,)),
        ("bare-names", "JSON with names without quotes", _corrected(r"([{,]\s*)(\w+):", r'\1"\2":'), (_CHANGE_ROLE,)),
    ) for operation in operations),
    (fault(f"{_IDS[operation]}-takes-anything", f"{operation} takes whatever is no object for an empty one.",
           _accepts(operation, _not_an_object), _REFUSES[operation]) for operation in _ALL),
)  # fmt: skip


# --- invalid fields that are made valid


def _default(**fields: str) -> Change:
    return lambda sent: {**fields, **sent}


def _null_as(value: str) -> Change:
    return lambda sent: value if sent is None else sent


def _as_text(*types: type) -> Change:
    return lambda sent: str(sent) if isinstance(sent, types) else sent


def _with_at(sent: Any) -> Any:  # noqa: ANN401 - any JSON
    return f"{sent}@example.com" if isinstance(sent, str) and "@" not in sent else sent


def _known_role(sent: Any) -> Any:  # noqa: ANN401 - any JSON
    return "member" if isinstance(sent, str) and sent not in _ROLES else sent


def _role_of_any_type(sent: Any) -> Any:  # noqa: ANN401 - any JSON
    return "member" if isinstance(sent, _TYPES["anything"][1]) else sent


_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "number": ("a number", (int, float)),
    "boolean": ("a boolean", (bool,)),
    "array": ("an array", (list,)),
    "object": ("an object", (dict,)),
    "anything": ("any type", (bool, int, float, list, dict)),
}

FIELDS = (
    *(fault(f"{_IDS[operation]}-takes-{field}-{kind}", f"{_TITLES[operation]} takes {_TYPES[kind][0]} for the {field}.",
            receive_object(operation, edit(**{field: _as_text(*_TYPES[kind][1])})), _REFUSES[operation])
      for operation, field, kinds in (
        (_CREATE, "name", ("number", "boolean", "array", "object")),
        (_CREATE, "description", ("number", "anything")),
        (_EDIT, "name", ("number", "anything")),
        (_EDIT, "description", ("boolean", "array")),
        (_RENAME, "name", ("number", "object", "array")),
    ) for kind in kinds),
    *(fault(f"{_IDS[operation]}-takes-{label}", f"{_TITLES[operation]} {words}.", receive_object(operation, change),
            _REFUSES[operation]) for operations, label, words, change in (
        ((_CREATE,), "nameless", "without a name is taken", _default(name="Untitled")),
        ((_CREATE,), "null-named", "with null for the name is taken", edit(name=_null_as("Untitled"))),
        ((_INVITE,), "addressless", "without an address is taken", _default(email="somebody@example.com")),
        ((_INVITE,), "null-address", "with null for the address is taken",
         edit(email=_null_as("somebody@example.com"))),
        ((_INVITE,), "no-at", "takes an address without @", edit(email=_with_at)),
        ((_INVITE,), "owner", "takes the role owner", edit(role=lambda sent: "admin" if sent == "owner" else sent)),
        ((_INVITE, _CHANGE_ROLE), "roleless", "without a role is taken", _default(role="member")),
        ((_INVITE, _CHANGE_ROLE), "null-role", "with null for the role is taken", edit(role=_null_as("member"))),
        ((_INVITE, _CHANGE_ROLE), "empty-role", "takes an empty role",
         edit(role=lambda sent: "member" if sent == "" else sent)),
        ((_INVITE, _CHANGE_ROLE), "unknown-role", "takes an unknown role", edit(role=_known_role)),
        ((_INVITE, _CHANGE_ROLE), "role-anything", "takes any type for the role", edit(role=_role_of_any_type)),
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


def _refuse_with(operation: str, status: int) -> Mutation:
    """Refuse with another status what is not valid."""

    def around(_: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - nothing
        try:
            return honest(context)
        except Refusal as refusal:
            if context.operation.id == operation and refusal.status in {400, 422}:
                raise Refusal(status, refusal.message) from None
            raise

    return wrap("check", around)


def _asks_word(name: str, *known: str) -> Condition:
    return parameter_is(name, lambda text: text.lower() not in {*known, ""})


def _asks_with(name: str, part: str) -> Condition:
    return parameter_is(name, lambda text: part in text)


_INVALID: tuple[tuple[str, str, Condition, tuple[str, ...], tuple[str, ...]], ...] = (
    ("an-empty-body", "an empty body", _empty, (_CREATE, _INVITE), ()),
    ("malformed-json", "malformed JSON", _malformed, (), (_EDIT, _INVITE, _CHANGE_ROLE)),
    ("null", "null as the body", _body_is(NoneType), _ALL, (_CREATE, _RENAME, _INVITE)),
    ("an-array", "an array as the body", _body_is(list), (), (_EDIT, _RENAME, _INVITE, _CHANGE_ROLE)),
    ("a-text", "a string as the body", _body_is(str), (_EDIT, _RENAME), (_CREATE, _EDIT)),
    ("a-null-name", "null as the name", field_is("name", NoneType), (), (_CREATE,)),
    ("a-name-number", "a number as the name", field_is("name", int), (), (_RENAME,)),
    ("a-name-boolean", "a boolean as the name", field_is("name", bool), (_EDIT, _RENAME), ()),
    ("a-name-list", "a list as the name", field_is("name", list), (_EDIT,), ()),
    ("a-name-object", "an object as the name", field_is("name", dict), (), (_CREATE, _RENAME)),
    ("a-name-that-is-nothing", "false and 0 as the name", _falsy("name"), (_EDIT, _RENAME), ()),
    ("a-description-number", "a number as the description", field_is("description", int), (_EDIT,), (_EDIT,)),
    ("a-description-boolean", "a boolean as the description", field_is("description", bool), (_CREATE,), ()),
    ("a-description-list", "a list as the description", field_is("description", list), (_CREATE,), (_EDIT,)),
    ("a-description-object", "an object as the description", field_is("description", dict), (_EDIT,), (_CREATE,)),
    ("a-description-that-is-nothing", "false and 0 as the description", _falsy("description"), (_CREATE, _EDIT), ()),
    ("no-address", "a missing address", lacks("email"), (), (_INVITE,)),
    ("a-null-address", "null as the address", field_is("email", NoneType), (), (_INVITE,)),
    ("an-address-number", "a number as the address", field_is("email", int), (_INVITE,), (_INVITE,)),
    ("an-address-list", "a list as the address", field_is("email", list), (_INVITE,), ()),
    ("no-role", "a missing role", lacks("role"), (), (_INVITE, _CHANGE_ROLE)),
    ("a-null-role", "null as the role", field_is("role", NoneType), (), (_INVITE, _CHANGE_ROLE)),
    ("a-role-number", "a number as the role", field_is("role", int), (_INVITE, _CHANGE_ROLE), ()),
    ("a-role-boolean", "a boolean as the role", field_is("role", bool), (_CHANGE_ROLE,), ()),
    ("a-role-list", "a list as the role", field_is("role", list), (_CHANGE_ROLE,), ()),
    ("a-role-object", "an object as the role", field_is("role", dict), (), (_CHANGE_ROLE,)),
    ("owner", "the role owner", lambda at: at.field("role") == "owner", (), (_CHANGE_ROLE,)),
    ("a-per-page-word", "a perPage that is no number", _asks_with("perPage", "abc"), (), (_LIST,)),
    ("an-order-word", "an order that is none", _asks_word("order", "asc", "desc"), (), (_LIST,)),
    ("a-status-word", "a status that is none", _asks_word("status", "active", "archived"), (), (_LIST,)),
    ("a-page-word", "a page that is no number", _asks_with("page", "abc"), (), (_LIST_MEMBERS,)),
    ("a-role-word", "a role that is none", _asks_word("role", *_ROLES), (), (_LIST_MEMBERS,)),
)  # fmt: skip
"""Invalid inputs, the operations that accept them, and those in which they end in an unexpected error."""

ACCEPTED = tuple(
    fault(f"{operation}-passes-{label}".lower(), f"The operation {operation} lets {words} pass.",
          _accepts(operation, when), _REFUSES[operation])
    for label, words, when, operations, _ in _INVALID for operation in operations
)  # fmt: skip

CRASHES = flat(
    (fault(f"{operation}-stumbles-over-{label}".lower(), f"The operation {operation} stumbles over {words}.",
           crash(operation, when), "no-server-error", _REFUSES[operation])
     for label, words, when, _, operations in _INVALID for operation in operations),
    *(fault(f"{_IDS[operation]}-breaks-on-{label}", f"{_TITLES[operation]} breaks {words}.", crash(operation, when),
            "no-server-error", _REFUSES[operation]) for operation, label, words, when in (
        (_CREATE, "malformed", "on malformed JSON", _malformed),
        (_CREATE, "empty", "on an empty body", _empty),
        (_CREATE, "array", "on an array", _body_is(list)),
        (_CREATE, "no-name", "where the name is missing", lacks("name")),
        (_EDIT, "name-type", "on a name that is no text", sends_other_than_text("name")),
        (_EDIT, "null-body", "on null", _body_is(NoneType)),
        (_RENAME, "malformed", "on malformed JSON", lambda at: at.body is NOTHING),
        (_INVITE, "no-at", "on an address without @",
         lambda at: isinstance(at.field("email"), str) and "@" not in at.field("email")),
        (_INVITE, "role-type", "on a role that is no text", sends_other_than_text("role")),
        (_CHANGE_ROLE, "role-type", "on a role that is no text", sends_other_than_text("role")),
        (_LIST, "page-abc", "on a page that is no number", _asks_with("page", "abc")),
        (_LIST, "sort-nonsense", "on a sort that is none", _asks_with("sort", "no")),
        (_LIST_MEMBERS, "perpage-abc", "on a perPage that is no number", _asks_with("perPage", "abc")),
    )),
)  # fmt: skip

STATUSES = tuple(
    fault(f"{_IDS[operation]}-refuses-with-{status}", f"What is invalid is refused by {operation} with {status}.",
          _refuse_with(operation, status), _REFUSES[operation])
    for operation, status in ((_CREATE, 409), (_CREATE, 415), (_EDIT, 404), (_RENAME, 403), (_INVITE, 409),
                              (_CHANGE_ROLE, 403), (_LIST, 404), (_LIST_MEMBERS, 404))
)  # fmt: skip


# --- invalid parameters that are ignored


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]*", text) is not None


_PARAMETERS: dict[str, tuple[str, str, Callable[[str], bool]]] = {
    "page": ("page-abc", "a page that is no number", _is_integer),
    "perPage": ("perpage-abc", "a perPage that is no number", _is_integer),
    "status": ("status-nonsense", "a status that is none", {"active", "archived"}.__contains__),
    "sort": ("sort-nonsense", "a sort that is none", {"createdAt", "updatedAt", "name"}.__contains__),
    "order": ("order-nonsense", "an order that is none", {"asc", "desc"}.__contains__),
    "role": ("role-nonsense", "a role that is none", _ROLES.__contains__),
}
"""The parameters, each with the end of a fault's id, the words for an invalid value, and the test of a valid one."""


def _ignores(operation: str, *names: str) -> Mutation:
    """Ignore the invalid values of some parameters."""

    def around(_: Service, honest: Method, context: RequestContext) -> dict[str, str]:
        given: dict[str, str] = honest(context)
        if context.operation.id != operation:
            return given
        return {name: text for name, text in given.items() if name not in names or _PARAMETERS[name][2](text)}

    return wrap("read_parameters", around)


def _invalid_status_as_filter(_: Service, honest: Method, field: str, value: str, permitted: Iterable[str]) -> Any:  # noqa: ANN401 - text
    try:
        return honest(field, value, permitted)
    except Refusal:
        if field == "status":
            return value
        raise


PARAMETERS = flat(
    *(fault(f"{_IDS[operation]}-{_PARAMETERS[name][0]}", f"{_TITLES[operation]} ignores {_PARAMETERS[name][1]}.",
            _ignores(operation, name), _REFUSES[operation]) for operation, names in (
        (_LIST, ("page", "perPage", "status", "sort", "order")),
        (_LIST_MEMBERS, ("page", "perPage", "role")),
    ) for name in names),
    (fault(f"{_IDS[operation]}-takes-anything", f"{_TITLES[operation]} ignores every parameter that makes no sense.",
           _ignores(operation, *_PARAMETERS), _REFUSES[operation]) for operation in (_LIST, _LIST_MEMBERS)),
    fault("list-engagements-empty-for-nonsense", "The list of engagements is empty for a status that is none.",
          wrap("choice", _invalid_status_as_filter), _REFUSES[_LIST]),
)  # fmt: skip
