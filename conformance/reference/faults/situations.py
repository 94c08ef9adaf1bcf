"""Situations in which faults act: requests and what is stored, and the helpers of actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.queries import EngagementQuery, MemberQuery

if TYPE_CHECKING:
    from conformance.reference.records import Engagement, Member
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service
    from conformance.reference.store import Store

NOTHING: Final = object()
"""The value of a field that was not sent, and of a body that is not JSON."""

ALL: Final = 10_000
"""A limit above the number of items of any organization in a test."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A request at the point at which a fault acts.

    Args:
        service: The faulty service.
        context: The request.
        reply: The reply to it, if there is one yet.
    """

    service: Service
    context: RequestContext
    reply: Reply | None = None

    @property
    def store(self) -> Store:
        """The store of the service."""
        return self.service.store

    @property
    def now(self) -> int:
        """The present time, in milliseconds since the epoch."""
        return self.service.now()

    @property
    def operation(self) -> str:
        """The operationId; empty if the request was refused before its operation was known."""
        return self.context.operation.id if hasattr(self.context, "operation") else ""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return str(self.context.request.method)

    @property
    def status(self) -> int:
        """The status of the reply; 0 if there is none."""
        return self.reply.status if self.reply else 0

    @property
    def reply_so_far(self) -> Reply:
        """The reply.

        Raises:
            TypeError: There is none yet.
        """
        if self.reply is None:
            raise TypeError("the situation has no reply yet")
        return self.reply

    @property
    def data(self) -> Any:  # noqa: ANN401 - any JSON
        """The ``data`` of the reply.

        Raises:
            TypeError: There is no reply yet.
        """
        return self.reply_so_far.content["data"]

    @property
    def engagement(self) -> Engagement:
        """The engagement in the path, as it was found."""
        return self.context.engagement

    @property
    def member(self) -> Member:
        """The member in the path, as it was found."""
        return self.context.member

    @property
    def values(self) -> dict[str, Any]:
        """The valid fields or parameters of the request."""
        return self.context.values

    @property
    def query(self) -> Any:  # noqa: ANN401 - Starlette's type
        """The query parameters as they were sent."""
        return self.context.request.query_params

    @property
    def body(self) -> Any:  # noqa: ANN401 - any JSON
        """The parsed body; ``NOTHING`` if it is not JSON."""
        return parsed(self.context.content)

    def field(self, name: str) -> Any:  # noqa: ANN401 - any JSON
        """Return a field of the body; ``NOTHING`` if it was not sent."""
        return self.body.get(name, NOTHING) if isinstance(self.body, dict) else NOTHING

    @property
    def stored(self) -> Engagement | None:
        """The engagement with the id of the path, as the store has it now."""
        return self.store.engagement(self.context.resource_id)

    @property
    def engagements(self) -> tuple[Engagement, ...]:
        """All engagements of the key's organization, the oldest first."""
        return engagements(self.service, self.context.organization_id)

    @property
    def other_engagements(self) -> tuple[Engagement, ...]:
        """The same without the engagement of the path."""
        return tuple(other for other in self.engagements if other.id != self.context.resource_id)

    @property
    def namesakes(self) -> tuple[Engagement, ...]:
        """All engagements of the key's organization with the name that was sent, the oldest first."""
        return tuple(engagement for engagement in self.engagements if engagement.name == self.values.get("name"))

    @property
    def others(self) -> tuple[Member, ...]:
        """All members of the key's organization without the owners and the member of the path."""
        everyone = members(self.service, self.context.organization_id)
        return tuple(other for other in everyone if other.user_id != self.context.resource_id and other.role != "owner")

    def with_data(self, data: object) -> Reply:
        """Return the reply with other ``data``."""
        return replace(self.reply_so_far, content={**self.reply_so_far.content, "data": data})

    def remembered(self, name: str, start: object) -> Any:  # noqa: ANN401 - of any type
        """Return a fault's state between requests, which begins as ``start``."""
        return self.service.memory.setdefault(name, start)

    def defer(self, is_due: Callable[[], bool], action: Callable[[], object]) -> None:
        """Leave something for the first later request at which it is due."""
        self.remembered("due", []).append((is_due, action))

    def do_deferred(self) -> None:
        """Do what earlier requests left, if it is due."""
        waiting = self.remembered("due", [])
        for entry in [entry for entry in waiting if entry[0]()]:
            waiting.remove(entry)
            entry[1]()

    def edit(self, **columns: str | None) -> None:
        """Write columns of the engagement in the path, and the present time as its last change."""
        self.store.edit_engagement(self.context.resource_id, columns, self.now)

    def overwrite(self, **columns: object) -> None:
        """Write columns of the engagement in the path, and nothing else."""
        overwrite(self.service, "engagements", self.context.resource_id, **columns)

    def success(self, data: dict[str, Any]) -> Reply:
        """Return the success of the operation with this ``data``."""
        return self.service.resource(self.context, data)

    def replied(self, view: str, **members: object) -> Reply:
        """Return the success with a view of the engagement as it was found, and some members of it replaced."""
        return self.success({**getattr(self.service, f"view_{view}")(self.engagement), **members})

    def shown(self, view: str) -> Reply:
        """Return the success with a view of the engagement as it is stored now."""
        return self.success(getattr(self.service, f"view_{view}")(self.service.find_engagement(self.context)))


