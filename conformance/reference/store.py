"""State of the service in SQLite.

The store stores and finds records; the service decides what is allowed. Every call is synchronous and short. Code that
reads before it writes does both inside ``transaction()``, which excludes other writers, also of other processes.
"""

from __future__ import annotations

from dataclasses import fields
from secrets import token_urlsafe
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
    """Return the columns of a record whose fields have the same names."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _organization(row: Row) -> Organization:
    """Return an organization from its row; SQLite stores its three settings as numbers."""
    settings = (bool(setting) for setting in row[_SETTINGS])
    return Organization(*row[: _SETTINGS.start], *settings, *row[_SETTINGS.stop :])


class Store:
    """The records of the service.

    Args:
        path: A database file, created if it is missing; in memory by default.

    Attributes:
        keeps_latest_time: Whether an engagement keeps the latest time of all its changes, not that of its last change.
    """

    def __init__(self, path: str = ":memory:") -> None:
        self._db = Database(path, TABLES)
        self.keeps_latest_time = True

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Run the block as a transaction, with no other writer in between; may be nested."""
        return self._db.transaction()

    def execute(self, statement: str, *values: object) -> None:
        """Execute a statement; only faults use this."""
        self._db.execute(statement, *values)

    def next_number(self, kind: str) -> int:
        """Return the next number of an identifier space, from 1."""
        row = self._db.row(
            "INSERT INTO counters VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET value = value + 1 RETURNING value",
            kind,
        )
        return int(row[0]) if row else 0

    # Organizations

    def add_organization(self, organization: Organization) -> None:
        """Insert an organization."""
        self._db.insert("organizations", _columns(organization))

    def organization(self, organization_id: str) -> Organization:
        """Return an organization.

        Raises:
            LookupError: The organization does not exist.
        """
        row = self._db.row(f"{_ORGANIZATION} WHERE id = ?", organization_id)
        if row is None:
            raise LookupError(organization_id)
        return _organization(row)

    def organization_ids(self) -> list[str]:
        """Return the ids of all organizations, the oldest first."""
        return [row[0] for row in self._db.rows("SELECT id FROM organizations ORDER BY seq")]

    def rename_organization(self, organization_id: str, name: str, at: int) -> None:
        """Rename an organization."""
        statement = "UPDATE organizations SET name = ?, updated_at = max(updated_at, ?) WHERE id = ?"
        self._db.execute(statement, name, at, organization_id)

    def switch_two_factor(self, organization_id: str, at: int) -> None:
        """Change whether an organization requires a second factor."""
        statement = "UPDATE organizations SET require_two_factor = NOT require_two_factor, updated_at = ? WHERE id = ?"
        self._db.execute(statement, at, organization_id)

    def count_members(self, organization_id: str) -> int:
        """Count the members of an organization."""
        return self._db.count("members WHERE organization_id = ?", organization_id)

    def count_engagements(self, organization_id: str) -> int:
        """Count the engagements of an organization, of every status."""
        return self._db.count("engagements WHERE organization_id = ?", organization_id)

    # Users, members, invitations

    def add_user(self, user_id: str, name: str, email: str) -> None:
        """Insert a user account."""
        self._db.insert("users", {"id": user_id, "name": name, "email": email})

    def user_by_email(self, email: str) -> str | None:
        """Find the id of a user account by address, in any letter case."""
        row = self._db.row("SELECT id FROM users WHERE lower(email) = lower(?)", email)
        return row[0] if row else None

    def is_member_elsewhere(self, organization_id: str, user_id: str) -> bool:
        """Whether a user is a member of another organization."""
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
        """Return a page of an organization's members."""
        return self._db.page(_MEMBER, query, Member)

    def count_owners(self, organization_id: str) -> int:
        """Count the owners of an organization."""
        return self._db.count("members WHERE organization_id = ? AND role = 'owner'", organization_id)

    def change_role(self, organization_id: str, user_id: str, role: str, at: int) -> None:
        """Change the role of a member."""
        statement = (
            "UPDATE members SET role = ?, updated_at = max(updated_at, ?) WHERE organization_id = ? AND user_id = ?"
        )
        self._db.execute(statement, role, at, organization_id, user_id)

    def touch_member(self, organization_id: str, user_id: str, at: int) -> None:
        """Store when a member was last active."""
        statement = "UPDATE members SET last_seen_at = ? WHERE organization_id = ? AND user_id = ?"
        self._db.execute(statement, at, organization_id, user_id)

    def remove_member(self, organization_id: str, user_id: str) -> None:
        """Delete a membership; the user account remains."""
        self._db.execute("DELETE FROM members WHERE organization_id = ? AND user_id = ?", organization_id, user_id)

    def add_invitation(self, invitation: Invitation, token_digest: str) -> None:
        """Insert an invitation with the digest of the token in its link."""
        self._db.insert("invitations", {**_columns(invitation), "token_digest": token_digest})

    def open_invitation(self, organization_id: str, email: str, at: int) -> Invitation | None:
        """Find an open invitation by address, in any letter case."""
        condition = "organization_id = ? AND lower(email) = lower(?) AND status = 'pending' AND expires_at > ?"
        row = self._db.row(f"{_INVITATION} WHERE {condition}", organization_id, email, at)
        return Invitation(*row) if row else None

    def invitation_by_token(self, token_digest: str) -> Invitation | None:
        """Find the invitation of a link."""
        row = self._db.row(f"{_INVITATION} WHERE token_digest = ?", token_digest)
        return Invitation(*row) if row else None

    def set_accepted(self, invitation_id: str) -> None:
        """Change the status of an invitation to accepted."""
        self._db.execute("UPDATE invitations SET status = 'accepted' WHERE id = ?", invitation_id)

    # Engagements and their subordinate records

    def add_engagement(self, engagement: Engagement, *others: Engagement) -> None:
        """Insert engagements."""
        self._db.insert("engagements", *map(_columns, (engagement, *others)))

    def engagement(self, engagement_id: str) -> Engagement | None:
        """Find an engagement of any organization."""
        row = self._db.row(f"{_ENGAGEMENT} WHERE id = ?", engagement_id)
        return Engagement(*row) if row else None

    def engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Return a page of an organization's engagements."""
        return self._db.page(_ENGAGEMENT, query, Engagement)

    def engagement_names(self, organization_id: str, *, besides: str | None, status: str | None) -> list[str]:
        """Return the names in use, except that of ``besides``, of one status or of all."""
        condition = "organization_id = ? AND id IS NOT ? AND status = coalesce(?, status)"
        statement = f"SELECT name FROM engagements WHERE {condition}"  # noqa: S608 - the values are bound
        return [row[0] for row in self._db.rows(statement, organization_id, besides, status)]

    def edit_engagement(self, engagement_id: str, changes: Mapping[str, str | None], at: int) -> None:
        """Change only the given columns, so that parallel edits do not undo each other.

        The time of the last change never goes back, unless ``keeps_latest_time`` is False.
        """
        columns = [column for column in _EDITABLE if column in changes]
        time = "updated_at = max(updated_at, ?)" if self.keeps_latest_time else "updated_at = ?"
        parts = ", ".join([*(f"{column} = ?" for column in columns), time])
        values = [changes[column] for column in columns]
        self._db.execute(f"UPDATE engagements SET {parts} WHERE id = ?", *values, at, engagement_id)  # noqa: S608 - the names are literals

    def delete_engagement(self, engagement_id: str) -> None:
        """Delete an engagement; ``delete_subordinates`` deletes its records."""
        self._db.execute("DELETE FROM engagements WHERE id = ?", engagement_id)

    def add_subordinate(self, subordinate: Subordinate) -> None:
        """Insert a record of an engagement."""
        self._db.insert("subordinates", _columns(subordinate))

    def subordinate_exists(self, subordinate: Subordinate) -> bool:
        """Whether a record exists with this id, engagement and kind."""
        condition = "subordinates WHERE id = ? AND engagement_id = ? AND kind = ?"
        return self._db.count(condition, subordinate.id, subordinate.engagement_id, subordinate.kind) > 0

    def delete_subordinates(self, engagement_id: str, kind: str) -> None:
        """Delete all records of a kind of an engagement."""
        self._db.execute("DELETE FROM subordinates WHERE engagement_id = ? AND kind = ?", engagement_id, kind)

    # Keys and mail

    def secret(self, name: str) -> str:
        """Return the secret of a name, which lasts as long as the database."""
        row = self._db.row(
            "INSERT INTO secrets VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING value",
            name,
            token_urlsafe(32),
        )
        return str(row[0]) if row else ""

    def add_key(self, key: Key) -> None:
        """Insert a key, or replace it."""
        self._db.execute("DELETE FROM keys WHERE digest = ?", key.digest)
        values = {"digest": key.digest, "organization_id": key.organization_id, "user_id": key.user_id}
        limits = {"rate_limit": key.limit, "rate_window": key.window}
        self._db.insert("keys", {**values, "scopes": " ".join(sorted(key.scopes)), **limits})

    def key(self, digest: str) -> Key | None:
        """Find a key by its digest; it is revoked if its member was removed."""
        row = self._db.row(f"{_KEY} WHERE k.digest = ?", digest)
        if row is None:
            return None
        digest, organization_id, user_id, scopes, limit, window, revoked = row
        return Key(digest, organization_id, user_id, frozenset(scopes.split()), limit, window, bool(revoked))

    def add_mail(self, mail: Mail) -> None:
        """Insert a sent message."""
        self._db.insert("mails", _columns(mail))

    def mails(self, recipient: str) -> list[Mail]:
        """Return the messages to an address, in any letter case, the oldest first."""
        statement = "SELECT sender, recipient, subject, text FROM mails WHERE lower(recipient) = lower(?) ORDER BY seq"
        return [Mail(*row) for row in self._db.rows(statement, recipient)]
