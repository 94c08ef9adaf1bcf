"""Faults of requests over which the process ends; a supervisor starts it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults.making import made
from conformance.reference.faults.sending import field
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext


def _ending(identifier: str, title: str, operation: str, is_fatal: Callable[[RequestContext], bool]) -> Fault:
    def act(self: Service, context: RequestContext) -> Reply:
        if context.operation.id == operation and is_fatal(context):
            self.end_process()
        return Service.act(self, context)

    return made(identifier, title, "no-server-error", act=act)


ENDS = (
    _ending(
        "ends-at-an-emptied-description",
        "The process ends over an edit that empties the description.",
        "updateEngagement",
        lambda context: field(context, "description") == "",
    ),
    _ending(
        "ends-at-a-list-of-owners",
        "The process ends over a list of members that is filtered by the role owner.",
        "listMembers",
        lambda context: context.request.query_params.get("role") == "owner",
    ),
)
