"""Faults of promised fields: one for each field of each operation, left out, null or of another type."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import instead, shown, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.faults import Fault
    from conformance.reference.views import View

_ENGAGEMENT = ("id", "name", "status", "createdAt", "updatedAt")

_PROMISED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "get-organization",
        "view_organization",
        "the organization",
        ("id", "name", "slug", "plan", "memberCount", "engagementCount", "createdAt", "settings"),
    ),
    ("update-organization", "view_renamed", "the renamed organization", ("id", "name", "slug", "updatedAt")),
    ("list-members", "view_member", "a listed member", ("id", "name", "email", "role", "joinedAt", "lastSeenAt")),
    (
        "invite",
        "view_invitation",
        "an invitation",
        ("id", "email", "role", "status", "expiresAt", "createdAt"),
    ),
    ("update-role", "view_role", "a changed role", ("id", "role", "updatedAt")),
    ("remove-member", "view_removed", "a removal", ("removed", "userId")),
    ("list-engagements", "view_item", "a listed engagement", _ENGAGEMENT),
    ("create-engagement", "view_created", "a new engagement", _ENGAGEMENT),
    ("get-engagement", "view_read", "a read engagement", _ENGAGEMENT),
    ("archive-engagement", "view_archived", "an archived engagement", ("id", "status", "updatedAt")),
    ("delete-engagement", "view_deleted", "a deletion", ("deleted", "id")),
)
"""Prefix of the ids, the method that shows it, it in words, its fields; the requirement is the prefix with -fields."""

_SETTINGS = ("requireTwoFactor", "domainAutoJoin", "ssoEnabled")


def _other_type(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Say the same in another JSON type."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return [value]
    return str(value) if isinstance(value, int) else 17


def _variants(path: tuple[str, ...]) -> tuple[tuple[str, str, Callable[[View], View]], ...]:
    return (
        ("without", "is missing", without(path)),
        ("null", "is null", instead(path, lambda _: None)),
        ("mistyped", "is of another type", instead(path, _other_type)),
    )


def _faults() -> Iterator[Fault]:
    turn = cycle(range(3))
    for prefix, view, words, fields in _PROMISED:
        for field in fields:
            variant = 0 if field == "lastSeenAt" else next(turn)  # its null is permitted
            yield _fault(prefix, view, words, (field,), variant)


def _fault(prefix: str, view: str, words: str, path: tuple[str, ...], variant: int) -> Fault:
    label, verb, change = _variants(path)[variant]
    identifier = f"{prefix}-{label}-{path[-1].lower()}"
    title = f"The field {path[-1]} of {words} {verb}."
    return shown(identifier, title, view, change, f"{prefix}-fields")


FIELDS = tuple(_faults())

SETTINGS = tuple(
    _fault("get-organization", "view_organization", "the settings", ("settings", name), variant)
    for variant, name in enumerate(_SETTINGS)
)

DESCRIPTIONS = tuple(
    shown(
        f"{prefix}-mistyped-description",
        f"The description of {words} is a list.",
        view,
        instead(("description",), lambda text: [text]),
        f"{prefix}-fields",
    )
    for prefix, view, words, fields in _PROMISED
    if fields == _ENGAGEMENT
)
