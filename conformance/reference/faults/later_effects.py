"""Faults of later requests: what the service remembers, and copies that miss changes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal

from . import operations as op
from .changes import cut, data, put, whole
from .conditions import (
    always,
    archived,
    asks,
    described,
    field_is,
    has_one_permission,
    noted,
    of_member,
    sends_only,
)
from .mutations import Method, Mutation, after, at_step, before, fault, override, refuse, refused_yet, wrap
from .operations import ARCHIVE, CREATE, EDIT, GET_ORGANIZATION, INVITE, READ, REMOVE, ROLE
from .situations import Action, Condition, Situation, engagements, note, recalled, remember, show_edited

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement, Key, Member, Page
    from conformance.reference.service import Service
    from conformance.reference.views import View


_LONG = 500
_SECOND = 1_000
_INVALID = (400, 422)
_has_name = field_is("name", str)


def _remember_name(at: Situation) -> None:
    if _has_name(at):
        at.remembered("refused names", {})[at.context.organization_id, at.context.resource_id or ""] = at.field("name")


def _is_refused_name(at: Situation) -> bool:
    return at.values["name"] in at.remembered("refused names", {}).values()


def _sent(at: Situation) -> tuple[str, bytes]:
    return at.context.key.digest, at.context.content


def _was_refused(at: Situation) -> bool:
    return at.operation == CREATE and _sent(at) in at.remembered("refused creations", set())


def _add_name(kept: str, of: Callable[[Situation], str]) -> Action:
    """Return an action that adds the name that was kept for the engagement, once, to an edit without one."""

    def action(at: Situation) -> None:
        name = at.remembered(kept, {}).pop((of(at), at.context.resource_id), None)
        if name is not None and "name" not in at.values:
            at.context.values = {**at.values, "name": name}

    return action


def _remember_address(at: Situation) -> None:
    at.remembered("refused addresses", set()).add(at.field("email"))


def _is_refused_address(at: Situation) -> bool:
    return at.values["email"] in at.remembered("refused addresses", set())


def _send_no_mail(at: Situation) -> None:
    if _is_refused_address(at):
        at.context.afterwards.clear()


def _repeat_refusal(at: Situation, honest: Method) -> None:
    refusals, path = at.remembered("refusals", {}), at.context.request.url.path
    mark = at.context.organization_id, at.method, path
    if at.now - refusals.get(mark, 0) < _SECOND:
        raise Refusal(403, "The API key lacks a permission.")
    try:
        honest()
    except Refusal:
        refusals[mark] = at.now
        raise


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
    counts = at.remembered("first counts", {})
    return {**shown, "engagementCount": counts.setdefault(at.context.key.digest, shown["engagementCount"])}


def _first_roles(at: Situation, shown: list[View]) -> list[View]:
    roles = at.remembered("first roles", {})
    return [put(role=roles.setdefault((at.context.key.digest, item["id"]), item["role"]))(item) for item in shown]


def _list_all_if_empty(service: Service, honest: Method, query: EngagementQuery) -> Page[Engagement]:
    if service.store.count_engagements(query.organization_id):
        page: Page[Engagement] = honest(query)
        return page
    found = [found for organization in service.store.organization_ids() for found in engagements(service, organization)]
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
          refused_yet(EDIT, _remember_name, statuses=_INVALID)
          | before(EDIT, _add_name("refused names", lambda at: at.context.organization_id)),
          "update-engagement-refused-changes-nothing", "update-engagement-keeps-the-rest"),
    fault("invitation-after-refused-without-mail", "An address gets no mail if an invitation of it was invalid.",
          refused_yet(INVITE, _remember_address, field_is("email", str), statuses=_INVALID)
          | after(INVITE, _send_no_mail), "invite-sends-mail"),
    fault("refused-invitation-reserves-address",
          "An invitation of an address is refused with 409 if an invitation of it was invalid.",
          refused_yet(INVITE, _remember_address, field_is("email", str), statuses=_INVALID)
          | refuse(INVITE, 409, _is_refused_address), "invite-succeeds"),
    fault("refusal-cached-for-other-keys",
          "For one second after a 403, all keys of the organization get 403 for the same method and path.",
          at_step("authorize", _repeat_refusal), "get-organization-succeeds", "list-members-succeeds",
          *(f"{name}-engagement-succeeds" for name in ("get", "delete", "update", "archive", "create"))),
    fault("repeated-invalid-creation-succeeds",
          "A creation that was refused as invalid reports success if the same key sends it again.",
          at_step("act", lambda at, honest: at.success({}) if _was_refused(at) else honest())
          | refused_yet(CREATE, lambda at: at.remembered("refused creations", set()).add(_sent(at)), statuses=_INVALID),
          "create-engagement-refuses-invalid", "create-engagement-fields"),
    fault("refused-edit-prevents-archive", "An engagement cannot be archived after an invalid edit, until a valid one.",
          refused_yet(EDIT, note("refused"), statuses=_INVALID) | refuse(ARCHIVE, 409, noted("refused"))
          | after(EDIT, lambda at: at.remembered("refused", set()).discard(at.context.resource_id)),
          "unarchived-archivable", "archive-engagement-succeeds"),
)  # fmt: skip

AFTER_READS = (
    fault("reader-may-do-all", "A key that has read an engagement may change it, whatever its permissions.",
          at_step("authorize", _permit_readers), "scope-refuses-update-engagement"),
    fault("organization-of-first-read-for-members", "A member's key reads the engagementCount of its first read.",
          data(GET_ORGANIZATION, _first_count, of_member), "engagement-count-agrees"),
    fault("roles-of-first-list-for-members", "A member's key lists the role that it listed first for each member.",
          data(op.LIST_MEMBERS, _first_roles, of_member), "role-changes-both-ways"),
    fault("name-of-last-read-comes-with-edit",
          "An edit of only the description stores the name that the same key read last.",
          after(READ, lambda at: at.remembered("read names", {}).update(
              {(at.context.key.digest, at.engagement.id): at.engagement.name}))
          | before(EDIT, _add_name("read names", lambda at: at.context.key.digest)),
          "update-engagement-takes-effect", "update-engagement-keeps-the-rest"),
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


_WRITES = (op.CREATE, op.EDIT, op.DELETE, op.ARCHIVE, op.UNARCHIVE)
_AS_READ, _BY_STATUS = "list-engagements-as-read", "list-engagements-status-filter"
_LISTED, _NEVER_BACK = "archived-listed", "updated-at-never-goes-back"
_BY_ROLE, _ROLES = "list-members-role-filter", "role-changes-both-ways"
_UNCOUNTED, _AGREES, _MEMBER_UNCOUNTED = "deleted-uncounted", "engagement-count-agrees", "removed-member-uncounted"
_EDITED, _RENAMED = "update-engagement-takes-effect", "update-organization-takes-effect"
_ORDERS = {None, "asc", "desc"}


def _lists_as_created(*fields: str) -> Mutation:
    """Show some fields of the items of the list as they were when the engagement was created."""

    def show(service: Service, honest: Method, engagement: Engagement) -> object:
        created = recalled(service, "created", engagement.id, engagement)
        return honest(replace(engagement, **{name: getattr(created, name) for name in fields}))

    def keep(at: Situation) -> None:
        at.remembered("created", {})[at.data["id"]] = at.store.engagement(at.data["id"])

    return after(op.CREATE, keep) | wrap("view_item", show)


def _cached(
    operation: str,
    *forgetting: str,
    for_all: bool = False,
    apart: bool = False,
    besides: str = "",
    when: Condition = always,
) -> Mutation:
    """Keep the replies to an operation by key, path and query.

    Args:
        operation: The operationId.
        forgetting: The operations after which the replies are forgotten; a read only if it is of the same engagement.
        for_all: Whether all keys get the same replies.
        apart: Whether the replies are forgotten only for the key of the other operation.
        besides: A parameter of the query that does not count.
        when: The requests whose replies are kept.
    """

    def around(at: Situation, honest: Method) -> object:
        kept, url = at.remembered("kept", {}), at.context.request.url
        if at.operation == operation and when(at):
            # Members also come and go without a request; a reply is used only for as many members as it was kept for.
            size = at.store.count_members(at.context.organization_id) if operation == op.LIST_MEMBERS else 0
            query = tuple(sorted(sent for sent in at.query.multi_items() if sent[0] != besides))
            asked = (url.path, query, "" if for_all else at.context.key.digest, size)
            if asked not in kept:
                kept[asked] = honest()
            return kept[asked]
        reply = honest()
        if at.operation in forgetting:
            for asked in [asked for asked in kept if operation != op.READ or url.path.startswith(asked[0])]:
                if not apart or asked[2] == at.context.key.digest:
                    del kept[asked]
        return reply

    return at_step("act", around)


def _kept_for_a_second(at: Situation, honest: Method) -> object:
    kept, asked = at.remembered("members", {}), f"{at.context.organization_id} {at.context.request.url.query}"
    if asked not in kept or at.now - kept[asked][0] > _SECOND:
        kept[asked] = at.now, honest()
    return kept[asked][1]


def _keep_totals(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    """Show the total that a filter had when it was first asked for."""
    found: Page[Engagement] = honest(asked)
    totals = service.memory.setdefault("totals", {})
    total = totals.setdefault((asked.organization_id, asked.status), found.total)
    return replace(found, total=total) if asked.status else found


def _forget_totals(at: Situation) -> None:
    at.remembered("totals", {}).clear()


def _filters_by(find: str, field: str, values: Callable[[Service, Any], tuple[str | None, ...]]) -> Mutation:
    """Filter a list by other values of a field than the present one, by one or several for an item."""

    def around(service: Service, honest: Method, asked: Any) -> object:  # noqa: ANN401 - a query of either list
        wanted, items = getattr(asked, field), whole(honest, replace(asked, **{field: None}))
        kept = tuple(item for item in items if wanted in values(service, item))
        return cut(asked, kept) if wanted else honest(asked)

    return wrap(find, around)


def _sorts_by(sort: str, value: Callable[[Service, Engagement], Any]) -> Mutation:
    """Compare other values than the present ones if the list of engagements is sorted by a field."""

    def around(service: Service, honest: Method, asked: EngagementQuery) -> object:
        items = sorted(whole(honest, asked), key=partial(value, service), reverse=asked.descending)
        return cut(asked, tuple(items)) if asked.sort == sort else honest(asked)

    return wrap("find_engagements", around)


def _indexed_time(service: Service, engagement: Engagement) -> int:
    """Return updatedAt; for an engagement whose description was edited last, what it was before."""
    edited_at, before_it = recalled(service, "indexed", engagement.id, (None, 0))
    return int(before_it if engagement.updated_at == edited_at else engagement.updated_at)


def _keep_in_former_role(service: Service, honest: Method, asked: MemberQuery) -> Page[Member]:
    everyone = whole(honest, replace(asked, role=None))
    kept = (member for member in everyone
            if asked.role in {member.role, recalled(service, "former roles", member.user_id)})  # fmt: skip
    return cut(asked, tuple(replace(member, role=asked.role or member.role) for member in kept))


def _note_edit(at: Situation) -> None:
    edits = at.remembered("edits", {})
    edits[at.engagement.id] = edits.get(at.engagement.id, 0) + 1
    edits[at.context.key.digest, at.engagement.id] = edits[at.engagement.id]


def _forget_edit(at: Situation) -> object:
    return at.remembered("edits", {}).pop((at.context.key.digest, at.engagement.id), None)


def _was_edited_by_another_key(at: Situation) -> bool:
    """Whether the key has edited the engagement, and another key since; the key may try again."""
    latest, known = at.remembered("edits", {}).get(at.engagement.id), _forget_edit(at)
    return known is not None and known != latest


def _delete_once_per_key(at: Situation, honest: Method) -> object:
    deleted = recalled(at.service, "deleted by", at.context.resource_id)
    if at.operation != op.DELETE or deleted is None:
        return honest()
    engagement, keys = deleted
    if at.context.key.digest in keys or engagement.organization_id != at.context.organization_id:
        return honest()
    at.service.authorize(at.context)
    keys.add(at.context.key.digest)
    return at.success(at.service.view_deleted(engagement))


def _by_first_archive(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    if asked.status != "archived" or asked.sort != "updatedAt":
        found: Page[Engagement] = honest(asked)
        return found
    items = sorted(whole(honest, asked), reverse=asked.descending,
                   key=lambda engagement: recalled(
                       service, "first archives", engagement.id, engagement.updated_at))  # fmt: skip
    return cut(asked, tuple(items))


def _note_seen(service: Service, honest: Method, key: Key) -> None:
    honest(key)
    service.memory.get("unseen", set()).discard(key.user_id)


OF_EARLIER_CHANGES = (
    fault("edit-after-another-key-conflicts",
          "An edit is refused with 409 if another key has edited the engagement since the key's own last edit or read.",
          refuse(EDIT, 409, _was_edited_by_another_key) | after(EDIT, _note_edit) | after(READ, _forget_edit),
          "update-engagement-succeeds"),
    fault("deleted-deletable-with-another-key", "Each key can delete a deleted engagement once more.",
          after(op.DELETE, lambda at: at.remembered("deleted by", {}).update(
              {at.engagement.id: (at.engagement, {at.context.key.digest})}))
          | at_step("act", _delete_once_per_key), "deleted-undeletable"),
    fault("archive-keeps-first-name", "The list of archived engagements shows the names at their first archives.",
          after(ARCHIVE, lambda at: at.remembered("archived as", {}).setdefault(at.engagement.id, at.engagement.name))
          | data(op.LIST, lambda at, items: [
              {**item, "name": recalled(at.service, "archived as", item["id"], item["name"])} for item in items],
              asks(status="archived")), "list-engagements-as-read"),
    fault("archive-sorted-by-first-archive",
          "The list of archived engagements by updatedAt compares the times of their first archives.",
          after(ARCHIVE, lambda at: at.remembered("first archives", {}).setdefault(at.engagement.id, at.now))
          | wrap("find_engagements", _by_first_archive), "sort-by-updated-at", "sort-with-filter"),
    fault("role-change-forgets-last-seen",
          "A role change makes lastSeenAt null for a member that was active, until it is active again.",
          after(ROLE, note("unseen"), lambda at: at.values["role"] != at.member.role and bool(at.member.last_seen_at))
          | wrap("note_activity", _note_seen)
          | wrap("view_last_seen", lambda service, honest, member:
                 None if member.user_id in service.memory.get("unseen", ()) else honest(member)),
          "update-role-keeps-the-rest", "list-members-fields"),
)  # fmt: skip


def _note_renaming(at: Situation, honest: Method) -> object:
    """Restore the first name two seconds after two renamings within a second."""
    reply, name, organization = honest(), at.values.get("name"), at.context.organization_id
    if name is not None:
        renamed_at, first = at.remembered("renamed", {}).get(organization, (-_SECOND, None))
        at.remembered("renamed", {})[organization] = at.now, name
        if at.now - renamed_at < _SECOND:
            until = at.now + 2 * _SECOND
            at.defer(lambda: until <= at.now, lambda: _restore_name(at, name, first))
    return reply


def _restore_name(at: Situation, last: str, first: str) -> None:
    if at.store.organization(at.context.organization_id).name == last:
        at.store.rename_organization(at.context.organization_id, first, at.now)


def _do_deferred(at: Situation, honest: Method) -> object:
    at.do_deferred()
    return honest()


RENAMINGS = (
    fault("renaming-lost-to-the-one-before",
          "Of two renamings within a second, the first name is back two seconds later.",
          at_step("update_organization", _note_renaming) | at_step("act", _do_deferred), _RENAMED),
)  # fmt: skip

COPIES = (
    *(fault(f"listed-{field}-stale", f"The list of engagements shows the {field} of the creation after edits.",
            _lists_as_created(field), _AS_READ) for field in ("name", "description")),
    fault("listed-time-stale", "The list of engagements shows the updatedAt of the creation after changes.",
          _lists_as_created("updated_at"), _AS_READ, "sort-by-updated-at", _NEVER_BACK),
    fault("listed-stale", "The list of engagements shows all fields as they were at the creation.",
          _lists_as_created("name", "description", "status", "updated_at"), _AS_READ, _BY_STATUS, _LISTED),
    fault("filter-by-first-status", "The filter of engagements treats an unarchived engagement as archived.",
          before(op.ARCHIVE, note("archived")) | _filters_by("find_engagements", "status", lambda service, engagement:
              ("archived" if engagement.id in service.memory.get("archived", ()) else "active",)),
          _BY_STATUS, _LISTED, "list-engagements-filter-counts"),
    fault("role-filter-stale", "The role filter uses the roles from before any role change.",
          before(op.ROLE, lambda at: at.remembered("roles", {}).setdefault(at.member.user_id, at.member.role))
          | _filters_by("find_members", "role", lambda service, member: (
              recalled(service, "roles", member.user_id, member.role),)), _BY_ROLE, _ROLES),
    fault("role-filter-keeps-former-role",
          "The list of members filtered by role also has those whose role was changed last from it, with that role.",
          before(op.ROLE, remember("former roles", lambda at: at.member.role))
          | wrap("find_members", _keep_in_former_role), _BY_ROLE, _ROLES),
    fault("refused-owner-among-owners",
          "The filter owner also lists a member whose change to owner was refused.",
          refused_yet(op.ROLE, remember("refused roles", lambda at: at.field("role")), statuses=_INVALID)
          | _filters_by("find_members", "role", lambda service, member: (
              member.role, recalled(service, "refused roles", member.user_id))),
          _BY_ROLE, "update-role-refused-changes-nothing", "no-owner-through-role-change"),
    fault("counter-misses-archived-deletions",
          "engagementCount still includes a deleted archived engagement.",
          before(op.DELETE, lambda at: at.remembered("missed", []).append(at.context.organization_id), archived)
          | wrap("count_engagements", lambda service, honest, organization:
                 honest(organization) + service.memory.get("missed", []).count(organization.id)), _AGREES, _UNCOUNTED),
    fault("listed-description-survives-clearing",
          "The list of engagements still shows a description that was cleared.",
          before(op.EDIT, remember("description", lambda at: at.engagement.description), described)
          | wrap("view_item", lambda service, honest, engagement: honest(replace(
              engagement, description=engagement.description or recalled(service, "description", engagement.id)))),
          _AS_READ),
    fault("sort-name-by-first-name", "The list of engagements by name compares the names of the creations.",
          before(op.EDIT, lambda at: at.remembered("first names", {}).setdefault(at.engagement.id, at.engagement.name))
          | _sorts_by("name", lambda service, item: recalled(service, "first names", item.id, item.name)),
          "sort-by-name"),
    fault("sort-updated-misses-descriptions",
          "The list of engagements by updatedAt does not count an edit of only the description.",
          after(op.EDIT, remember("indexed", lambda at: (at.now, _indexed_time(at.service, at.engagement))),
                sends_only("description")) | _sorts_by("updatedAt", _indexed_time), "sort-by-updated-at"),
    fault("sort-created-by-unarchiving",
          "The list of engagements by createdAt compares the time of the unarchiving for an unarchived one.",
          before(op.UNARCHIVE, remember("unarchived", lambda at: at.now), archived)
          | _sorts_by("createdAt", lambda service, item: recalled(service, "unarchived", item.id, item.created_at)),
          "sort-by-created-at"),
    fault("filtered-total-stale", "The total of a filtered list is cached until an engagement is created or deleted.",
          wrap("find_engagements", _keep_totals) | after(op.CREATE, _forget_totals) | after(op.DELETE, _forget_totals),
          "list-engagements-filter-counts", _BY_STATUS),
    fault("read-stale-once", "The first read after an edit shows the engagement from before the edit.",
          after(op.EDIT, remember("edited", lambda at: at.engagement))
          | data(op.READ, lambda at, _: at.service.view_read(at.service.memory["edited"].pop(at.engagement.id)),
                 lambda at: recalled(at.service, "edited", at.engagement.id) is not None), _EDITED),
)  # fmt: skip


def _drop_same_edit(at: Situation, honest: Method) -> object:
    """Confirm an edit without effect if its key's last edit with these values was of another engagement."""
    last, mark = at.remembered("edits", {}), (at.context.key.digest, repr(sorted(at.values.items())))
    if at.values and last.get(mark, at.engagement.id) != at.engagement.id:
        return show_edited(at, **at.values)
    last[mark] = at.engagement.id
    return honest()


