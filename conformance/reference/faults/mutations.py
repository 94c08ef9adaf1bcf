"""Mutations of the service: operators that return one, and changes of the values that they replace.

A mutation wraps methods of the service; ``first | second`` wraps both, the second outside. A change returns a value to
use instead of another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.faults import Fault
from conformance.reference.faults.situations import ALL, Situation, always, parsed
from conformance.reference.records import Item, Page
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from starlette.responses import Response

    from conformance.reference.faults.situations import Action, Condition
    from conformance.reference.queries import EngagementQuery, MemberQuery
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply, RequestContext

Method = Callable[..., Any]
Change = Callable[[Any], Any]
"""Returns the value that a fault uses instead of the honest one."""

GET_ORGANIZATION, RENAME = "getCurrentOrganization", "updateCurrentOrganization"
LIST_MEMBERS, INVITE, ROLE, REMOVE = "listMembers", "inviteMember", "updateMemberRole", "removeMember"
LIST, CREATE, READ, EDIT = "listEngagements", "createEngagement", "getEngagement", "updateEngagement"
DELETE, ARCHIVE, UNARCHIVE = "deleteEngagement", "archiveEngagement", "unarchiveEngagement"
"""The operationIds."""

ACTIONS: Final = MappingProxyType({
    GET_ORGANIZATION: "get_organization",
    RENAME: "update_organization",
    LIST_MEMBERS: "list_members",
    INVITE: "invite_member",
    ROLE: "update_member_role",
    REMOVE: "remove_member",
    LIST: "list_engagements",
    CREATE: "create_engagement",
    READ: "get_engagement",
    EDIT: "update_engagement",
    DELETE: "delete_engagement",
    ARCHIVE: "archive_engagement",
    UNARCHIVE: "unarchive_engagement",
})  # fmt: skip
"""The method of the service that carries out each operation."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """Wrappers of the service's methods.

    Args:
        wrappers: Names of methods, each with a function that takes the method and returns the one that replaces it.
    """

    wrappers: tuple[tuple[str, Callable[[Method], Method]], ...]

    def __or__(self, outer: Mutation) -> Mutation:
        """Return the mutation that applies this one, and around it another one."""
        return Mutation(self.wrappers + outer.wrappers)

    def methods(self) -> dict[str, Method]:
        """Return the methods of the faulty service that differ."""
        found: dict[str, Method] = {}
        for name, wrap in self.wrappers:
            found[name] = wrap(found.get(name) or getattr(Service, name))
        return found


def fault(identifier: str, title: str, mutation: Mutation, *breaks: str) -> Fault:
    """Return a fault.

    Args:
        identifier: Its id on the command line.
        title: What the service does wrong, in a sentence.
        mutation: How the service differs.
        breaks: The ids of the requirements that it breaks.
    """
    members = {"__doc__": title, "__module__": __name__, **mutation.methods()}
    name = "".join(part.capitalize() for part in identifier.split("-"))
    return Fault(identifier, title, breaks, type(name, (Service,), members))


# --- operators on any method


def wrap(name: str, around: Method) -> Mutation:
    """Wrap a method: ``around`` gets the service, the method bound to it, and the arguments."""

    def wrapper(honest: Method) -> Method:
        def method(self: Service, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - of any type
            return around(self, lambda *args, **kwargs: honest(self, *args, **kwargs), *given, **named)

        return method

    return Mutation(((name, wrapper),))


def put_methods(**methods: Method) -> Mutation:
    """Replace methods; each gets the service and the arguments."""
    return Mutation(tuple((name, _constant(method)) for name, method in methods.items()))


def _constant(method: Method) -> Callable[[Method], Method]:
    return lambda _: method


def result(name: str, change: Change) -> Mutation:
    """Change what a method returns."""
    return wrap(name, lambda _, honest, *given, **named: change(honest(*given, **named)))


def view(name: str, *changes: Change) -> Mutation:
    """Change a JSON view: ``created``, ``read``, ``edited``, ``item``, ``archived``, ``deleted``, ``member`` ..."""
    return result(f"view_{name}", lambda shown: _in_turn(changes, shown))


def after_change(action: Callable[[Service, Engagement, str], object]) -> Mutation:
    """Do something after an engagement was archived, or was unarchived later than its response.

    Args:
        action: Gets the service, the engagement as it was before, and its new status.
    """

    def around(service: Service, honest: Method, engagement: Engagement, status: str) -> None:
        honest(engagement, status)
        action(service, engagement, status)

    return wrap("set_status", around)


# --- operators on a request


def instead(operation: str, reply: Callable[[Situation], Reply], when: Condition = always) -> Mutation:
    """Do something else than an operation, and reply with its result; the request is valid by then."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        at = Situation(service, context)
        return reply(at) if when(at) else honest(context)

    return wrap(ACTIONS[operation], around)


