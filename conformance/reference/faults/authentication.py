"""Faults of authentication: bad keys that open something, and what happens before they are refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle
from typing import TYPE_CHECKING

from conformance.reference.access import digest_of
from conformance.reference.faults import Fault, fault
from conformance.reference.faults.making import keeping_name, made
from conformance.reference.records import SCOPES, Key
from conformance.reference.refusal import Refusal
from conformance.reference.routes import OPERATIONS
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.request_context import Reply, RequestContext

_UNAUTHORIZED = 401
_OF_ACTIVE = ("updateEngagement", "archiveEngagement")


def _authorization(context: RequestContext) -> str | None:
    return context.request.headers.get("authorization")


def _is_missing(context: RequestContext) -> bool:
    return _authorization(context) is None


def _is_other_scheme(context: RequestContext) -> bool:
    scheme, _, rest = (_authorization(context) or "").partition(" ")
    return bool(rest) and scheme.lower() != "bearer"


def _is_empty(context: RequestContext) -> bool:
    return (_authorization(context) or "").strip() == "Bearer"


def _is_unknown(context: RequestContext) -> bool:
    scheme, _, rest = (_authorization(context) or "").partition(" ")
    return scheme == "Bearer" and bool(rest.strip())


_BAD: dict[str, tuple[str, Callable[[RequestContext], bool]]] = {
    "missing": ("without an Authorization header", _is_missing),
    "other-scheme": ("with another scheme than Bearer", _is_other_scheme),
    "empty": ("with an empty key", _is_empty),
    "unknown": ("with an unknown key", _is_unknown),
}


def _anybody(service: Service) -> Key:
    """Give a full key of the first organization."""
    return Key(digest_of("anybody"), service.store.organization_ids()[0], None, frozenset(SCOPES))


def _opening(identifier: str, title: str, kind: str, operation: str) -> Fault:
    """A service that serves a request with a bad key."""
    is_bad = _BAD[kind][1]

    def authenticate(self: Service, context: RequestContext) -> Key:
        try:
            return Service.authenticate(self, context)
        except Refusal:
            if is_bad(context) and operation in {"*", self.find_operation(context).id}:
                return _anybody(self)
            raise

    return made(identifier, title, f"key-{kind}-refused", authenticate=authenticate)


EVERYWHERE = tuple(
    _opening(f"key-{kind}-served", f"Every operation is served {words}.", kind, "*")
    for kind, (words, _) in _BAD.items()
)

SINGLE = tuple(
    _opening(
        f"key-{kind}-{operation.id}".lower(),
        f"The operation {operation.id} is served {_BAD[kind][0]}.",
        kind,
        operation.id,
    )
    for operation, kind in zip(OPERATIONS, cycle(_BAD), strict=False)
)

# How it is refused


def _refusing(identifier: str, title: str, kind: str, status: int) -> Fault:
    is_bad = _BAD[kind][1]

    def authenticate(self: Service, context: RequestContext) -> Key:
        try:
            return Service.authenticate(self, context)
        except Refusal:
            if is_bad(context):
                raise Refusal(status, "The API key is not accepted.") from None
            raise

    return made(identifier, title, f"key-{kind}-refused", authenticate=authenticate)


STATUSES = (
    _refusing("key-unknown-403", "An unknown key is refused with 403.", "unknown", 403),
    _refusing("key-missing-400", "A missing key is refused with 400.", "missing", 400),
    _refusing("key-missing-403", "A missing key is refused with 403.", "missing", 403),
    _refusing("key-other-scheme-400", "Another scheme is refused with 400.", "other-scheme", 400),
    _refusing("key-empty-404", "An empty key is refused with 404.", "empty", 404),
)

# What comes before it


@fault("member-lookup-before-authentication", "authentication-before-lookup")
class MemberLookupBeforeAuthentication(Service):
    """Without a valid key, an unknown user gets 404 instead of 401."""

    def authenticate(self, context: RequestContext) -> Key:
        """Look for the user first."""
        operation, here = self.find_operation(context), self.store.organization_ids()[0]
        if operation.finds == "member" and self.store.member(here, context.resource_id) is None:
            raise self.not_found("member")
        return super().authenticate(context)


@fault("archived-conflict-before-key", "key-empty-refused", "authentication-before-lookup", "key-unknown-refused")
class ArchivedConflictBeforeKey(Service):
    """Without a valid key, an edit or an archiving of an archived engagement gives 409 instead of 401."""

    def authenticate(self, context: RequestContext) -> Key:
        """Look at the engagement's state first."""
        operation = self.find_operation(context)
        found = self.store.engagement(context.resource_id) if operation.finds == "engagement" else None
        if operation.id in _OF_ACTIVE and found is not None and found.status == "archived":
            with suppress(Refusal):
                return super().authenticate(context)
            raise Refusal(409, "The engagement is archived.")
        return super().authenticate(context)


def _validating_first(identifier: str, title: str, *operations: str) -> Fault:
    """A service that validates a request before it looks at the key."""

    def authenticate(self: Service, context: RequestContext) -> Key:
        context.operation = self.find_operation(context)
        if context.operation.id in operations:
            self.check(context)
        return Service.authenticate(self, context)

    async def serve(self: Service, context: RequestContext) -> Reply:
        body = await context.request.body()
        context.content = body
        return await Service.serve(self, context)

    title = f"{title} is validated before the key."
    return made(identifier, title, "authentication-before-validation", authenticate=authenticate, serve=serve)


VALIDATED = (
    _validating_first("creation-validated-before-key", "A creation", "createEngagement"),
    _validating_first("list-validated-before-key", "The list of engagements", "listEngagements"),
    _validating_first("invitation-validated-before-key", "An invitation", "inviteMember"),
    _validating_first("edit-validated-before-key", "An edit", "updateEngagement"),
    _validating_first("renaming-validated-before-key", "A renaming", "updateCurrentOrganization"),
    _validating_first("members-validated-before-key", "The list of members", "listMembers"),
    _validating_first("role-validated-before-key", "A change of role", "updateMemberRole"),
)

# What happens all the same


def _applied(identifier: str, title: str, operation: str) -> Fault:
    """A service that does what it is asked for and refuses the bad key then."""

    async def serve(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.serve(self, context)
        except Refusal as refusal:
            if refusal.status == _UNAUTHORIZED:
                await _carry_out(self, context, operation)
            raise

    return made(
        identifier, f"{title} without a valid key is refused, and done.", "unauthenticated-changes-nothing", serve=serve
    )


async def _carry_out(service: Service, context: RequestContext, operation: str) -> None:
    """Carry an operation out with a good key."""
    context.operation = service.find_operation(context)
    if context.operation.id == operation:
        context.key = _anybody(service)
        context.content = await service.receive(context)
        with suppress(Refusal):
            service.act(context)


NAME_APPLIED = keeping_name(
    "name-applied-without-key",
    "An edit without a valid key is refused, and its name is kept.",
    _UNAUTHORIZED,
    "unauthenticated-changes-nothing",
)


APPLIED = (
    _applied("creation-applied-without-key", "A creation", "createEngagement"),
    _applied("edit-applied-without-key", "An edit", "updateEngagement"),
    _applied("deletion-applied-without-key", "A deletion", "deleteEngagement"),
    _applied("archive-applied-without-key", "Archiving", "archiveEngagement"),
    _applied("unarchive-applied-without-key", "Unarchiving", "unarchiveEngagement"),
    _applied("renaming-applied-without-key", "A renaming", "updateCurrentOrganization"),
    _applied("role-change-applied-without-key", "A role change", "updateMemberRole"),
)