CACHES = (
    fault("list-cached",
          "The list of engagements is cached forever for each query.",
          _cached(op.LIST), "deleted-unlisted", _AS_READ, "list-engagements-total", _NEVER_BACK),
    fault("list-cached-for-everybody",
          "The list of engagements is cached until an engagement changes, and served to other organizations, too.",
          _cached(op.LIST, *_WRITES, for_all=True), "isolation-lists", "isolation-own-organization"),
    fault("list-cached-over-changes", "The list of engagements is cached over edits and archives"
          " until an engagement is created or deleted.", _cached(op.LIST, op.CREATE, op.DELETE), _AS_READ),
    fault("list-cached-without-order",
          "The list of engagements is cached until an engagement changes, whatever order is requested.",
          _cached(op.LIST, *_WRITES, besides="order", when=lambda at: at.query.get("order") in _ORDERS),
          "sort-by-name", "sort-by-created-at", "sort-by-updated-at", "sort-descending-by-default"),
    fault("list-cached-for-other-keys", "The list of engagements is cached over the changes of other keys.",
          _cached(op.LIST, *_WRITES, apart=True), _AS_READ, "deleted-unlisted", "create-engagement-listed"),
    fault("archived-cached-over-unarchiving",
          "The list of archived engagements is cached over unarchiving until another change.",
          _cached(op.LIST, op.CREATE, op.EDIT, op.DELETE, op.ARCHIVE,
                  when=lambda at: at.query.get("status") == "archived"), _AS_READ, _BY_STATUS),
    fault("read-cached-over-archives", "A read is cached over archives until the engagement is edited.",
          _cached(op.READ, op.EDIT, op.DELETE, op.UNARCHIVE), "archive-sets-status", "archived-edit-changes-nothing",
          "archive-engagement-answers-updated-at", "archive-refreshes-updated-at"),
    fault("edit-like-that-of-another-dropped",
          "An edit with the body of the key's last edit of another engagement is confirmed but not carried out.",
          at_step("update_engagement", _drop_same_edit), _EDITED),
    fault("read-cached-over-edits", "A read is cached over edits until the engagement is archived.",
          _cached(op.READ, op.ARCHIVE, op.DELETE, op.UNARCHIVE), _EDITED, "update-engagement-moves-updated-at"),
    fault("read-cached-over-deletions", "A read is cached over deletions.",
          _cached(op.READ, op.ARCHIVE, op.EDIT, op.UNARCHIVE), "deleted-unreadable", "delete-effective-at-once"),
    fault("read-cached-for-other-keys", "A read is cached over the changes of other keys.",
          _cached(op.READ, *_WRITES, apart=True), _EDITED, "archive-sets-status"),
    fault("organization-cached-over-engagements",
          "A read of the organization is cached until it is renamed.",
          _cached(op.GET_ORGANIZATION, op.RENAME), "create-engagement-counted", _UNCOUNTED, _AGREES, _MEMBER_UNCOUNTED),
    fault("organization-cached-over-renamings",
          "A read of the organization is cached over renamings until an engagement changes.",
          _cached(op.GET_ORGANIZATION, *_WRITES), _RENAMED),
    fault("organization-cached-over-removals",
          "A read of the organization is cached over removals until an engagement changes.",
          _cached(op.GET_ORGANIZATION, *_WRITES), _MEMBER_UNCOUNTED, _RENAMED, "member-count-agrees"),
    fault("members-cached-over-roles",
          "The list of members is cached over role changes until a removal or invitation.",
          _cached(op.LIST_MEMBERS, op.REMOVE, op.INVITE), _ROLES),
    fault("members-cached-for-scoped-keys", "The list of members is cached forever for keys with only one permission.",
          _cached(op.LIST_MEMBERS, when=has_one_permission), _ROLES),
    fault("organization-cached-for-scoped-keys",
          "A read of the organization is cached forever for keys with only one permission.",
          _cached(op.GET_ORGANIZATION, when=has_one_permission), _RENAMED, "member-count-agrees",
          "engagement-count-agrees"),
    fault("members-kept-for-a-second",
          "The list of members is cached for one second, over removals and role changes.",
          at_step("list_members", _kept_for_a_second), _ROLES, "removed-member-unlisted"),
)  # fmt: skip
