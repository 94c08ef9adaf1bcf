"""Operator actions that the interface lacks: organizations, members, keys, subordinate records."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from conformance.interface.operations import SCOPES
from conformance.reference.access import digest_of
from conformance.reference.base import Core
from conformance.reference.records import Engagement, Key, Organization, Subordinate

if TYPE_CHECKING:
    from collections.abc import Iterable

THROTTLED_LIMIT = 8
"""Requests per window of a throttled key."""
THROTTLED_WINDOW = 3
"""Window of a throttled key, in seconds."""

_SETTINGS = {"mixed": (True, False, False), "off": (False, False, False), "on": (True, True, True)}


class Provisioning(Core):
    """Operator actions for the sandbox and for a new database."""

    def add_organization(self, name: str, slug: str) -> str:
        """Add an organization with an owner, an admin and a member.

        Returns:
            Its identifier.
        """
        at = self.now()
        identifier, settings = self.new_id("organization"), _SETTINGS[self.latitude["settings_defaults"]]
        plan = self.latitude["plan_name"]
        self.store.add_organization(Organization(identifier, name, slug, plan, *settings, created_at=at, updated_at=at))
        for person, role, last_seen_at in (("Olivia", "owner", at), ("Adam", "admin", at), ("Mia", "member", None)):
            self.add_member(identifier, person, f"{person.lower()}@{slug}.example", role, last_seen_at)
        return identifier

    def add_member(
        self, organization_id: str, name: str, email: str, role: str, last_seen_at: int | None = None
    ) -> str:
        """Add a member, and a user if the address is new.

        Returns:
            The user's identifier.
        """
        user_id = self.store.user_by_email(email) or self.new_id("user")
        if self.store.user_by_email(email) is None:
            self.store.add_user(user_id, name, email)
        self.store.add_member(organization_id, user_id, role, self.now(), last_seen_at)
        return user_id

    def add_engagement(self, organization_id: str, name: str, description: str | None, status: str = "active") -> str:
        """Add an engagement.

        Returns:
            Its identifier.
        """
        at = self.now()
        engagement = Engagement(self.new_id("engagement"), organization_id, name, description, status, at, at)
        self.store.add_engagement(engagement)
        return engagement.id

    def add_key(
        self,
        organization_id: str,
        scopes: Iterable[str] = SCOPES,
        user_id: str | None = None,
        limit: int | None = None,
        window: int | None = None,
        key: str | None = None,
    ) -> str:
        """Add a key, a new one by default, and store only its digest.

        Returns:
            The key itself.
        """
        key = key or f"key_{secrets.token_urlsafe(32)}"
        self.store.add_key(Key(digest_of(key), organization_id, user_id, frozenset(scopes), limit, window))
        return key

    def add_lasting_key(self, organization_id: str, name: str, scopes: Iterable[str] = SCOPES) -> str:
        """Add the key of a name, which is the same whenever the database is opened.

        Returns:
            The key itself.
        """
        return self.add_key(organization_id, scopes, key=f"key_{self.store.secret(name)}")

    def add_subordinate(self, engagement_id: str, kind: str) -> str:
        """Add a record to an engagement.

        Returns:
            Its identifier.
        """
        subordinate = Subordinate(self.new_id("subordinate"), engagement_id, kind)
        self.store.add_subordinate(subordinate)
        return subordinate.id

    def accept_invitation(self, token: str) -> str | None:
        """Accept an invitation: add its user as a member.

        Returns:
            The user's identifier; None if the link is unknown, used or expired.
        """
        with self.store.transaction():
            invitation = self.store.invitation_by_token(digest_of(token))
            if invitation is None or invitation.status != "pending" or invitation.expires_at <= self.now():
                return None
            self.store.set_accepted(invitation.id)
            known = self.store.member_by_email(invitation.organization_id, invitation.email)
            if known is not None:
                return known.user_id
            name = invitation.email.partition("@")[0]
            return self.add_member(invitation.organization_id, name, invitation.email, invitation.role, self.now())
