"""Operations of the interface, as the rows of faults name them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

GET_ORGANIZATION, RENAME = "getCurrentOrganization", "updateCurrentOrganization"
LIST_MEMBERS, INVITE, ROLE, REMOVE = "listMembers", "inviteMember", "updateMemberRole", "removeMember"
LIST, CREATE, READ, EDIT = "listEngagements", "createEngagement", "getEngagement", "updateEngagement"
DELETE, ARCHIVE, UNARCHIVE = "deleteEngagement", "archiveEngagement", "unarchiveEngagement"
"""The operationIds."""

ACTIONS: Final = MappingProxyType({
    GET_ORGANIZATION: "get_organization", RENAME: "update_organization",
    LIST_MEMBERS: "list_members", INVITE: "invite_member", ROLE: "update_member_role", REMOVE: "remove_member",
    LIST: "list_engagements", CREATE: "create_engagement", READ: "get_engagement", EDIT: "update_engagement",
    DELETE: "delete_engagement", ARCHIVE: "archive_engagement", UNARCHIVE: "unarchive_engagement",
})  # fmt: skip
"""The method of the service that carries out each operation."""

NAMES: Final = MappingProxyType({
    GET_ORGANIZATION: "get-organization", RENAME: "update-organization",
    LIST_MEMBERS: "list-members", INVITE: "invite", ROLE: "update-role", REMOVE: "remove-member",
    LIST: "list-engagements", CREATE: "create-engagement", READ: "get-engagement", EDIT: "update-engagement",
    DELETE: "delete-engagement", ARCHIVE: "archive-engagement", UNARCHIVE: "unarchive-engagement",
})  # fmt: skip
"""The name of each operation in the ids of requirements."""
