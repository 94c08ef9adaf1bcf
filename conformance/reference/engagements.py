"""Operations on engagements."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.interface.list_parameters import SORTS
from conformance.interface.operations import KINDS
from conformance.reference.members import Members
from conformance.reference.queries import Collation, EngagementQuery, Sort, Ties
from conformance.reference.records import Engagement, Page
from conformance.reference.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.request_context import Reply, RequestContext

_READ_ONLY = ("id", "status", "createdAt", "updatedAt")
_COLLATIONS: dict[str, Collation] = {"binary": "BINARY", "caseless": "NOCASE", "folded": "FOLDED"}
_REARCHIVED: Final[Mapping[str, dict[str, Any]]] = {
    "200-noted": {"status": "unchanged", "note": "The engagement is archived already."},
    "200-bare": {},
}
"""The ``data`` of archiving again, by the values of ``archive_again`` that show no engagement."""


@lru_cache(maxsize=4096)  # each creation compares its name with all names
def _core(name: str) -> str:
    """Remove blanks and letter case."""
    return "".join(name.split()).casefold()


class Engagements(Members):
    """List, create, read, edit, archive, unarchive and delete engagements."""

    # List

    def check_engagement_list(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked parameters of a list request."""
        given = self.read_parameters(context)
        status = self.choice("status", given["status"], ("active", "archived")) if "status" in given else None
        sort = self.choice("sort", given["sort"], self.sorts()) if "sort" in given else None
        order = self.choice("order", given["order"], ("asc", "desc")) if "order" in given else None
        return {"status": status, "sort": sort, "order": order, **self.read_page(given)}

    def list_engagements(self, context: RequestContext) -> Reply:
        """Return a page of engagements."""
        page = self.find_engagements(self.engagement_query(context))
        return self.listed(context, [self.view_item(engagement) for engagement in page.items], page.total)

    def engagement_query(self, context: RequestContext) -> EngagementQuery:
        """Return the query for the list that a request asks for."""
        sort, order = self.sorting(context)
        return EngagementQuery(
            context.organization_id,
            self.offset(context),
            context.values["perPage"],
            status=context.values["status"],
            sort=sort,
            descending=order == "desc",
            collation=_COLLATIONS[self.latitude["name_collation"]],
            ties=cast("Ties", self.latitude["tie_order"]),
        )

    def sorts(self) -> tuple[Sort, ...]:
        """Return the sort keys that a list request may name."""
        return (*SORTS, "status") if self.latitude["more_sorts"] == "status" else SORTS

    def sorting(self, context: RequestContext) -> tuple[Sort, str]:
        """Return the sort key and the direction of a list."""
        sort, order = context.values["sort"], context.values["order"]
        if sort:
            return sort, order or "desc"
        default, _, ascending = self.latitude["default_sort"].partition("-")
        return cast("Sort", default), order or ("asc" if ascending else "desc")

    def find_engagements(self, query: EngagementQuery) -> Page[Engagement]:
        """Read a page of engagements from the store."""
        return self.store.engagements(query)

    # Create

    def check_creation(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked body of a creation."""
        body = self.read_body(context, fields=("name", "description"), read_only=_READ_ONLY)
        name = self.name(self.require(body, "name"))
        return {"name": name, "description": self.description(body["description"]) if "description" in body else None}

    def create_engagement(self, context: RequestContext) -> Reply:
        """Store a new engagement."""
        self.check_name_free(context.organization_id, context.values["name"])
        engagement = self.new_engagement(context)
        self.store.add_engagement(engagement)
        return self.resource(context, self.view_created(engagement))

    def new_engagement(self, context: RequestContext) -> Engagement:
        """Return a new engagement, active and unchanged."""
        name, description, at = context.values["name"], context.values["description"], self.now()
        return Engagement(self.new_id("engagement"), context.organization_id, name, description, "active", at, at)

    def check_name_free(self, organization_id: str, name: str, besides: str | None = None) -> None:
        """Refuse a name in use, depending on ``duplicate_name``; an engagement may keep its own name."""
        choice = self.latitude["duplicate_name"]
        if choice == "accepted":
            return
        status = "active" if choice == "409-active" else None
        names = self.store.engagement_names(organization_id, besides=besides, status=status)
        if choice == "409-former":
            others = [(self.store.engagement(of), former) for of, former in self.former_names if of != besides]
            names += [former for other, former in others if other and other.organization_id == organization_id]
        alike = _core if choice == "409-alike" else str
        if alike(name) in map(alike, names):
            raise Refusal(409, "The name is in use.")

    # Read

    def find_engagement(self, context: RequestContext) -> Engagement:
        """Find the engagement that the path names.

        Raises:
            Refusal: The organization of the key has none.
        """
        engagement = self.store.engagement(context.resource_id)
        if engagement is None:
            if not self.could_be_issued(context.resource_id):
                self.rule(
                    "malformed_identifier",
                    "This is not an identifier of an engagement.",
                )
            raise self.not_found("engagement")
        if engagement.organization_id != context.organization_id:
            raise self.foreign("engagement")
        return engagement

    def get_engagement(self, context: RequestContext) -> Reply:
        """Return an engagement."""
        return self.resource(context, self.view_read(context.engagement))

    # Edit

    def check_edit(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked body of an edit."""
        body = self.check_optional_name(self.read_body(context, fields=("name", "description"), read_only=_READ_ONLY))
        if "description" in body:
            body["description"] = self.description(body["description"])
            if body["description"] is None and self.without_description() == "ignored":
                del body["description"]
        return body

    def update_engagement(self, context: RequestContext) -> Reply:
        """Change only the fields that were sent."""
        engagement, sent = context.engagement, context.values
        self.check_editable(engagement)
        if "name" in sent:
            self.check_name_free(engagement.organization_id, sent["name"], besides=engagement.id)
        if self.changes_something(sent, {"name": engagement.name, "description": engagement.description}):
            self.former_names.append((engagement.id, engagement.name))
            self.store.edit_engagement(engagement.id, sent, self.now())
        return self.resource(context, self.view_edited(self.find_engagement(context)))

    def check_editable(self, engagement: Engagement) -> None:
        """Refuse to edit an archived engagement."""
        if engagement.status == "archived":
            self.rule("archived_edit", "An archived engagement is read-only.")

    # Archive and unarchive

    def archive_engagement(self, context: RequestContext) -> Reply:
        """Archive an engagement."""
        changes = context.engagement.status == "active" or self.archives_again()
        self.activating.discard(context.engagement.id)
        if changes:
            self.set_status(context.engagement, "archived")
        elif (view := _REARCHIVED.get(self.archiving_again())) is not None:
            return self.resource(context, view)
        return self.resource(context, self.view_archived(self.find_engagement(context)))

    def archives_again(self) -> bool:
        """Whether archiving an archived engagement counts as a change; may refuse it."""
        return self.archiving_again() == "200-refreshed"

    def archiving_again(self) -> str:
        """Return the choice for archiving an archived engagement, or refuse it."""
        return self.rule("archive_again", "The engagement is archived already.")

    def set_status(self, engagement: Engagement, status: str) -> None:
        """Change the status of an engagement, which counts as a change."""
        self.store.edit_engagement(engagement.id, {"status": status}, self.now())

    def check_unarchive(self, context: RequestContext) -> dict[str, Any]:
        """Refuse a request without a body, depending on ``unarchive_request``; the content of a body is open."""
        if not context.request.headers.get("content-type"):
            self.rule("unarchive_request", "Unarchiving requires a JSON body.")
        return {}

    def unarchive_engagement(self, context: RequestContext) -> Reply:
        """Make an archived engagement active, depending on ``unarchive``."""
        choice = self.rule("unarchive", "This service cannot unarchive engagements.")
        if context.engagement.status == "active":
            self.rule("unarchive_active", "The engagement is active.")
        elif choice == "activates-later":
            self.activating.add(context.engagement.id)
            self.later(lambda: self.activate(context.engagement.id))
        elif choice != "nothing":
            at = context.engagement.updated_at if choice == "activates-quietly" else self.now()
            self.store.edit_engagement(context.engagement.id, {"status": "active"}, at)
        return self.resource(context, self.view_unarchived(self.find_engagement(context)))

    def activate(self, engagement_id: str) -> None:
        """Carry out a delayed unarchiving, unless the engagement was archived again since."""
        engagement = self.store.engagement(engagement_id)
        if engagement is not None and engagement_id in self.activating:
            self.set_status(engagement, "active")
        self.activating.discard(engagement_id)

    # Delete

    def delete_engagement(self, context: RequestContext) -> Reply:
        """Delete an engagement and its subordinate records."""
        self.store.delete_engagement(context.engagement.id)
        if self.latitude["subordinate_deletion"] == "later":
            self.later(lambda: self.delete_subordinates(context.engagement))
        else:
            self.delete_subordinates(context.engagement)
        return self.resource(context, self.view_deleted(context.engagement))

    def delete_subordinates(self, engagement: Engagement) -> None:
        """Delete all subordinate records of an engagement."""
        for kind in KINDS:
            self.store.delete_subordinates(engagement.id, kind)
