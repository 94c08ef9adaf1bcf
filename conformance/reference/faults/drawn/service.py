"""Services with a drawn fault."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.interface.operations import OPERATIONS
from conformance.reference.faults.changes import cut, list_deleted, whole
from conformance.reference.faults.mutations import Method, Mutation, at_step, wrap
from conformance.reference.records import Page, Subordinate
from conformance.reference.refusal import Refusal

from .circumstances import BARRED, INVALID, SINCE, actor_of, is_certainly_invalid, is_in, record, state_of, target_of
from .deviation import Case, NotDoneError

if TYPE_CHECKING:
    from conformance.reference.faults.situations import Situation
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply
    from conformance.reference.service import Service

    from .parts import Parts


@dataclass(frozen=True, slots=True)
class _Affected:
    """A request on its way through the faulty service.

    Args:
        parts: The parts of the fault.
        case: The request.
        actor: Its sender.
        state: The state of its target.
    """

    parts: Parts
    case: Case
    actor: str
    state: str

    @classmethod
    def of(cls, parts: Parts, at: Situation) -> _Affected:
        """Return a request as it is before it is processed, and remember its target."""
        before = target_of(at)
        if before is not None:
            at.remembered("known", {})[at.context.resource_id] = before
        return cls(parts, Case(at, before, parts.state), actor_of(at), state_of(at, before))

    def processed(self, honest: Method) -> Reply:
        """Process the request, and reply right or wrong."""
        try:
            with self.case.at.store.transaction():
                case = replace(self.case, at=replace(self.case.at, reply=honest()))
                reply = self.parts.kind.act(case) if self.parts.succeeds and self._is_affected(case) else case.honest
        except Refusal as refusal:
            return self.refused(refusal)
        record(case.at, case.before)
        return reply

    def refused(self, refusal: Refusal) -> Reply:
        """Reply wrong to a request that must be refused, or refuse it.

        Raises:
            Refusal: The refusal, right or wrong.
        """
        case = replace(self.case, refusal=refusal)
        record(case.at, case.before, lacks_access=refusal.status in {*_EARLY, 404})
        if self.parts.succeeds or not self._is_due(refusal) or not self._is_affected(case):
            raise refusal
        return self.parts.kind.act(case)

    def _is_due(self, refusal: Refusal) -> bool:
        """Whether a refusal is the one that the fault is about, not one for a lack of permission."""
        key, scope = getattr(self.case.at.context, "key", None), OPERATIONS[self.case.at.operation].scope
        may_ask = key is not None and (scope is None or scope in key.scopes)
        is_due = self.actor in BARRED or self.parts.is_scope_missing or may_ask
        return refusal.status in self.parts.permitted and is_due

    def _is_affected(self, case: Case) -> bool:
        parts, at = self.parts, case.at
        senders = {self.actor} if self.actor in BARRED else {self.actor, "any"}
        if at.operation != parts.operation or not parts.kind.can(case) or parts.actor not in senders:
            return False
        if parts.of_items:
            is_in_state = bool(case.listed)
        elif parts.state == INVALID:
            is_in_state = is_certainly_invalid(at)
        else:
            is_in_state = is_in(parts.state, self.state)
        return is_in_state and SINCE[parts.since].holds(at)


def mutation(parts: Parts) -> Mutation:
    """Return how the service differs."""

    def act(at: Situation, honest: Method) -> Reply:
        try:
            return _Affected.of(parts, at).processed(honest)
        except NotDoneError as end:
            return end.reply

    async def serve(at: Situation, honest: Method) -> object:
        at.service.memory["requests"] = at.remembered("requests", 0) + 1
        at.do_deferred()
        try:
            return await honest()
        except Refusal as refusal:
            if at.operation or refusal.status not in _EARLY:
                raise
            try:
                at.context.operation = at.service.find_operation(at.context)
            except Refusal:
                raise refusal from None
            at.context.content = await at.service.receive(at.context)
            try:
                return _Affected.of(parts, at).refused(refusal)
            except NotDoneError as end:
                return end.reply

    return (
        at_step("act", act)
        | at_step("serve", serve)
        | at_step("headers", _headers)
        | wrap("add_subordinate", _note_record)
        | wrap("find_engagements", _without_hidden)
        | list_deleted(lambda asked, engagement: engagement.organization_id == asked.organization_id
                       and asked.status in {None, engagement.status})
        | wrap("count_engagements", lambda service, honest, organization: honest(organization)
               + service.memory.get("miscounted", {}).get((organization.id, False), 0))
        | wrap("count_members", lambda service, honest, organization: honest(organization)
               + service.memory.get("miscounted", {}).get((organization.id, True), 0))
    )  # fmt: skip


_EARLY = frozenset({401, 403, 429})


def _headers(at: Situation, honest: Method) -> dict[str, str]:
    context, name, value = at.service.memory.get("marked", (None, "", None))
    headers: dict[str, str] = honest()
    if context is at.context:
        headers.pop(name)
        headers |= {} if value is None else {name: value}
    return headers


def _note_record(service: Service, honest: Method, engagement_id: str, kind: str) -> str:
    identifier: str = honest(engagement_id, kind)
    records = service.memory.setdefault("records", {})
    records.setdefault(engagement_id, []).append(Subordinate(identifier, engagement_id, kind))
    return identifier


def _without_hidden(service: Service, honest: Method, asked: EngagementQuery) -> Page[Engagement]:
    hidden = service.memory.get("hidden", set())
    shown = (engagement for engagement in whole(honest, asked) if engagement.id not in hidden)
    return cut(asked, tuple(shown)) if hidden else honest(asked)
