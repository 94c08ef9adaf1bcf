"""Common parts of both lists: parameters, pages and meta."""

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
    """Envelopes of successes and the rules of pages."""

    def success_status(self, context: RequestContext) -> int:
        """Return the success status of an operation."""
        point = _SUCCESS_POINTS.get(context.operation.id)
        return int(self.latitude[point]) if point else 200

    def resource(self, context: RequestContext, view: View) -> Reply:
        """Return the reply with a resource."""
        return Reply(self.success_status(context), {"data": view})

    def listed(self, context: RequestContext, views: Iterable[View], total: int) -> Reply:
        """Return the reply with a page of a list; a total that was counted before wins."""
        total = total if context.counted is None else context.counted
        meta = self.view_meta(total, context.values["page"], context.values["perPage"])
        self.check_page_exists(meta)
        return Reply(200, {"data": list(views), "meta": meta})

    def view_meta(self, total: int, page: int, per_page: int) -> View:
        """Return the meta of a page."""
        return {"total": total, "page": page, "perPage": per_page, "totalPages": self.total_pages(total, per_page)}

    def total_pages(self, total: int, per_page: int) -> int:
        """Return the number of pages of a list."""
        return -(-total // per_page) or int(self.latitude["empty_total_pages"])

    def check_page_exists(self, meta: dict[str, Any]) -> None:
        """Refuse a page past the end, depending on ``page_past_end``; page 1 always exists."""
        if meta["page"] > max(meta["totalPages"], 1):
            self.rule("page_past_end", f"There are {meta['totalPages']} pages.")

    def offset(self, context: RequestContext) -> int:
        """Return the number of items before the requested page."""
        return int((context.values["page"] - 1) * context.values["perPage"])

    def not_found(self, kind: str) -> Refusal:
        """Return the refusal of a resource that does not exist."""
        return Refusal(404, f"The {kind} was not found.")
