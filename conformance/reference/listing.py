"""What both lists have in common: their parameters, their pages, their meta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal
from conformance.reference.request_context import Reply, RequestContext
from conformance.reference.views import View, Views

if TYPE_CHECKING:
    from collections.abc import Iterable

_SUCCESS_POINTS = {
    "createEngagement": "create_status",
    "inviteMember": "invite_status",
    "updateEngagement": "update_status",
    "archiveEngagement": "archive_status",
    "unarchiveEngagement": "unarchive_status",
}


class Listing(Views):
    """Envelopes of successes, and the rules of pages."""

    def success_status(self, context: RequestContext) -> int:
        """Give the status that an operation succeeds with."""
        point = _SUCCESS_POINTS.get(context.operation.id)
        return int(self.latitude[point]) if point else 200

    def resource(self, context: RequestContext, view: View) -> Reply:
        """Answer with one resource."""
        return Reply(self.success_status(context), {"data": view})

    def listed(self, context: RequestContext, views: Iterable[View], total: int) -> Reply:
        """Answer with one page of a list; its total may be that of a moment ago."""
        total = total if context.counted is None else context.counted
        meta = self.view_meta(total, context.values["page"], context.values["perPage"])
        self.check_page_exists(meta)
        return Reply(200, {"data": list(views), "meta": meta})

    def view_meta(self, total: int, page: int, per_page: int) -> View:
        """Show which part of a list a page is."""
        return {"total": total, "page": page, "perPage": per_page, "totalPages": self.total_pages(total, per_page)}

    def total_pages(self, total: int, per_page: int) -> int:
        """Count the pages of a list."""
        return -(-total // per_page) or int(self.latitude["empty_total_pages"])

    def check_page_exists(self, meta: dict[str, Any]) -> None:
        """Object to a page past the end, where this service does; the first page is never past it."""
        if meta["page"] > max(meta["totalPages"], 1):
            self.rule("page_past_end", f"There are {meta['totalPages']} pages.")

    def offset(self, context: RequestContext) -> int:
        """Tell how many items come before the page that is asked for."""
        return int((context.values["page"] - 1) * context.values["perPage"])

    def not_found(self, kind: str) -> Refusal:
        """Make the refusal of a resource that does not exist."""
        return Refusal(404, f"The {kind} was not found.")
