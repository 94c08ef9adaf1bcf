"""Faults of later requests, by what the service remembers of an earlier refusal, read, removal or invitation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.reference.refusal import Refusal

from .conditions import asks, field_is
from .mutations import Method, Mutation, after, at_step, before, fault, override, refuse, refused_yet, wrap
from .operations import ARCHIVE, CREATE, EDIT, GET_ORGANIZATION, INVITE, READ, REMOVE, ROLE
from .pages import cut
from .replies import data
from .situations import Situation, engagements

if TYPE_CHECKING:
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Page
    from conformance.reference.service import Service
    from conformance.reference.views import View

_LONG = 500
_INVALID = (400, 422)
_has_name = field_is("name", str)


def _remember_name(at: Situation) -> None:
    if _has_name(at):
        at.remembered("refused names", {})[at.context.organization_id, at.context.resource_id or ""] = at.field("name")


def _is_refused_name(at: Situation) -> bool:
    return at.values["name"] in at.remembered("refused names", {}).values()


def _add_refused_name(at: Situation) -> None:
    name = at.remembered("refused names", {}).pop((at.context.organization_id, at.context.resource_id), None)
    if name is not None and "name" not in at.values:
        at.context.values = {**at.values, "name": name}


def _remember_address(at: Situation) -> None:
    at.remembered("refused addresses", set()).add(at.field("email"))


def _send_no_mail(at: Situation) -> None:
    if at.values["email"] in at.remembered("refused addresses", set()):
        at.context.afterwards.clear()


def _remember_first_role(at: Situation) -> None:
    at.remembered("first roles", {}).setdefault((at.context.organization_id, at.member.user_id), at.member.role)


def _reset_roles(at: Situation) -> None:
    for (organization_id, user_id), role in at.remembered("first roles", {}).items():
        at.store.change_role(organization_id, user_id, role, at.now)


def _permit_readers(at: Situation, honest: Method) -> None:
    """Permit all operations on an engagement with a key that has read it."""
    readers = at.remembered("readers", set())
    mark = at.context.key.digest, at.context.resource_id
    try:
        honest()
    except Refusal:
        if mark not in readers:
            raise
    else:
        if at.operation == READ:
            readers.add(mark)


def _first_count(at: Situation, shown: View) -> View:
    if at.context.key.user_id is None:
        return shown
    counts = at.remembered("first counts", {})
    return {**shown, "engagementCount": counts.setdefault(at.context.key.digest, shown["engagementCount"])}


def _list_all_if_empty(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    if service.store.count_engagements(query.organization_id):
        page: Page[Engagement] = honest(query)
        return page
    found = [found for each in service.store.organization_ids() for found in engagements(service, each)]
    return cut(query, tuple(engagement for engagement in found if query.status in {None, engagement.status}))


def _count_all_if_empty(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    found: Page[Engagement] = honest(query)
    counts = map(service.store.count_engagements, service.store.organization_ids())
    return found if found.total or query.status else replace(found, total=sum(counts))


def _change_role(at: Situation) -> None:
    member = at.store.member_by_email(at.context.organization_id, at.values["email"])
    if member is not None and member.role != "owner":
        at.store.change_role(at.context.organization_id, member.user_id, at.values["role"], at.now)


def _remember_member(at: Situation) -> None:
    at.remembered("former members", {})[at.context.organization_id, at.member.email] = at.member


def _readmit(at: Situation) -> None:
    former = at.remembered("former members", {}).pop((at.context.organization_id, at.values["email"]), None)
    if former is not None:
        with suppress(Refusal):
            at.store.add_member(
                at.context.organization_id, former.user_id, at.values["role"], former.joined_at, former.last_seen_at
            )


def _is_of_removed(at: Situation) -> bool:
    return (at.context.organization_id, at.values["email"]) in at.remembered("former members", {})


_INVITE_MEMBERS: Mutation = override(check_invitable=lambda *_, **__: None)

AFTER_REFUSALS = (
    fault("refused-creation-reserves-name", "A creation with the name of one that was refused as invalid gets 409.",
          refused_yet(CREATE, _remember_name, statuses=_INVALID) | refuse(CREATE, 409, _is_refused_name),
          "create-engagement-succeeds", "create-engagement-refused-creates-nothing"),
    fault("refused-name-comes-with-next-edit", "The name of an edit that was refused as invalid comes with the next.",
          refused_yet(EDIT, _remember_name, statuses=_INVALID) | before(EDIT, _add_refused_name),
          "update-engagement-refused-changes-nothing", "update-engagement-keeps-the-rest"),
    fault("invitation-after-refused-without-mail", "An address gets no mail if an invitation of it was invalid.",
          refused_yet(INVITE, _remember_address, field_is("email", str), statuses=_INVALID)
          | after(INVITE, _send_no_mail), "invite-sends-mail"),
)  # fmt: skip

AFTER_READS = (
    fault("reader-may-do-all", "A key that has read an engagement may change it, whatever its permissions.",
          at_step("authorize", _permit_readers), "scope-refuses-update-engagement"),
    fault("organization-of-first-read-for-members", "A member's key reads the engagementCount of its first read.",
          data(GET_ORGANIZATION, _first_count), "engagement-count-agrees"),
    fault("leak-list-if-empty", "An organization without engagements lists those of all organizations.",
          wrap("find_engagements", _list_all_if_empty), "isolation-lists", "sort-by-updated-at"),
    fault("leak-total-if-empty", "The empty list of an organization counts the engagements of all organizations.",
          wrap("find_engagements", _count_all_if_empty), "list-engagements-page-length", "isolation-counts"),
)  # fmt: skip

OF_MEMBERS = (
    fault("invitation-changes-role", "The invitation of a member's address gives the member its role.",
          _INVITE_MEMBERS | after(INVITE, _change_role), "role-changes-both-ways", "invite-adds-no-member"),
    fault("invitation-resets-roles", "An invitation as admin gives members the roles that they had at first.",
          before(ROLE, _remember_first_role) | after(INVITE, _reset_roles, asks(role="admin")),
          "role-changes-both-ways", "update-role-keeps-the-rest"),
    fault("invitation-readmits", "The invitation of a removed member's address makes the user a member again.",
          before(REMOVE, _remember_member) | after(INVITE, _readmit), "removed-member-unlisted"),
    fault("invitation-of-removed-without-mail", "The invitation of a removed member's address is sent no mail.",
          before(REMOVE, _remember_member) | after(INVITE, lambda at: at.context.afterwards.clear(), _is_of_removed),
          "invite-sends-mail"),
    fault("archive-stumbles-over-long-description", "An archive of an engagement with a long description causes a 500.",
          refuse(ARCHIVE, 500, lambda at: len(at.engagement.description or "") > _LONG), "no-server-error"),
)  # fmt: skip
