"""A deviation of a drawn fault: how a service violates the interface, for any sender and at any time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import operations as op
from conformance.reference.faults.operations import ACTIONS
from conformance.reference.records import Engagement, Member

from .circumstances import LISTS, OF_MEMBER, Target, is_in, state_of

if TYPE_CHECKING:
    from conformance.reference.faults.situations import Situation
    from conformance.reference.refusal import Refusal
    from conformance.reference.request_context import Reply

Requirements = Mapping[str, tuple[str, ...]]
"""The broken requirements by operation, first the one that a deviation is about."""


class NotDoneError(Exception):
    """The effect of a request is rolled back although its reply reports success.

    Args:
        reply: The reply.
    """

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Case:
    """A request that a deviation may affect.

    Args:
        at: The request, with its reply if it succeeded.
        before: The target of the request, as it was stored before.
        state: The state of the fault, which listed items must have.
        refusal: The refusal; None if the request succeeded.
    """

    at: Situation
    before: Target | None
    state: str
    refusal: Refusal | None = None

    @property
    def engagement(self) -> Engagement:
        """The engagement as it was stored before.

        Raises:
            TypeError: The request is about something else.
        """
        if not isinstance(self.before, Engagement):
            raise TypeError("the request is not about an engagement")
        return self.before

    @property
    def honest(self) -> Reply:
        """The reply of the honest service."""
        return self.at.service.error(self.refusal) if self.refusal else self.at.reply_so_far

    @property
    def identifier(self) -> str:
        """The id of the engagement or member, also of a new one."""
        return str(self.at.context.resource_id or self.at.data["id"])

    @property
    def another(self) -> Engagement | Member | None:
        """The newest other engagement or member that the same request would change."""
        at = self.at
        if at.operation in OF_MEMBER:
            return next((other for other in reversed(at.others) if other.role != at.values.get("role")), None)
        status = "archived" if at.operation == op.UNARCHIVE else "active"
        return next((other for other in reversed(at.other_engagements) if other.status == status), None)

    @property
    def listed(self) -> list[int]:
        """The places of the listed items that are in the state."""
        at, found = self.at, []
        for place, item in enumerate(at.data):
            stored: Target | None = at.store.engagement(item["id"])
            if at.operation == op.LIST_MEMBERS:
                stored = at.store.member(at.context.organization_id, item["id"])
            if is_in(self.state, state_of(at, stored)):
                found.append(place)
        return found

    def rejoin(self, member: Member) -> None:
        """Store a removed member again."""
        self.at.store.add_member(
            member.organization_id, member.user_id, member.role, member.joined_at, member.last_seen_at
        )

    def with_item(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Reply:
        """Return the reply with another object: the last item in the state, or the resource."""
        if self.at.operation not in LISTS:
            return self.at.with_data(change(self.at.data))
        items, place = list(self.at.data), self.listed[-1]
        items[place] = change(items[place])
        return self.at.with_data(items)

    def with_meta(self, **changes: int) -> Reply:
        """Return a list with other members of its meta."""
        content = self.at.reply_so_far.content
        return replace(self.at.reply_so_far, content={**content, "meta": {**content["meta"], **changes}})

    def repeated(self, **values: object) -> Reply:
        """Return the reply to the same list request with other parameters, and the meta of this one."""
        context = copy(self.at.context)
        context.values = {**self.at.values, **values}
        other: Reply = getattr(self.at.service, ACTIONS[self.at.operation])(context)
        return other


def always(_: Case) -> bool:
    """Whether a request can be affected: each can."""
    return True


@dataclass(frozen=True, slots=True)
class Deviation:
    """A kind of wrong.

    Args:
        family: The kinds that a draw takes as one.
        words: What the service does, a clause that ends the title.
        breaks: The requirements; empty for an operation if they depend on the rule that forbids the response.
        act: Returns the wrong reply, or raises the wrong refusal.
        can: Whether a request can be affected; asked of every request of the operation.
    """

    family: str
    words: str
    breaks: Requirements
    act: Callable[[Case], Reply]
    can: Callable[[Case], bool] = always


def by_rule(*operations: str) -> Requirements:
    """Leave the requirements of these operations, or of all, to the rule that forbids the response."""
    return dict.fromkeys(operations or tuple(ACTIONS), ())


def broken_by(*requirements: str, operations: tuple[str, ...] = tuple(ACTIONS)) -> Requirements:
    """Return these requirements for each operation."""
    return dict.fromkeys(operations, requirements)


def do(action: Callable[[Case], object]) -> Callable[[Case], Reply]:
    """Do something else besides, and reply as the honest service."""

    def act(case: Case) -> Reply:
        action(case)
        return case.honest

    return act