Condition = Callable[[Situation], bool]
"""Says in which situations a mutation acts."""

Action = Callable[[Situation], object]
"""Does something in a situation."""


def parsed(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return a parsed body; ``NOTHING`` if it is not JSON, or nested too deeply."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return NOTHING


def engagements(service: Service, organization_id: str) -> tuple[Engagement, ...]:
    """Return all engagements of an organization, the oldest first."""
    asked = EngagementQuery(organization_id, 0, ALL, descending=False, ties="oldest")
    return service.store.engagements(asked).items


def members(service: Service, organization_id: str) -> tuple[Member, ...]:
    """Return all members of an organization."""
    return service.store.members(MemberQuery(organization_id, 0, ALL)).items


def overwrite(service: Service, table: str, identifier: str, **columns: object) -> None:
    """Write columns of a row, without the rules of the store."""
    parts = ", ".join(f"{column} = ?" for column in columns)
    statement = f"UPDATE {table} SET {parts} WHERE id = ?"  # noqa: S608 - both are literals of this package
    service.store.execute(statement, *columns.values(), identifier)


def moment(text: str) -> int:
    """Return a time that a client sent in milliseconds since the epoch; 0 if it is none."""
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return 0


def change_roles(at: Situation, changed: Iterable[Member], role: str) -> None:
    """Give members of the key's organization a role, without the rules of the service."""
    for member in changed:
        at.store.change_role(at.context.organization_id, member.user_id, role, at.now)


def remove_members(at: Situation, removed: Iterable[Member]) -> None:
    """Remove members of the key's organization, without the rules of the service."""
    for member in removed:
        at.store.remove_member(at.context.organization_id, member.user_id)


def take_for_active(at: Situation) -> None:
    """Process the request as if the engagement in the path were active."""
    at.context.engagement = replace(at.engagement, status="active")


def show_edited(at: Situation, **fields: Any) -> Reply:  # noqa: ANN401 - of any type
    """Return the success of an edit that stores nothing, if the engagement is editable; it shows other fields."""
    at.service.check_editable(at.engagement)
    return at.success(at.service.view_edited(replace(at.engagement, **fields)))


def remember(name: str, value: Callable[[Situation], object]) -> Action:
    """Return an action that remembers a value for the resource in the path."""
    return lambda at: at.remembered(name, {}).update({at.context.resource_id: value(at)})


def recalled(service: Service, name: str, identifier: str | None, otherwise: object = None) -> Any:  # noqa: ANN401 - of any type
    """Return the value that was remembered for a resource."""
    return service.memory.get(name, {}).get(identifier, otherwise)


def edit_all(service: Service, edited: Iterable[Engagement], **columns: str | None) -> None:
    """Write columns of engagements, and the present time as their last change."""
    for engagement in edited:
        service.store.edit_engagement(engagement.id, columns, service.now())


def note(name: str) -> Action:
    """Return an action that remembers the engagement in the path under a name."""
    return lambda at: at.remembered(name, set()).add(at.context.resource_id)


def switch_roles(at: Situation, changed: Iterable[Member]) -> None:
    """Make members of admins, and admins of members."""
    for member in changed:
        change_roles(at, [member], "member" if member.role == "admin" else "admin")


def use_key_of(at: Situation, organization_id: str) -> None:
    """Process the request as if its key were of an organization."""
    at.context.key = replace(at.context.key, organization_id=organization_id)
