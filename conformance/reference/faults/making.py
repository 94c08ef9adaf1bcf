"""Factories of similar faults: subclasses of the service with one or two overridden methods."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from conformance.reference.faults import Fault
from conformance.reference.faults.sending import field
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.views import View

    Change = Callable[[Any], Any]
    """Gives what is written instead of a value."""

    Sent = dict[str, Any]
    """The fields of a body."""


def made(identifier: str, title: str, *breaks: str, **members: Any) -> Fault:  # noqa: ANN401 - methods of every kind
    """Make a fault from methods.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        breaks: The ids of the requirements that it breaks.
        members: The methods that differ, by their names; each takes the service first.
    """
    name = "".join(part.capitalize() for part in identifier.split("-"))
    service: type[Service] = type(name, (Service,), {"__doc__": title, "__module__": __name__, **members})
    return Fault(identifier, title, breaks, service)


def shown(identifier: str, title: str, view: str, change: Callable[[View], View], *breaks: str) -> Fault:
    """Make a fault of how something is shown.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        view: The method that shows it.
        change: Gives what is shown instead.
        breaks: The ids of the requirements that it breaks.
    """
    honest = getattr(Service, view)
    return made(identifier, title, *breaks, **{view: lambda self, *given: change(honest(self, *given))})


def replied(
    identifier: str, title: str, operation: str, change: Callable[[RequestContext, Reply], Reply], *breaks: str
) -> Fault:
    """Make a fault of what an operation answers once it has done its work.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        operation: The operationId, or ``*`` for all.
        change: Gives the reply that is sent instead; it may change the one that it is given.
        breaks: The ids of the requirements that it breaks.
    """

    def act(self: Service, context: RequestContext) -> Reply:
        reply = Service.act(self, context)
        return change(context, reply) if operation in {"*", context.operation.id} else reply

    return made(identifier, title, *breaks, act=act)


def overwrite(service: Service, table: str, identifier: str, **columns: object) -> None:
    """Write columns of a row, past the rules that the store keeps."""
    parts = ", ".join(f"{column} = ?" for column in columns)
    statement = f"UPDATE {table} SET {parts} WHERE id = ?"  # noqa: S608 - both are literals of this package
    service.store.execute(statement, *columns.values(), identifier)


def moment(text: str) -> int:
    """Read a moment that a client sent, in milliseconds since the epoch; 0 where it is none."""
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return 0


def without(path: tuple[str, ...]) -> Callable[[View], View]:
    """Leave a field out."""
    return lambda view: _at(
        view, path, lambda holder, name: {key: value for key, value in holder.items() if key != name}
    )


def instead(path: tuple[str, ...], change: Change) -> Callable[[View], View]:
    """Write something else for a field, where it is shown."""

    def put(holder: View, name: str) -> View:
        return {**holder, name: change(holder[name])} if name in holder else holder

    return lambda view: _at(view, path, put)


def renamed(name: str, other: str) -> Callable[[View], View]:
    """Give a field another name."""
    return lambda view: {other if key == name else key: value for key, value in view.items()}


def _at(view: View, path: tuple[str, ...], change: Callable[[View, str], View]) -> View:
    """Change the object that holds a field, without touching what the view is made from."""
    name, *rest = path
    if not rest:
        return change(view, name)
    return {**view, name: _at(view[name], tuple(rest), change)}


def storing(identifier: str, title: str, change: Callable[[Engagement, Sent], Sent], *breaks: str) -> Fault:
    """Make a fault of edits that change something else than they should.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        change: Is given what stands and what was sent, and gives what is carried out.
        breaks: The ids of the requirements that it breaks.
    """

    def update_engagement(self: Service, context: RequestContext) -> Reply:
        context.values = change(context.engagement, context.values)
        return Service.update_engagement(self, context)

    return made(identifier, title, *breaks, update_engagement=update_engagement)


def stumbling(
    identifier: str, title: str, operation: str, is_odd: Callable[[RequestContext], bool], *breaks: str
) -> Fault:
    """Make a fault of an operation that ends in an unexpected error over some requests.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        operation: The operationId.
        is_odd: Whether a request is one of those.
        breaks: The ids of the requirements that it breaks, beside ``no-server-error``.
    """

    def check(self: Service, context: RequestContext) -> None:
        if context.operation.id == operation and is_odd(context):
            raise RuntimeError("nobody thought of that")
        Service.check(self, context)

    return made(identifier, title, "no-server-error", *breaks, check=check)


def keeping_name(identifier: str, title: str, status: int, *breaks: str) -> Fault:
    """Make a fault of edits that are refused before anybody has read them, and give the engagement their name.

    Args:
        identifier: How it is named on the command line.
        title: What the service does wrong, in a sentence.
        status: With what they are refused.
        breaks: The ids of the requirements that it breaks.
    """

    async def serve(self: Service, context: RequestContext) -> Reply:
        try:
            return await Service.serve(self, context)
        except Refusal as refusal:
            if refusal.status == status and context.request.method == "PATCH":
                await _keep_name(self, context)
            raise

    return made(identifier, title, *breaks, serve=serve)


async def _keep_name(service: Service, context: RequestContext) -> None:
    context.operation = service.find_operation(context)
    context.content = await service.receive(context)
    name = field(context, "name")
    is_edit = context.operation.id == "updateEngagement" and service.store.engagement(context.resource_id) is not None
    if is_edit and isinstance(name, str):
        service.store.edit_engagement(context.resource_id, {"name": name}, service.now())