def before(operation: str, action: Action, when: Condition = always) -> Mutation:
    """Do something before an operation is carried out; the request is valid by then."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        if when(at := Situation(service, context)):
            action(at)
        return honest(context)

    return wrap(ACTIONS[operation], around)


def after(operation: str, action: Action, when: Condition = always) -> Mutation:
    """Do something after an operation was carried out."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        reply = honest(context)
        if when(at := Situation(service, context, reply)):
            action(at)
        return reply

    return wrap(ACTIONS[operation], around)


def refuse(
    operation: str, status: int, when: Condition = always, *, message: str = "Refused.", step: str = ""
) -> Mutation:
    """Refuse an operation.

    Args:
        operation: The operationId.
        status: The status of the refusal.
        when: The requests that are refused.
        message: The message of the refusal.
        step: The method before which it is refused: ``authorize``, ``check``, ``find``, or another that takes the
            request once its operation is known; by default the operation's own, whose request is known to be valid.
    """
    return _raising(operation, lambda: Refusal(status, message), when, step or ACTIONS[operation])


def crash(operation: str, when: Condition = always, *, step: str = "check") -> Mutation:
    """Raise an unexpected error, which becomes a 500."""
    return _raising(operation, lambda: RuntimeError("an unexpected error of the fault"), when, step)


def _raising(operation: str, error: Callable[[], Exception], when: Condition, step: str) -> Mutation:
    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply or nothing
        if context.operation.id == operation and when(Situation(service, context)):
            raise error()
        return honest(context)

    return wrap(step, around)


def refused_yet(
    operation: str, action: Action, when: Condition = always, *, statuses: tuple[int, ...] = ()
) -> Mutation:
    """Do something although an operation is refused.

    Args:
        operation: The operationId.
        action: What is done; a refusal of its own is ignored.
        when: The refused requests, whose situation has no reply; a refusal of its own counts as false.
        statuses: The statuses of the refusals; by default any.
    """

    async def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        try:
            return await honest(context)
        except Refusal as refusal:
            at = Situation(service, context)
            if at.operation == operation and (not statuses or refusal.status in statuses):
                with suppress(Refusal):
                    if when(at):
                        action(at)
            raise

    return wrap("perform", around)


def done_yet(operation: str, status: int, when: Condition = always) -> Mutation:
    """Carry out an operation and refuse it then; the situation of ``when`` has the reply."""

    async def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        reply = await honest(context)
        if context.operation.id == operation and when(Situation(service, context, reply)):
            raise Refusal(status, "Refused.")
        return reply

    return wrap("perform", around)


def receive(operation: str, change: Callable[[bytes], bytes], when: Condition = always) -> Mutation:
    """Process another body than the one that was sent."""

    async def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - bytes
        context.content = await honest(context)
        acts = context.operation.id == operation and when(Situation(service, context))
        return change(context.content) if acts else context.content

    return wrap("receive", around)


def receive_object(operation: str, change: Change) -> Mutation:
    """Process another object than the one that was sent; a body that is no object is left alone."""

    def changed(content: bytes) -> bytes:
        body = parsed(content)
        return json.dumps(change(body)).encode() if isinstance(body, dict) else content

    return receive(operation, changed)


def new_engagement(change: Change) -> Mutation:
    """Store another engagement than the one to create."""
    return result("new_engagement", change)


def edit_as(change: Callable[[Engagement, dict[str, Any]], dict[str, Any]]) -> Mutation:
    """Carry out another edit; ``change`` gets the engagement and the valid fields, and returns other fields."""

    def action(at: Situation) -> None:
        at.context.values = change(at.engagement, at.values)

    return before(EDIT, action)


def end_process(operation: str, when: Condition = always) -> Mutation:
    """End the process over a request, before it is checked; a supervisor starts it again."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        if context.operation.id == operation and when(Situation(service, context)):
            service.end_process()
        return honest(context)

    return wrap("act", around)


def hide(when: Condition) -> Mutation:
    """Find no engagement in some requests."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - an engagement
        if when(Situation(service, context)):
            raise service.not_found("engagement")
        return honest(context)

    return wrap("find_engagement", around)


# --- operators on lists


