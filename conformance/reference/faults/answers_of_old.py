"""Faults of the answers to changes alone: what was done before is said again, or one kind of key is told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults.making import made, replied
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.faults import Fault
    from conformance.reference.faults.making import Change
    from conformance.reference.request_context import Reply, RequestContext

_RENAMED = "update-organization-answers-new-name"
_ROLE = "update-role-answers-what-was-sent"
_INVITED = "invite-answers-what-was-sent"
_REMOVED = "remove-member-answers-true"
_CREATED = "create-engagement-answers-what-was-sent"


def _as_before(identifier: str, title: str, operation: str, fields: tuple[str, ...], *breaks: str) -> Fault:
    """An answer whose fields are those of the answer before, from the second one on."""

    def act(self: Service, context: RequestContext) -> Reply:
        reply = Service.act(self, context)
        if context.operation.id == operation and not reply.is_error:
            data = reply.content["data"]
            last = self.memory.get(operation, data)
            self.memory[operation] = dict(data)
            data.update({name: last[name] for name in fields})
        return reply

    return made(identifier, title, *breaks, act=act)


AS_BEFORE = (
    _as_before("renaming-answers-name-before", "The answer to a renaming carries the name that was given before.",
               "updateCurrentOrganization", ("name",), _RENAMED),
    _as_before("role-change-answers-role-before", "The answer to a role change carries the role that was given before.",
               "updateMemberRole", ("role",), _ROLE),
    _as_before("role-change-answers-member-before", "The answer to a role change carries who was changed before.",
               "updateMemberRole", ("id",), _ROLE),
    _as_before("invitation-answers-address-before", "An invitation carries the address that was invited before.",
               "inviteMember", ("email",), _INVITED),
    _as_before("removal-answers-member-before", "The answer to a removal carries who was removed before.",
               "removeMember", ("userId",), _REMOVED),
    _as_before("creation-answers-name-before", "The answer to a creation carries the name that was created before.",
               "createEngagement", ("name",), _CREATED),
    _as_before("archive-answers-id-before", "The answer to an archive carries the id that was archived before.",
               "archiveEngagement", ("id",), "archive-engagement-answers-id"),
)  # fmt: skip


def _for_one_permission(identifier: str, title: str, operation: str, name: str, change: Change, *breaks: str) -> Fault:
    """An answer that is another one where the key has a single permission."""

    def tell(context: RequestContext, reply: Reply) -> Reply:
        if len(context.key.scopes) == 1 and not reply.is_error:
            reply.content["data"][name] = change(reply.content["data"][name])
        return reply

    return replied(identifier, title, operation, tell, *breaks)


FOR_ONE_PERMISSION = (
    _for_one_permission("one-permission-invitation-other-role",
                        "Keys of one permission are told another role by invitations.",
                        "inviteMember", "role", lambda role: "admin" if role == "member" else "member", _INVITED),
    _for_one_permission("one-permission-invitation-accepted",
                        "Keys of one permission are told that invitations are accepted.",
                        "inviteMember", "status", lambda _: "accepted", "invitation-begins-pending"),
    _for_one_permission("one-permission-removal-denied", "Keys of one permission are told that nobody was removed.",
                        "removeMember", "removed", lambda _: False, _REMOVED),
    _for_one_permission("one-permission-archive-active", "Keys of one permission are told active by an archive.",
                        "archiveEngagement", "status", lambda _: "active", "archive-sets-status"),
    _for_one_permission("one-permission-creation-archived",
                        "Keys of one permission are told that what they create is archived.",
                        "createEngagement", "status", lambda _: "archived", "new-engagement-active"),
)  # fmt: skip
