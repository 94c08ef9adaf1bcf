"""Vocabulary of faults: operators, conditions and changes.

An operator returns a mutation, which wraps methods of the service; ``first | second`` wraps both, the second outside.
A condition says in which situations a mutation acts. A change returns a value to use instead of another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.faults import Fault
from conformance.reference.queries import EngagementQuery, MemberQuery
from conformance.reference.records import Item, Page
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    from starlette.responses import Response

    from conformance.reference.records import Engagement, Member
    from conformance.reference.request_context import Reply, RequestContext

Method = Callable[..., Any]
Change = Callable[[Any], Any]
"""Returns the value that a fault uses instead of the honest one."""

NOTHING: Final = object()
"""The value of a field that was not sent, and of a body that is not JSON."""

ALL: Final = 10_000
"""A limit above the number of items of any organization in a test."""

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
    def data(self) -> Any:  # noqa: ANN401 - any JSON
        """The ``data`` of the reply.

        Raises:
            TypeError: There is no reply yet.
        """
        return _reply_of(self).content["data"]

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
        return self.service.store.engagement(self.context.resource_id)

    @property
    def engagements(self) -> tuple[Engagement, ...]:
        """All engagements of the key's organization, the oldest first."""
        return engagements(self.service, self.context.organization_id)

    @property
    def other_engagements(self) -> tuple[Engagement, ...]:
        """The same without the engagement of the path."""
        return tuple(other for other in self.engagements if other.id != self.context.resource_id)

    @property
    def others(self) -> tuple[Member, ...]:
        """All members of the key's organization without the owners and the member of the path."""
        everyone = members(self.service, self.context.organization_id)
        return tuple(other for other in everyone if other.user_id != self.context.resource_id and other.role != "owner")

    def with_data(self, data: Any) -> Reply:  # noqa: ANN401 - any JSON
        """Return the reply with other ``data``."""
        return replace(_reply_of(self), content={**_reply_of(self).content, "data": data})

    def remembered(self, name: str, start: Any) -> Any:  # noqa: ANN401 - of any type
        """Return a fault's state between requests, which begins as ``start``."""
        return self.service.memory.setdefault(name, start)

    def edit(self, **columns: str | None) -> None:
        """Write columns of the engagement in the path, and the present time as its last change."""
        self.service.store.edit_engagement(self.context.resource_id, columns, self.service.now())

    def overwrite(self, **columns: object) -> None:
        """Write columns of the engagement in the path, and nothing else."""
        overwrite(self.service, "engagements", self.context.resource_id, **columns)

    def success(self, data: dict[str, Any]) -> Reply:
        """Return the success of the operation with this ``data``."""
        return self.service.resource(self.context, data)

    def replied(self, view: str, **members: Any) -> Reply:  # noqa: ANN401 - any JSON
        """Return the success with a view of the engagement as it was found, and some members of it replaced."""
        return self.success({**getattr(self.service, f"view_{view}")(self.engagement), **members})


Condition = Callable[[Situation], bool]
Action = Callable[[Situation], object]


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
    """Do something after the status of an engagement changed.

    Args:
        action: Gets the service, the engagement as it was before, and its new status.
    """

    def around(service: Service, honest: Method, engagement: Engagement, status: str) -> None:
        honest(engagement, status)
        action(service, engagement, status)

    return wrap("set_status", around)


# --- operators on a request


def always(_: Situation) -> bool:
    """Act in every situation."""
    return True


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


