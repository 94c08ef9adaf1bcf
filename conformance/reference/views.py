"""JSON views of resources, by operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.clock import timestamp
from conformance.reference.fields import Fields

if TYPE_CHECKING:
    from conformance.reference.records import Engagement, Invitation, Member, Organization

View = dict[str, Any]

_UNDESCRIBED: dict[str, View] = {"null": {"description": None}, "absent": {}, "empty": {"description": ""}}


class Views(Fields):
    """The ``data`` of every response."""

    def timestamp(self, milliseconds: int) -> str:
        """Return a moment as a timestamp."""
        return timestamp(milliseconds)

    # Organization

    def view_organization(self, organization: Organization) -> View:
        """Show the organization of the key."""
        return {
            "id": organization.id,
            "name": organization.name,
            "slug": organization.slug,
            "plan": organization.plan,
            "memberCount": self.count_members(organization),
            "engagementCount": self.count_engagements(organization),
            "createdAt": self.timestamp(organization.created_at),
            "settings": self.view_settings(organization),
        }

    def count_members(self, organization: Organization) -> int:
        """Count the members that an organization shows."""
        return self.store.count_members(organization.id)

    def count_engagements(self, organization: Organization) -> int:
        """Count the engagements that an organization shows."""
        return self.store.count_engagements(organization.id)

    def view_settings(self, organization: Organization) -> View:
        """Show the settings of an organization."""
        return {
            "requireTwoFactor": organization.require_two_factor,
            "domainAutoJoin": organization.domain_auto_join,
            "ssoEnabled": organization.sso_enabled,
        }

    def view_renamed(self, organization: Organization) -> View:
        """Show an organization after its update."""
        return {
            "id": organization.id,
            "name": organization.name,
            "slug": organization.slug,
            "updatedAt": self.timestamp(organization.updated_at),
        }

    # Members and invitations

    def view_member(self, member: Member) -> View:
        """Show a member in the list."""
        return {
            "id": member.user_id,
            "name": member.name,
            "email": member.email,
            "role": member.role,
            "joinedAt": self.timestamp(member.joined_at),
            "lastSeenAt": self.view_last_seen(member),
        }

    def view_last_seen(self, member: Member) -> str | None:
        """Show when a member was last active; a member that never was may show when it joined."""
        if member.last_seen_at is not None:
            return self.timestamp(member.last_seen_at)
        return self.timestamp(member.joined_at) if self.latitude["never_seen"] == "joined" else None

    def view_role(self, member: Member) -> View:
        """Show a member after a change of role."""
        return {"id": member.user_id, "role": member.role, "updatedAt": self.timestamp(member.updated_at)}

    def view_removed(self, member: Member) -> View:
        """Show that a member was removed."""
        return {"removed": True, "userId": member.user_id}

    def view_invitation(self, invitation: Invitation) -> View:
        """Show a new invitation."""
        return {
            "id": invitation.id,
            "email": invitation.email,
            "role": invitation.role,
            "status": invitation.status,
            "expiresAt": self.timestamp(invitation.expires_at),
            "createdAt": self.timestamp(invitation.created_at),
        }

    # Engagements

    def view_engagement(self, engagement: Engagement) -> View:
        """Show a whole engagement; the views of the operations use it unless they are overridden."""
        return {
            "id": engagement.id,
            "name": engagement.name,
            **self.view_description(engagement),
            "status": engagement.status,
            "createdAt": self.timestamp(engagement.created_at),
            "updatedAt": self.timestamp(engagement.updated_at),
        }

    def view_description(self, engagement: Engagement) -> View:
        """Show a description, or its absence."""
        if engagement.description:
            return {"description": engagement.description}
        return _UNDESCRIBED[self.latitude["never_described"]]

    def view_item(self, engagement: Engagement) -> View:
        """Show an engagement in the list."""
        return self.view_engagement(engagement)

    def view_created(self, engagement: Engagement) -> View:
        """Show a new engagement."""
        return self.view_engagement(engagement)

    def view_read(self, engagement: Engagement) -> View:
        """Show an engagement that is read."""
        return self.view_engagement(engagement)

    def view_edited(self, engagement: Engagement) -> View:
        """Show an engagement after an edit, depending on ``update_answer``."""
        match self.latitude["update_answer"]:
            case "engagement":
                return self.view_engagement(engagement)
            case "identifier":
                return {"id": engagement.id}
            case _:
                return {}

    def view_archived(self, engagement: Engagement) -> View:
        """Show an engagement after it was archived."""
        return self.view_state(engagement)

    def view_unarchived(self, engagement: Engagement) -> View:
        """Show an engagement after it was unarchived, depending on ``unarchive_answer``."""
        match self.latitude["unarchive_answer"]:
            case "engagement":
                return self.view_engagement(engagement)
            case "state":
                return self.view_state(engagement)
            case _:
                return {}

    def view_state(self, engagement: Engagement) -> View:
        """Show the status of an engagement and the time of its last change."""
        return {
            "id": engagement.id,
            "status": engagement.status,
            "updatedAt": self.timestamp(engagement.updated_at),
        }

    def view_deleted(self, engagement: Engagement) -> View:
        """Show that an engagement was deleted."""
        return {"deleted": True, "id": engagement.id}
