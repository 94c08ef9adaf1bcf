"""Records of the store as plain values; times are milliseconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

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
    """A security assessment."""

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
    """An API key; only its digest is stored."""

    digest: str
    organization_id: str
    user_id: str | None
    scopes: frozenset[str]
    limit: int | None = None
    """Requests per window, if the key has its own limit."""
    window: int | None = None
    """Seconds of a window, if the key has its own window."""
    revoked: bool = False
    """Whether its member was removed."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A message that the service sent."""

    sender: str
    recipient: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A part of a list and the length of the whole list."""

    items: tuple[Item, ...]
    total: int