def query(change: Change, when: Condition = always) -> Mutation:
    """Change the query for a page of engagements."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a query
        return change(honest(context)) if when(Situation(service, context)) else honest(context)

    return wrap("engagement_query", around)


def page(find: Callable[[Callable[[EngagementQuery], Any], EngagementQuery], Any]) -> Mutation:
    """Show another page of engagements; ``find`` gets the honest method and the query."""
    return wrap("find_engagements", lambda _, honest, asked: find(honest, asked))


def page_of_members(find: Callable[[Callable[[MemberQuery], Any], MemberQuery], Any]) -> Mutation:
    """Show another page of members; ``find`` gets the honest method and the query."""
    return wrap("find_members", lambda _, honest, asked: find(honest, asked))


def whole(find: Callable[[Any], Page[Item]], asked: EngagementQuery | MemberQuery) -> tuple[Item, ...]:
    """Return all items that a query matches, on whichever page."""
    return find(replace(asked, offset=0, limit=ALL)).items


def cut(asked: EngagementQuery | MemberQuery, items: tuple[Item, ...]) -> Page[Item]:
    """Return the page of these items that a query asks for."""
    return Page(items[asked.offset : asked.offset + asked.limit], len(items))


def reordered(order: Callable[[tuple[Any, ...], Any], Iterable[Any]]) -> Callable[[Method, Any], Page[Any]]:
    """Return pages of a list in another order, for ``page`` and ``page_of_members``.

    Args:
        order: Gets all items of the honest list and the query, and returns the items of the other list.
    """

    def find(honest: Method, asked: Any) -> Page[Any]:  # noqa: ANN401 - a query
        return cut(asked, tuple(order(whole(honest, asked), asked)))

    return find


# --- operators on replies


def reply(operation: str, change: Callable[[Situation], Reply], when: Condition = always) -> Mutation:
    """Change the reply to an operation that was carried out; ``*`` stands for all operations."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a reply
        at = Situation(service, context, honest(context))
        return change(at) if operation in {"*", at.operation} and when(at) else at.reply

    return wrap("act", around)


def status(operation: str, code: int, when: Condition = always) -> Mutation:
    """Reply to an operation with another status."""
    return reply(operation, lambda at: replace(at.reply_so_far, status=code), when)


def data(operation: str, change: Callable[[Situation, Any], Any], when: Condition = always) -> Mutation:
    """Change the ``data`` of the reply to an operation."""
    return reply(operation, lambda at: at.with_data(change(at, at.data)), when)


def content(operation: str, change: Change, when: Condition = always) -> Mutation:
    """Change the whole JSON of the reply to an operation."""

    def changed(at: Situation) -> Reply:
        return replace(at.reply_so_far, content=change(at.reply_so_far.content))

    return reply(operation, changed, when)


def error(change: Change, when: Condition = always) -> Mutation:
    """Change the whole JSON of errors, whatever refuses the request."""

    def around(service: Service, honest: Method, context: RequestContext, refused: Reply) -> Any:  # noqa: ANN401
        if refused.is_error and when(Situation(service, context, refused)):
            refused = replace(refused, content=change(refused.content))
        return honest(context, refused)

    return wrap("respond", around)


def header(name: str, value: Callable[[Situation], str | None], when: Condition = always) -> Mutation:
    """Send another value of a header; without the header if the value is None."""

    def around(service: Service, honest: Method, context: RequestContext, replied: Reply) -> dict[str, str]:
        headers: dict[str, str] = honest(context, replied)
        if not when(at := Situation(service, context, replied)):
            return headers
        changed = {**headers, name: value(at)}
        return {key: text for key, text in changed.items() if text is not None}

    return wrap("headers", around)


def send(change: Callable[[bytes], bytes], when: Condition = always, *, media_type: str | None = None) -> Mutation:
    """Send another body than the JSON of a reply, and another media type; no media type if it is empty."""
    replaced = {b"content-length"} if media_type is None else {b"content-length", b"content-type"}
    typed = [(b"Content-Type", media_type.encode())] if media_type else []

    def around(service: Service, honest: Method, context: RequestContext, replied: Reply) -> Response:
        response: Response = honest(context, replied)
        if when(Situation(service, context, replied)):
            response.body = change(bytes(response.body))
            kept = [(name, value) for name, value in response.raw_headers if name.lower() not in replaced]
            response.raw_headers = [*kept, *typed, (b"Content-Length", str(len(response.body)).encode())]
        return response

    return wrap("respond", around)


# --- changes of JSON objects


def put(**members: Any) -> Change:  # noqa: ANN401 - any JSON
    """Set members."""
    return lambda shown: {**shown, **members}


def edit(**changes: Change) -> Change:
    """Change the values of members that are there."""
    return lambda shown: {key: changes[key](value) if key in changes else value for key, value in shown.items()}


def drop(*names: str) -> Change:
    """Leave members out."""
    return lambda shown: {key: value for key, value in shown.items() if key not in names}


def rename(name: str, other: str) -> Change:
    """Give a member another name."""
    return lambda shown: {other if key == name else key: value for key, value in shown.items()}


def inside(name: str, change: Change) -> Change:
    """Change the object in a member."""
    return lambda shown: {**shown, name: change(shown[name])}


def set_fields(**values: Any) -> Change:  # noqa: ANN401 - of any type
    """Set fields of a record or of a query."""
    return lambda record: replace(record, **values)


def _in_turn(changes: tuple[Change, ...], value: Any) -> Any:  # noqa: ANN401 - any JSON
    for change in changes:
        value = change(value)
    return value


def flat(*faults: Fault | Iterator[Fault]) -> tuple[Fault, ...]:
    """Return single faults and families of faults as one tuple."""
    return tuple(each for item in faults for each in ((item,) if isinstance(item, Fault) else item))
