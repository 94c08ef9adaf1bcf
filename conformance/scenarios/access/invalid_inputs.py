"""Certainly invalid inputs: bodies and query parameters that no service may accept, as data.

Bodies are written as they are sent. Placeholders: ``LABEL`` for a unique text of the run, ``DOMAIN`` for the
domain of invited addresses, ``ROLE`` for a role that the member does not have. If the JSON type allows it, a body
carries its label, so that a resource that a faulty service makes of it can be found.

Inputs that the interface leaves open are omitted: ``null`` for an optional field, an object without fields as an
update, other letter case, unusual number formats, empty names and parameters, unknown and repeated names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Kind(StrEnum):
    """Defect of a request."""

    MALFORMED = "malformed"
    NO_OBJECT = "no object"
    MISSING = "missing"
    TYPE = "type"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class InvalidBody:
    """A body that is certainly invalid.

    Attributes:
        kind: Its defect.
        what: A description that completes "createEngagement with ...".
        template: The body as sent, with placeholders.
        thorough: Whether it is left out of quick runs.
    """

    kind: Kind
    what: str
    template: str
    thorough: bool = False

    @property
    def carries_label(self) -> bool:
        """Whether a resource made of the body could be recognized by its label."""
        return "LABEL" in self.template

    def wire(self, *, label: str, domain: str = "", role: str = "") -> bytes:
        """Return the bytes to send."""
        text = self.template.replace("LABEL", label).replace("DOMAIN", domain).replace("ROLE", role)
        return text.encode()


@dataclass(frozen=True, slots=True)
class InvalidQuery:
    """Query parameters of which one at least is certainly invalid.

    Attributes:
        what: A description that completes "listMembers with ...".
        query: The parameters.
    """

    what: str
    query: tuple[tuple[str, str], ...]


def _malformed(valid: str, lenient: str = "single quotes") -> Iterator[InvalidBody]:
    """Yield variants of a valid object that no JSON grammar admits.

    The text after a body resembles a comment, for readers that accept comments.

    Args:
        valid: The object.
        lenient: The defect that only lenient readers accept and a quick run tries. Each operation tries another, since
            a service parses the bodies of all its operations alike.
    """
    unquoted = valid.replace('{"', "{").replace(', "', ", ").replace('":', ":")
    yield InvalidBody(Kind.MALFORMED, "a body that is cut short", valid[:-1])
    yield InvalidBody(Kind.MALFORMED, "text after the body", f"{valid} // and more")
    for what, template in (
        ("single quotes", valid.replace('"', "'")),
        ("a comma too many", f"{valid[:-1]},}}"),
        ("names without quotes", unquoted),
    ):
        yield InvalidBody(Kind.MALFORMED, what, template, thorough=what != lenient)
    yield InvalidBody(Kind.MALFORMED, "two bodies", f"{valid} {valid}", thorough=True)
    yield InvalidBody(Kind.MALFORMED, "a bare word as the body", "LABEL", thorough=True)


def _no_object(valid: str, *, thorough_string: bool = False) -> Iterator[InvalidBody]:
    """Yield every JSON type but object as a body."""
    yield InvalidBody(Kind.NO_OBJECT, "an array as the body", f"[{valid}]")
    yield InvalidBody(Kind.NO_OBJECT, "a string as the body", '"LABEL"', thorough_string)
    yield InvalidBody(Kind.NO_OBJECT, "a number as the body", "12345", thorough=True)
    yield InvalidBody(Kind.NO_OBJECT, "null as the body", "null")
    yield InvalidBody(Kind.NO_OBJECT, "a boolean as the body", "true", thorough=True)
    yield InvalidBody(Kind.NO_OBJECT, "an empty array as the body", "[]", thorough=True)


def _no_string(field: str, body: str, text: str = "LABEL", *, optional: bool = False) -> Iterator[InvalidBody]:
    """Yield every JSON type but string and null in place of VALUE.

    Some languages treat 0, false and empty values as absent. A service that only checks for presence then refuses
    such a value of a required field, and ignores it for an optional field.
    """
    for name, value, thorough in (
        ("a number", "12345", False),
        ("true", "true", optional),
        ("an array", f'["{text}"]', False),
        ("an object", f'{{"value": "{text}"}}', False),
        ("0", "0", True),
        ("a fraction", "1.5", True),
        ("false", "false", not optional),
        ("an empty array", "[]", True),
        ("an empty object", "{}", True),
    ):
        yield InvalidBody(Kind.TYPE, f"{name} for {field}", body.replace("VALUE", value), thorough)


_EMPTY: Final = InvalidBody(Kind.MALFORMED, "an empty body", "")
_BOTH: Final = InvalidBody(Kind.TYPE, "a number for name and for description", '{"name": 12345, "description": 12345}')
_NAMED: Final = '{"name": "LABEL"}'
_INVITED: Final = '{"email": "LABEL@DOMAIN", "role": "member"}'
_ROLE: Final = '{"role": "ROLE"}'


def _missing(what: str, template: str, *, thorough: bool = False) -> InvalidBody:
    return InvalidBody(Kind.MISSING, what, template, thorough)


def _value(what: str, template: str, *, thorough: bool = False) -> InvalidBody:
    return InvalidBody(Kind.VALUE, what, template, thorough)


BODIES: Final[Mapping[str, tuple[InvalidBody, ...]]] = MappingProxyType(
    {
        "createEngagement": (
            *_malformed(_NAMED),
            _EMPTY,
            *_no_object(_NAMED),
            _missing("no name", '{"description": "LABEL"}'),
            _missing("null for name", '{"name": null, "description": "LABEL"}'),
            _missing("no field at all", "{}", thorough=True),
            *_no_string("name", '{"name": VALUE, "description": "LABEL"}'),
            *_no_string("description", '{"name": "LABEL", "description": VALUE}', optional=True),
            _BOTH,
        ),
        "updateEngagement": (
            *_malformed(_NAMED, "a comma too many"),
            *_no_object(_NAMED),
            *_no_string("name", '{"name": VALUE, "description": "LABEL"}', optional=True),
            *_no_string("description", '{"name": "LABEL", "description": VALUE}', optional=True),
            _BOTH,
        ),
        "updateCurrentOrganization": (
            *_malformed(_NAMED),
            *_no_object(_NAMED),
            *_no_string("name", '{"name": VALUE}', optional=True),
        ),
        "inviteMember": (
            *_malformed(_INVITED),
            _EMPTY,
            *_no_object(_INVITED, thorough_string=True),
            _missing("no email", '{"role": "member"}'),
            _missing("no role", '{"email": "LABEL@DOMAIN"}'),
            _missing("null for email", '{"email": null, "role": "member"}'),
            _missing("null for role", '{"email": "LABEL@DOMAIN", "role": null}'),
            _missing("no field at all", "{}"),
            *_no_string("email", '{"email": VALUE, "role": "member"}', "LABEL@DOMAIN"),
            *_no_string("role", '{"email": "LABEL@DOMAIN", "role": VALUE}', "member"),
            InvalidBody(Kind.TYPE, "a number for email and for role", '{"email": 12345, "role": 12345}'),
            _value("an email without @", '{"email": "LABEL.DOMAIN", "role": "member"}'),
            _value("an email without @ and dot", '{"email": "LABEL", "role": "member"}', thorough=True),
            _value("the role owner", '{"email": "LABEL@DOMAIN", "role": "owner"}'),
            _value("an unknown role", r'{"email": "LABEL@DOMAIN", "role": "no \"such\" role\\"}'),
            _value("an empty role", '{"email": "LABEL@DOMAIN", "role": ""}'),
            _value("an empty email", '{"email": "", "role": "member"}', thorough=True),
        ),
        "updateMemberRole": (
            *_malformed(_ROLE, "names without quotes"),
            _EMPTY,
            *_no_object(_ROLE, thorough_string=True),
            _missing("no role", "{}"),
            _missing("null for role", '{"role": null}'),
            *_no_string("role", '{"role": VALUE}', "ROLE"),
            _value("an unknown role", '{"role": "no-such-role"}'),
            _value("an empty role", '{"role": ""}'),
        ),
    }
)
"""The certainly invalid bodies of each operation that takes one. ``owner`` as a new role has rules of its own."""


_VALID: Final = {"role": "member", "status": "active", "sort": "name", "order": "asc", "page": "1", "perPage": "5"}


def _queries(**invalid: str) -> tuple[InvalidQuery, ...]:
    """Return each invalid parameter alone and with all others valid, and the first two together."""
    asked = [{name: value} for name, value in invalid.items()]
    asked += [{**{other: _VALID[other] for other in invalid}, **query} for query in asked]
    asked.append(dict([*invalid.items()][:2]))
    return tuple(
        InvalidQuery("&".join(f"{name}={value}" for name, value in query.items()), tuple(query.items()))
        for query in asked
    )


QUERIES: Final[Mapping[str, tuple[InvalidQuery, ...]]] = MappingProxyType(
    {
        "listMembers": _queries(role="no-such-role", page="abc", perPage="abc"),
        "listEngagements": _queries(
            status="no-such-status", sort="no-such-field", order="no-such-order", page="abc", perPage="abc"
        ),
    }
)
"""The certainly invalid query parameters of each list."""


def bodies(operation: str, *, thorough: bool) -> list[InvalidBody]:
    """Return the certainly invalid bodies of an operation, all of them or those of a quick run."""
    return [body for body in BODIES[operation] if thorough or not body.thorough]
