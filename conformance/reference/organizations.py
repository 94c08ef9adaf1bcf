"""Operations on the organization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.listing import Listing

if TYPE_CHECKING:
    from conformance.reference.request_context import Reply, RequestContext

_READ_ONLY = ("id", "slug", "plan", "memberCount", "engagementCount", "createdAt", "updatedAt", "settings")


class Organizations(Listing):
    """Read and rename the organization of the key."""

    def get_organization(self, context: RequestContext) -> Reply:
        """Return the organization."""
        return self.resource(context, self.view_organization(self.store.organization(context.organization_id)))

    def check_organization_update(self, context: RequestContext) -> dict[str, Any]:
        """Return the checked body of an update."""
        body = self.read_body(context, fields=("name",), read_only=_READ_ONLY)
        return self.check_optional_name(body)

    def check_optional_name(self, body: dict[str, Any]) -> dict[str, Any]:
        """Check the optional name of an edit, and that the edit has a field."""
        if not body:
            self.rule("empty_patch", "The body has no field to change.")
        if "name" not in body:
            return body
        if body["name"] is None:
            self.rule("null_name", "The name is null.")
            return {field: value for field, value in body.items() if field != "name"}
        return {**body, "name": self.name(body["name"])}

    def update_organization(self, context: RequestContext) -> Reply:
        """Rename the organization."""
        name = self.store.organization(context.organization_id).name
        if self.changes_something(context.values, {"name": name}):
            self.store.rename_organization(context.organization_id, context.values.get("name", name), self.now())
        return self.resource(context, self.view_renamed(self.store.organization(context.organization_id)))

    def changes_something(self, sent: dict[str, Any], kept: dict[str, Any]) -> bool:
        """Whether an edit counts as a change; for a no-op edit the latitude decides."""
        if not sent:
            return self.latitude["empty_patch_time"] == "moves"
        if sent == {field: kept[field] for field in sent}:
            return self.latitude["same_values"] == "moves"
        return True
