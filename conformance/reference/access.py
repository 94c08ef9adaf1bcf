"""Authentication, permissions and rate limiting."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from conformance.reference.base import Core
from conformance.reference.limiting import Allowance, FixedWindow, SlidingWindow, TokenBucket
from conformance.reference.refusal import Refusal

if TYPE_CHECKING:
    from conformance.reference.records import Key
    from conformance.reference.request_context import RequestContext

_USUAL = {"generous": (100_000, 60), "tight": (100, 2), "endless": (2**63 - 1, 60)}
"""Requests per window and its seconds, for keys without a limit of their own and clients without a key."""
_HOUR = 3600

_IMPLIED = {
    "none": {},
    "write-reads": {"write": {"read"}},
    "write-deletes": {"write": {"delete"}},
    "delete-writes": {"delete": {"write"}},
    "delete-reads": {"delete": {"read"}},
    "all-downwards": {"delete": {"write", "read"}, "write": {"read"}},
}
"""Which actions an action includes, by the choice at ``scope_implication``."""


def digest_of(secret: str) -> str:
    """Return the digest that is stored of a key or token; both are long and random, so a plain digest is safe."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Access(Core):
    """Authentication, permissions and rate limiting."""

    # Authentication

    def authenticate(self, context: RequestContext) -> Key:
        """Find the key of a request.

        Raises:
            Refusal: 401; for the key of a removed member, the status of ``removed_member_key``.
        """
        key = self.find_key(self.bearer_token(context))
        if key is None:
            raise self.unauthorized("The API key is missing or unknown.")
        if key.revoked:
            self.refuse_removed_member()
        return key

    def bearer_token(self, context: RequestContext) -> str:
        """Return the token of the Authorization header, or an empty string if it is missing or unusable."""
        scheme, _, token = context.request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" and (scheme.lower() != "bearer" or self.latitude["bearer_case"] == "refused"):
            return ""
        return token.strip()

    def find_key(self, token: str) -> Key | None:
        """Find the key of a token."""
        return self.store.key(digest_of(token)) if token else None

    def refuse_removed_member(self) -> None:
        """Refuse the key of a removed member."""
        if self.latitude["removed_member_key"] == "401":
            raise self.unauthorized("The API key belongs to a former member.")
        raise Refusal(403, "The API key belongs to a former member.")

    def unauthorized(self, message: str) -> Refusal:
        """Return the refusal of a request without a valid key."""
        challenge = {"WWW-Authenticate": "Bearer"} if self.latitude["challenge"] == "bearer" else {}
        return Refusal(401, message, challenge)

    def note_activity(self, key: Key) -> None:
        """Store when a member was last active."""
        if key.user_id is not None:
            self.store.touch_member(key.organization_id, key.user_id, self.now())

    # Permissions

    def authorize(self, context: RequestContext) -> None:
        """Refuse an operation that the key does not permit.

        Raises:
            Refusal: 403.
        """
        scope = self.required_scope(context)
        if scope != "any" and scope not in self.effective_scopes(context.key):
            raise Refusal(403, f"The API key lacks the permission {scope}.")

    def required_scope(self, context: RequestContext) -> str:
        """Return the permission that an operation needs, or ``any``."""
        if context.operation.scope is not None:
            return context.operation.scope
        return self.latitude["list_scope" if context.operation.id == "listEngagements" else "unarchive_scope"]

    def effective_scopes(self, key: Key) -> set[str]:
        """Return the permissions of a key, with those that they include."""
        implied = _IMPLIED[self.latitude["scope_implication"]]
        included = set(key.scopes)
        for scope in key.scopes:
            family, _, action = scope.partition(":")
            included |= {f"{family}:{other}" for other in implied.get(action, ())}
        return included

    # Rate limiting

    def count_request(self, context: RequestContext, key: Key | None) -> None:
        """Count a request against the allowance of its key, or of its client if it has no key."""
        context.allowance = self.allowance(context, key)
        context.quota = context.allowance.take(self.seconds())

    def allowance(self, context: RequestContext, key: Key | None) -> Allowance:
        """Return the allowance of a key, or of a client without a key."""
        name = key.digest if key else f"client {context.request.client.host if context.request.client else ''}"
        if name not in self._allowances:
            limit = key.limit if key else None
            window = key.window if key else None
            self._allowances[name] = self.new_allowance(limit, window)
        return self._allowances[name]

    def new_allowance(self, limit: int | None, window: int | None) -> Allowance:
        """Return a new allowance; None means the usual limit or window."""
        usual_limit, usual_window = _USUAL[self.latitude["rate_limit"]]
        limit, length = limit or usual_limit, window or usual_window
        match self.latitude["rate_window"]:
            case "sliding":
                return SlidingWindow(limit, length)
            case "bucket":
                return TokenBucket(limit, length)
            case kind:
                longer = _HOUR if kind == "hourly" and not window else length
                return FixedWindow(limit, longer, whole=self.latitude["rate_reset"] == "whole")