def refuse_with(
    operation: str, status: int, instead_of: tuple[int, ...] = (400, 422), *, step: str = "check"
) -> Mutation:
    """Refuse with another status what a step refuses."""

    def around(_: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - nothing
        try:
            return honest(context)
        except Refusal as refusal:
            if context.operation.id == operation and refusal.status in instead_of:
                raise Refusal(status, refusal.message) from None
            raise

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


def query(change: Callable[[Any, Any], Any]) -> Mutation:
    """Ask the store for another page of engagements; ``change`` gets the parameters and the honest query."""
    return wrap("engagement_query", lambda _, honest, context: change(context.values, honest(context)))


def page(find: Callable[[Callable[[EngagementQuery], Any], EngagementQuery], Any]) -> Mutation:
    """Show another page of engagements; ``find`` gets the honest method and the query."""
    return wrap("find_engagements", lambda _, honest, asked: find(honest, asked))


def page_of_members(find: Callable[[Callable[[MemberQuery], Any], MemberQuery], Any]) -> Mutation:
    """Show another page of members; ``find`` gets the honest method and the query."""
    return wrap("find_members", lambda _, honest, asked: find(honest, asked))


def requery(change: Change, when: Condition = always) -> Mutation:
    """Change the query for a page of engagements."""

    def around(service: Service, honest: Method, context: RequestContext) -> Any:  # noqa: ANN401 - a query
        return change(honest(context)) if when(Situation(service, context)) else honest(context)

    return wrap("engagement_query", around)


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
    return reply(operation, lambda at: replace(_reply_of(at), status=code), when)


def data(operation: str, change: Callable[[Situation, Any], Any], when: Condition = always) -> Mutation:
    """Change the ``data`` of the reply to an operation."""
    return reply(operation, lambda at: at.with_data(change(at, at.data)), when)


def content(operation: str, change: Change, when: Condition = always) -> Mutation:
    """Change the whole JSON of the reply to an operation."""

    def changed(at: Situation) -> Reply:
        return replace(_reply_of(at), content=change(_reply_of(at).content))

    return reply(operation, changed, when)


def error(change: Change, when: Condition = always) -> Mutation:
    """Change the whole JSON of errors, whatever refuses the request."""

    def around(service: Service, honest: Method, context: RequestContext, refused: Reply) -> Any:  # noqa: ANN401
        if refused.is_error and when(Situation(service, context, refused)):
            refused = replace(refused, content=change(refused.content))
        return honest(context, refused)

    return wrap("respond", around)


def rate_limit_header(name: str, value: Callable[[Situation], str | None], when: Condition = always) -> Mutation:
    """Send another value of a rate-limit header; without the header if the value is None."""
    return _header("rate_limit_headers", name, value, when)


def header(name: str, value: Callable[[Situation], str | None], when: Condition = always) -> Mutation:
    """Send another value of any header; without the header if the value is None."""
    return _header("headers", name, value, when)


def _header(method: str, name: str, value: Callable[[Situation], str | None], when: Condition) -> Mutation:
    def around(service: Service, honest: Method, context: RequestContext, replied: Reply) -> dict[str, str]:
        headers: dict[str, str] = honest(context, replied)
        if not when(at := Situation(service, context, replied)):
            return headers
        changed = {**headers, name: value(at)}
        return {key: text for key, text in changed.items() if text is not None}

    return wrap(method, around)


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


# --- conditions


def archived(at: Situation) -> bool:
    """The engagement in the path is archived."""
    return at.engagement.status == "archived"


def described(at: Situation) -> bool:
    """The engagement in the path has a description."""
    return bool(at.engagement.description)


def undescribed(at: Situation) -> bool:
    """The engagement in the path has no description."""
    return not at.engagement.description


def sends(*names: str) -> Condition:
    """The valid fields or parameters have all these names."""
    return lambda at: set(names) <= set(at.values)


def sends_only(*names: str) -> Condition:
    """The valid fields or parameters have exactly these names."""
    return lambda at: set(names) == set(at.values)


def name_in_use(at: Situation) -> bool:
    """Another engagement of the organization has the name that was sent."""
    return at.values.get("name") in {other.name for other in at.other_engagements}


def missing(at: Situation) -> bool:
    """No engagement has the id in the path."""
    return at.stored is None


def responds(operation: str, *statuses: int) -> Condition:
    """The reply is one to an operation, with one of some statuses or with any."""
    return lambda at: at.operation == operation and (not statuses or at.status in statuses)


def has_status(*statuses: int) -> Condition:
    """The reply has one of these statuses."""
    return lambda at: at.status in statuses


def is_error(at: Situation) -> bool:
    """The reply is an error."""
    return at.reply is not None and at.reply.is_error


def writes(at: Situation) -> bool:
    """The request is not a GET."""
    return at.method != "GET"


def asks(**values: Any) -> Condition:  # noqa: ANN401 - any JSON
    """The valid fields or parameters have these values; None for a parameter that was not sent."""
    return lambda at: all(at.values.get(name) == value for name, value in values.items())


def note(name: str) -> Action:
    """Return an action that remembers the engagement in the path under a name."""
    return lambda at: at.remembered(name, set()).add(at.context.resource_id)


def noted(name: str) -> Condition:
    """The engagement in the path was remembered under a name."""
    return lambda at: at.context.resource_id in at.remembered(name, set())


def again(name: str) -> Condition:
    """The condition was asked about the engagement in the path before."""

    def when(at: Situation) -> bool:
        met = noted(name)(at)
        note(name)(at)
        return met

    return when


def has_role(*roles: str) -> Condition:
    """The member in the path has one of these roles."""
    return lambda at: at.member.role in roles


def body_has(**fields: Any) -> Condition:  # noqa: ANN401 - any JSON
    """The body has these fields, valid or not; a body that the service cannot parse is refused."""

    def when(at: Situation) -> bool:
        body = at.service.parse(at.context.content)
        return isinstance(body, dict) and all(body.get(name, NOTHING) == value for name, value in fields.items())

    return when


def all_of(*conditions: Condition) -> Condition:
    """All these conditions hold, of which a later one is asked only if the earlier ones hold."""
    return lambda at: all(condition(at) for condition in conditions)


def lacks(name: str) -> Condition:
    """The body is an object without a field."""
    return lambda at: isinstance(at.body, dict) and name not in at.body


def field_is(name: str, *types: type) -> Condition:
    """A field of the body has one of some Python types; a boolean is an ``int``, too."""
    return lambda at: isinstance(at.field(name), types)


def parameter_is(name: str, test: Callable[[str], bool]) -> Condition:
    """A query parameter was sent, and its value passes a test."""
    return lambda at: name in at.query and test(at.query[name])


def reads(at: Situation) -> bool:
    """The request is a GET."""
    return not writes(at)


def succeeds(*operations: str) -> Condition:
    """The reply is a success of one of some operations or of any."""
    return lambda at: not is_error(at) and (not operations or at.operation in operations)


def has_one_permission(at: Situation) -> bool:
    """The key has a single permission."""
    return len(at.context.key.scopes) == 1


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


def _reply_of(at: Situation) -> Reply:
    if at.reply is None:
        raise TypeError("the situation has no reply yet")
    return at.reply


# --- helpers of actions


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
        at.service.store.change_role(at.context.organization_id, member.user_id, role, at.service.now())


def remove_members(at: Situation, removed: Iterable[Member]) -> None:
    """Remove members of the key's organization, without the rules of the service."""
    for member in removed:
        at.service.store.remove_member(at.context.organization_id, member.user_id)


def take_for_active(at: Situation) -> None:
    """Process the request as if the engagement in the path were active."""
    at.context.engagement = replace(at.engagement, status="active")


def flat(*faults: Fault | Iterator[Fault]) -> tuple[Fault, ...]:
    """Return single faults and families of faults as one tuple."""
    return tuple(each for item in faults for each in ((item,) if isinstance(item, Fault) else item))
