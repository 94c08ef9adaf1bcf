"""Deviations of the status, the headers and the error of a reply, also of one to a request that must be refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.reference.faults import operations as op
from conformance.reference.faults.operations import ACTIONS
from conformance.reference.faults.situations import engagements
from conformance.reference.records import Engagement, Key, Member
from conformance.reference.refusal import Refusal

from .circumstances import OF_ENGAGEMENT, OF_MEMBER, last_known, main_organization, values_sent
from .deviation import Case, Deviation, NotDoneError, always, broken_by, by_rule, do

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.reference.request_context import Reply


def _refuse(status: int, _: Case) -> Reply:
    raise Refusal(status, "Refused.")


def _has_fresh_name(case: Case) -> bool:
    """Whether no other engagement has the name that was sent, in any organization."""
    at = case.at
    if at.operation not in {op.CREATE, op.EDIT}:
        return True
    stored = (
        engagement
        for organization in at.store.organization_ids()
        for engagement in engagements(at.service, organization)
    )
    is_new = at.operation == op.CREATE and at.reply is not None
    named = [
        engagement
        for engagement in stored
        if engagement.name == at.field("name") and engagement.id != at.context.resource_id
    ]
    return len(named) == int(is_new)


def _carry_out(case: Case) -> Reply:
    """Carry out a request that must be refused, whatever forbids it, and return its reply."""
    at, context = case.at, case.at.context
    if not hasattr(context, "key"):
        known = at.service.find_key(at.service.bearer_token(context))
        context.key = known or Key("", main_organization(at), None, frozenset(SCOPES))
    context.values = values_sent(at)
    target = case.before or last_known(at)
    if isinstance(target, Engagement | Member):
        context.key = replace(context.key, organization_id=target.organization_id)
    if isinstance(target, Engagement):
        if case.before is None:
            at.store.add_engagement(target)
        status = {op.READ: target.status, op.UNARCHIVE: "archived"}.get(at.operation, "active")
        context.engagement = replace(target, status=status)
    if isinstance(target, Member):
        if case.before is None:
            case.rejoin(target)
        context.member = replace(target, role="none")
    reply: Reply = getattr(at.service, ACTIONS[at.operation])(context)
    return reply


def _accept(case: Case) -> Reply:
    with case.at.store.transaction():
        reply = _carry_out(case)
    for action in case.at.context.afterwards:
        action()
    return reply


def _accept_idly(case: Case) -> Reply:
    with case.at.store.transaction():
        raise NotDoneError(_carry_out(case))


def _do_refused(case: Case) -> Reply:
    _accept(case)
    return case.honest


def _exists(case: Case) -> bool:
    """Whether a refused request is about something that exists, or existed."""
    return case.at.operation not in {*OF_ENGAGEMENT, *OF_MEMBER} or bool(case.before or last_known(case.at))


def _mark(name: str, value: str | None) -> Callable[[Case], Reply]:
    """Send another value of a header, or none, with the reply to this request."""
    return do(lambda case: case.at.service.memory.update(marked=(case.at.context, name, value)))


def _envelope(**changes: object) -> Callable[[Case], Reply]:
    return lambda case: replace(
        case.honest, content={"error": {**case.honest.content["error"], **changes}})  # fmt: skip


STATUSES: Final[Mapping[str, Deviation]] = MappingProxyType({
    **{f"refused-{status}": Deviation("refused", f"is refused with {status}", by_rule(), partial(_refuse, status), can)
       for status, can in ((401, always), (403, always), (404, always), (409, _has_fresh_name), (500, always))},
    "status-201": Deviation("status", "is answered with 201", by_rule(
        *(operation.id for operation in OPERATIONS.values() if operation.status)),
        lambda case: replace(case.honest, status=201)),
    "accepted-done": Deviation("accepted", "is accepted and carried out", by_rule(), _accept, _exists),
    "accepted-idle": Deviation("accepted", "reports success but does nothing", by_rule(),
                               _accept_idly, _exists),
    "refused-done": Deviation("refused-done", "is refused but carried out", by_rule(), _do_refused, _exists),
    "refused-time": Deviation("refused-time", "is refused but moves updatedAt", by_rule(*OF_ENGAGEMENT[1:]),
                              do(lambda case: case.at.edit())),
    "limit-header-missing": Deviation("headers", "is answered without X-RateLimit-Remaining", broken_by(
        "rate-limit-headers-present"), _mark("X-RateLimit-Remaining", None)),
    "limit-header-negative": Deviation("headers", "is answered with a negative X-RateLimit-Remaining", broken_by(
        "rate-limit-remaining-in-range"), _mark("X-RateLimit-Remaining", "-1")),
    "reset-is-a-delay": Deviation("headers", "is answered with a delay instead of a time in X-RateLimit-Reset",
                                  broken_by("rate-limit-reset-is-time"), _mark("X-RateLimit-Reset", "60")),
    "media-type-html": Deviation("headers", "is answered with the media type text/html", broken_by("json-media-type"),
                                 _mark("Content-Type", "text/html")),
    "envelope-status-off": Deviation("envelope", "is refused with a statusCode that differs from the status", broken_by(
        "error-status-code-agrees"), _envelope(statusCode=418)),
    "envelope-code-missing": Deviation("envelope", "is refused without error.code", broken_by("error-envelope"),
                                       _envelope(code=None)),
})  # fmt: skip
"""The deviations, by their names in ids."""
