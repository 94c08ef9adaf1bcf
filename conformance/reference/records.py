"""What the store keeps, as plain values; moments are milliseconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

SCOPES = ("organizations:read", "organizations:write", "engagements:read", "engagements:write", "engagements:delete")
"""The five permissions that a key may carry."""

ROLES = ("owner", "admin", "member")
"""The roles of members."""

SUBORDINATE_KINDS = ("target", "task", "wikiPage", "report", "threatModel", "apiRequest")
"""The six kinds of records that belong to an engagement."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Organization:
    """An organization and its settings."""

    id: str
    name: str
    slug: str
    plan: str
    require_two_factor: bool
    domain_auto_join: bool
    sso_enabled: bool
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Member:
    """A user's membership of one organization."""

    user_id: str
    organization_id: str
    name: str
    email: str
    role: str
    joined_at: int
    last_seen_at: int | None
    updated_at: int


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation to join an organization."""

    id: str
    organization_id: str
    email: str
    role: str
    status: str
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class Engagement:
    """One security assessment."""

    id: str
    organization_id: str
    name: str
    description: str | None
    status: str
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Subordinate:
    """A record that belongs to an engagement."""

    id: str
    engagement_id: str
    kind: str


@dataclass(frozen=True, slots=True)
class Key:
    """What an API key may do; the key itself is not kept, only its digest."""

    digest: str
    organization_id: str
    user_id: str | None
    scopes: frozenset[str]
    limit: int | None = None
    """Requests a window, where the key has a limit of its own."""
    window: int | None = None
    """Seconds of a window, where the key has a window of its own."""
    revoked: bool = False
    """Whether the member whom it belongs to has been removed."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A message that the service sent."""

    sender: str
    recipient: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A part of a list, and how long the whole list is."""

    items: tuple[Item, ...]
    total: int
