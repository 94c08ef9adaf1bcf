"""The state of the service: what it remembers, and how it is found again.

The store keeps and finds; what is allowed is the service's to say. Every call is synchronous and short. Who reads
before writing does so inside ``transaction()``, so that no other writer, be it another process on the same file, comes
in between.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from conformance.reference.database import Database, Row
from conformance.reference.records import (
    Engagement,
    Invitation,
    Key,
    Mail,
    Member,
    Organization,
    Page,
    Subordinate,
)
from conformance.reference.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from conformance.reference.queries import EngagementQuery, MemberQuery

_ORGANIZATION = (
    "SELECT id, name, slug, plan, require_two_factor, domain_auto_join, sso_enabled, created_at, updated_at"
    " FROM organizations"
)
_MEMBER = (
    "SELECT m.user_id, m.organization_id, u.name, u.email, m.role, m.joined_at, m.last_seen_at, m.updated_at"
    " FROM members m JOIN users u ON u.id = m.user_id"
)
_INVITATION = "SELECT id, organization_id, email, role, status, created_at, expires_at FROM invitations"
_ENGAGEMENT = "SELECT id, organization_id, name, description, status, created_at, updated_at FROM engagements"
_KEY = (
    "SELECT k.digest, k.organization_id, k.user_id, k.scopes, k.rate_limit, k.rate_window,"
    " k.user_id IS NOT NULL AND m.seq IS NULL"
    " FROM keys k LEFT JOIN members m ON m.organization_id = k.organization_id AND m.user_id = k.user_id"
)
_SETTINGS = slice(4, 7)
_EDITABLE = ("name", "description", "status")

_Record = Organization | Invitation | Engagement | Subordinate | Mail


def _columns(record: _Record) -> dict[str, object]:
    """Give the columns of a record whose fields are named as they are."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _organization(row: Row) -> Organization:
    """Read an organization, whose three settings SQLite keeps as numbers."""
    settings = (bool(setting) for setting in row[_SETTINGS])
    return Organization(*row[: _SETTINGS.start], *settings, *row[_SETTINGS.stop :])


