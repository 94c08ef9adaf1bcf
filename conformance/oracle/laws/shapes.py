"""Fields that each operation promises: presence and type only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from conformance.interface.fields import SETTINGS
from conformance.oracle import read
from conformance.oracle.rendering import kind_of, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Kind = Literal["string", "integer", "boolean", "object"]


@dataclass(frozen=True, slots=True)
class Field:
    """One promised field.

    Attributes:
        path: Its name, or names from the outside in ("settings", "ssoEnabled").
        kind: The JSON type; integer as in JSON Schema, so that 3.0 is an integer.
        time: Whether it is a timestamp.
        optional: Whether it may be absent.
        nullable: Whether it may be null.
    """

    path: tuple[str, ...]
    kind: Kind = "string"
    time: bool = False
    optional: bool = False
    nullable: bool = False

    @property
    def pointer(self) -> str:
        """The place below the resource, as a JSON pointer."""
        return "".join(f"/{name}" for name in self.path)


def _strings(*names: str) -> tuple[Field, ...]:
    return tuple(Field((name,)) for name in names)


def _times(*names: str) -> tuple[Field, ...]:
    return tuple(Field((name,), time=True) for name in names)


_SETTINGS: Final = (
    Field(("settings",), "object"),
    *(Field(("settings", name), "boolean") for name in SETTINGS),
)
_ORGANIZATION: Final = (
    *_strings("id", "name", "slug", "plan"),
    Field(("memberCount",), "integer"),
    Field(("engagementCount",), "integer"),
    *_times("createdAt"),
    *_SETTINGS,
)
_UPDATED_ORGANIZATION: Final = (*_strings("id", "name", "slug"), *_times("updatedAt"))
_MEMBER: Final = (
    *_strings("id", "name", "email", "role"),
    *_times("joinedAt"),
    Field(("lastSeenAt",), time=True, nullable=True),
)
_INVITATION: Final = (*_strings("id", "email", "role", "status"), *_times("expiresAt", "createdAt"))
_UPDATED_ROLE: Final = (*_strings("id", "role"), *_times("updatedAt"))
_REMOVAL: Final = (Field(("removed",), "boolean"), *_strings("userId"))
_ENGAGEMENT: Final = (
    *_strings("id", "name"),
    Field(("description",), optional=True, nullable=True),
    *_strings("status"),
    *_times("createdAt", "updatedAt"),
)
_ARCHIVED: Final = (*_strings("id", "status"), *_times("updatedAt"))
_DELETION: Final = (Field(("deleted",), "boolean"), *_strings("id"))

_PROMISED: Final = {
    "getCurrentOrganization": ("get-organization-fields", _ORGANIZATION),
    "updateCurrentOrganization": ("update-organization-fields", _UPDATED_ORGANIZATION),
    "listMembers": ("list-members-fields", _MEMBER),
    "inviteMember": ("invite-fields", _INVITATION),
    "updateMemberRole": ("update-role-fields", _UPDATED_ROLE),
    "removeMember": ("remove-member-fields", _REMOVAL),
    "listEngagements": ("list-engagements-fields", _ENGAGEMENT),
    "createEngagement": ("create-engagement-fields", _ENGAGEMENT),
    "getEngagement": ("get-engagement-fields", _ENGAGEMENT),
    "archiveEngagement": ("archive-engagement-fields", _ARCHIVED),
    "deleteEngagement": ("delete-engagement-fields", _DELETION),
}
SHAPES: Final[Mapping[str, tuple[Field, ...]]] = {operation: shape for operation, (_, shape) in _PROMISED.items()}
"""The fields of ``data`` (of each item for a list) by operationId; the other operations promise none."""
PROMISES: Final[Mapping[str, str]] = {operation: requirement for operation, (requirement, _) in _PROMISED.items()}
"""The requirement that promises these fields, by operationId."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field that is not as promised."""

    pointer: str
    expected: str
    actual: str


def field_errors(resource: Mapping[str, Any], shape: tuple[Field, ...], at: str = "/data") -> Iterator[FieldError]:
    """Yield every promised field that is absent, null or of another type.

    Args:
        resource: A JSON object.
        shape: The fields that it must have.
        at: The JSON pointer of the object within the body.
    """
    for field in shape:
        holder, found = _look_up(resource, field)
        if holder is None:
            continue
        if not found:
            if not field.optional:
                yield FieldError(at + field.pointer, _article(field.kind), "absent")
        else:
            value = holder[field.path[-1]]
            if not (value is None and field.nullable) and not _is(value, field.kind):
                yield FieldError(at + field.pointer, _article(field.kind), f"{render(value)} ({kind_of(value)})")


def times(resource: Mapping[str, Any], shape: tuple[Field, ...]) -> Iterator[tuple[str, str]]:
    """Yield pointer below the resource and text of every timestamp that is a string."""
    for field in shape:
        if not field.time:
            continue
        holder, found = _look_up(resource, field)
        if holder is not None and found and isinstance(holder[field.path[-1]], str):
            yield field.pointer, holder[field.path[-1]]


def _look_up(resource: Mapping[str, Any], field: Field) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the object that should hold the field (None if that is no object), and whether it does."""
    holder: Any = resource
    for name in field.path[:-1]:
        holder = holder.get(name)
        if not isinstance(holder, dict):
            return None, False
    return holder, field.path[-1] in holder


def _is(value: object, kind: Kind) -> bool:
    if kind == "integer":
        return read.integer_or_none(value) is not None
    return kind_of(value) == kind


def _article(kind: Kind) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"
