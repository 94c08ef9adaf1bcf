"""Faults of refusals: their envelope, their headers, their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.faults import fault
from conformance.reference.service import Service

if TYPE_CHECKING:
    from conformance.reference.records import Key
    from conformance.reference.refusal import Refusal
    from conformance.reference.request_context import Reply, RequestContext

_NOT_FOUND = 404


@fault("status-code-string", "error-envelope")
class StatusCodeString(Service):
    """The statusCode of an error is a string."""

    def error(self, refusal: Refusal) -> Reply:
        """Write the number in quotes."""
        reply = super().error(refusal)
        reply.content["error"]["statusCode"] = str(refusal.status)
        return reply


@fault("not-found-without-limits", "rate-limit-headers-present")
class NotFoundWithoutLimits(Service):
    """A 404 lacks the rate-limit headers."""

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Leave them out."""
        return {} if reply.status == _NOT_FOUND else super().rate_limit_headers(context, reply)


@fault("lookup-before-authentication", "authentication-before-lookup")
class LookupBeforeAuthentication(Service):
    """Without a valid key, an unknown engagement gets 404 instead of 401."""

    def authenticate(self, context: RequestContext) -> Key:
        """Look for the engagement first."""
        operation = self.find_operation(context)
        if operation.finds == "engagement" and self.store.engagement(context.resource_id) is None:
            raise self.not_found("engagement")
        return super().authenticate(context)