class Store:
    """Everything the service remembers.

    Args:
        path: A database file, made where there is none; in memory by default.

    Attributes:
        keeps_latest_time: Whether the time of an engagement's last change is the latest that any change gave it.
    """

    def __init__(self, path: str = ":memory:") -> None:
        self._db = Database(path, TABLES)
        self.keeps_latest_time = True

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Do all of what follows, or none of it, with no other writer in between; may be nested."""
        return self._db.transaction()

    def execute(self, statement: str, *values: object) -> None:
        """Carry out a statement past all rules, as some deliberate faults do; the service itself never does."""
        self._db.execute(statement, *values)

    def next_number(self, kind: str) -> int:
        """Count up within an identifier space, from 1."""
        row = self._db.row(
            "INSERT INTO counters VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET value = value + 1 RETURNING value",
            kind,
        )
        return int(row[0]) if row else 0

    # Organizations

    def add_organization(self, organization: Organization) -> None:
        """Keep a new organization."""
        self._db.insert("organizations", _columns(organization))

    def organization(self, organization_id: str) -> Organization:
        """Give an organization that exists.

        Raises:
            LookupError: There is none.
        """
        row = self._db.row(f"{_ORGANIZATION} WHERE id = ?", organization_id)
        if row is None:
            raise LookupError(organization_id)
        return _organization(row)

    def organization_ids(self) -> list[str]:
        """Give all organizations, the oldest first."""
        return [row[0] for row in self._db.rows("SELECT id FROM organizations ORDER BY seq")]

    def rename_organization(self, organization_id: str, name: str, at: int) -> None:
        """Give an organization another name."""
        statement = "UPDATE organizations SET name = ?, updated_at = max(updated_at, ?) WHERE id = ?"
        self._db.execute(statement, name, at, organization_id)

    def count_members(self, organization_id: str) -> int:
        """Count the members of an organization."""
        return self._db.count("members WHERE organization_id = ?", organization_id)

    def count_engagements(self, organization_id: str) -> int:
        """Count the engagements of an organization, in whatever state."""
        return self._db.count("engagements WHERE organization_id = ?", organization_id)

    # Users, members, invitations

    def add_user(self, user_id: str, name: str, email: str) -> None:
        """Keep a new user account."""
        self._db.insert("users", {"id": user_id, "name": name, "email": email})

    def user_by_email(self, email: str) -> str | None:
        """Find a user account by address, in any letter case."""
        row = self._db.row("SELECT id FROM users WHERE lower(email) = lower(?)", email)
        return row[0] if row else None

    def is_member_elsewhere(self, organization_id: str, user_id: str) -> bool:
        """Tell whether a user is a member of another organization."""
        return self._db.count("members WHERE user_id = ? AND organization_id <> ?", user_id, organization_id) > 0

    def add_member(self, organization_id: str, user_id: str, role: str, at: int, last_seen_at: int | None) -> None:
        """Make a user a member."""
        values = {"organization_id": organization_id, "user_id": user_id, "role": role}
        self._db.insert("members", {**values, "joined_at": at, "last_seen_at": last_seen_at, "updated_at": at})

    def member(self, organization_id: str, user_id: str) -> Member | None:
        """Find a member by user."""
        row = self._db.row(f"{_MEMBER} WHERE m.organization_id = ? AND m.user_id = ?", organization_id, user_id)
        return Member(*row) if row else None

    def member_by_email(self, organization_id: str, email: str) -> Member | None:
        """Find a member by address, in any letter case."""
        statement = f"{_MEMBER} WHERE m.organization_id = ? AND lower(u.email) = lower(?)"
        row = self._db.row(statement, organization_id, email)
        return Member(*row) if row else None

    def members(self, query: MemberQuery) -> Page[Member]:
        """Give one page of an organization's members."""
        return self._db.page(_MEMBER, query, Member)

    def count_owners(self, organization_id: str) -> int:
        """Count the owners of an organization."""
        return self._db.count("members WHERE organization_id = ? AND role = 'owner'", organization_id)

    def change_role(self, organization_id: str, user_id: str, role: str, at: int) -> None:
        """Give a member another role."""
        statement = (
            "UPDATE members SET role = ?, updated_at = max(updated_at, ?) WHERE organization_id = ? AND user_id = ?"
        )
        self._db.execute(statement, role, at, organization_id, user_id)

    def touch_member(self, organization_id: str, user_id: str, at: int) -> None:
        """Note when a member was last active."""
        statement = "UPDATE members SET last_seen_at = ? WHERE organization_id = ? AND user_id = ?"
        self._db.execute(statement, at, organization_id, user_id)

    def remove_member(self, organization_id: str, user_id: str) -> None:
        """End a membership; the user account stays."""
        self._db.execute("DELETE FROM members WHERE organization_id = ? AND user_id = ?", organization_id, user_id)

    def add_invitation(self, invitation: Invitation, token_digest: str) -> None:
        """Keep a new invitation with the digest of the token in its link."""
        self._db.insert("invitations", {**_columns(invitation), "token_digest": token_digest})

    def open_invitation(self, organization_id: str, email: str, at: int) -> Invitation | None:
        """Find an invitation that still can be accepted, by address in any letter case."""
        condition = "organization_id = ? AND lower(email) = lower(?) AND status = 'pending' AND expires_at > ?"
        row = self._db.row(f"{_INVITATION} WHERE {condition}", organization_id, email, at)
        return Invitation(*row) if row else None

    def invitation_by_token(self, token_digest: str) -> Invitation | None:
        """Find the invitation that a link belongs to."""
        row = self._db.row(f"{_INVITATION} WHERE token_digest = ?", token_digest)
        return Invitation(*row) if row else None

    def set_invitation_status(self, invitation_id: str, status: str) -> None:
        """Move an invitation to another status."""
        self._db.execute("UPDATE invitations SET status = ? WHERE id = ?", status, invitation_id)

    # Engagements and what belongs to them

    def add_engagement(self, engagement: Engagement, *others: Engagement) -> None:
        """Keep new engagements."""
        self._db.insert("engagements", *map(_columns, (engagement, *others)))

    def engagement(self, engagement_id: str) -> Engagement | None:
        """Find an engagement, whichever organization it belongs to."""
        row = self._db.row(f"{_ENGAGEMENT} WHERE id = ?", engagement_id)
        return Engagement(*row) if row else None

    def engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Give one page of an organization's engagements."""
        return self._db.page(_ENGAGEMENT, query, Engagement)

    def engagement_names(self, organization_id: str, *, besides: str | None, status: str | None) -> list[str]:
        """Give the names in use, without that of one engagement, in one state or in all."""
        condition = "organization_id = ? AND id IS NOT ? AND status = coalesce(?, status)"
        statement = f"SELECT name FROM engagements WHERE {condition}"  # noqa: S608 - the values are bound
        return [row[0] for row in self._db.rows(statement, organization_id, besides, status)]

    def edit_engagement(self, engagement_id: str, changes: Mapping[str, str | None], at: int) -> None:
        """Change name, description or status: only what is given, so that parallel edits do not undo each other.

        The time of the last change never goes back, whatever the clock does, unless ``keeps_latest_time`` is False.
        """
        columns = [column for column in _EDITABLE if column in changes]
        time = "updated_at = max(updated_at, ?)" if self.keeps_latest_time else "updated_at = ?"
        parts = ", ".join([*(f"{column} = ?" for column in columns), time])
        values = [changes[column] for column in columns]
        self._db.execute(f"UPDATE engagements SET {parts} WHERE id = ?", *values, at, engagement_id)  # noqa: S608 - of our own names

    def delete_engagement(self, engagement_id: str) -> None:
        """Forget an engagement; its subordinate records are forgotten one kind at a time."""
        self._db.execute("DELETE FROM engagements WHERE id = ?", engagement_id)

    def add_subordinate(self, subordinate: Subordinate) -> None:
        """Keep a record of an engagement."""
        self._db.insert("subordinates", _columns(subordinate))

    def subordinate_exists(self, subordinate: Subordinate) -> bool:
        """Tell whether exactly this record of an engagement is kept."""
        condition = "subordinates WHERE id = ? AND engagement_id = ? AND kind = ?"
        return self._db.count(condition, subordinate.id, subordinate.engagement_id, subordinate.kind) > 0

    def delete_subordinates(self, engagement_id: str, kind: str) -> None:
        """Forget all records of one kind that an engagement has."""
        self._db.execute("DELETE FROM subordinates WHERE engagement_id = ? AND kind = ?", engagement_id, kind)

    # Keys and mail

    def add_key(self, key: Key) -> None:
        """Keep what a new key may do."""
        values = {"digest": key.digest, "organization_id": key.organization_id, "user_id": key.user_id}
        limits = {"rate_limit": key.limit, "rate_window": key.window}
        self._db.insert("keys", {**values, "scopes": " ".join(sorted(key.scopes)), **limits})

    def key(self, digest: str) -> Key | None:
        """Find a key by its digest; it is revoked where the member whom it belongs to is no longer one."""
        row = self._db.row(f"{_KEY} WHERE k.digest = ?", digest)
        if row is None:
            return None
        digest, organization_id, user_id, scopes, limit, window, revoked = row
        return Key(digest, organization_id, user_id, frozenset(scopes.split()), limit, window, bool(revoked))

    def add_mail(self, mail: Mail) -> None:
        """Keep a message that was sent."""
        self._db.insert("mails", _columns(mail))

    def mails(self, recipient: str) -> list[Mail]:
        """Give the messages to an address, in any letter case, the oldest first."""
        statement = "SELECT sender, recipient, subject, text FROM mails WHERE lower(recipient) = lower(?) ORDER BY seq"
        return [Mail(*row) for row in self._db.rows(statement, recipient)]
