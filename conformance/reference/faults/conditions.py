"""Conditions, which say in which situations a mutation acts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .situations import NOTHING, Condition, Situation

if TYPE_CHECKING:
    from collections.abc import Callable


def always(_: Situation) -> bool:
    """Act in every situation."""
    return True


def all_of(*conditions: Condition) -> Condition:
    """All these conditions hold, of which a later one is asked only if the earlier ones hold."""
    return lambda at: all(condition(at) for condition in conditions)


def archived(at: Situation) -> bool:
    """The engagement in the path is archived."""
    return at.engagement.status == "archived"


def described(at: Situation) -> bool:
    """The engagement in the path has a description."""
    return bool(at.engagement.description)


def undescribed(at: Situation) -> bool:
    """The engagement in the path has no description."""
    return not at.engagement.description


def stored_archived(at: Situation) -> bool:
    """The engagement with the id in the path is archived; also for requests that were refused before it was found."""
    return at.stored is not None and at.stored.status == "archived"


def missing(at: Situation) -> bool:
    """No engagement has the id in the path."""
    return at.stored is None


def name_in_use(at: Situation) -> bool:
    """Another engagement of the organization has the name that was sent."""
    return at.values.get("name") in {other.name for other in at.other_engagements}


def name_of_archived(at: Situation) -> bool:
    """An archived engagement of the organization has the name that was sent."""
    return any(namesake.status == "archived" for namesake in at.namesakes)


def has_role(*roles: str) -> Condition:
    """The member in the path has one of these roles."""
    return lambda at: at.member.role in roles


def has_one_permission(at: Situation) -> bool:
    """The key has a single permission."""
    return len(at.context.key.scopes) == 1


def of_member(at: Situation) -> bool:
    """The key belongs to a member."""
    return at.context.key.user_id is not None


def header_has(name: str, part: str) -> Condition:
    """The request has a header with a text in it."""
    return lambda at: part in at.context.request.headers.get(name, "")


def reads(at: Situation) -> bool:
    """The request is a GET."""
    return not writes(at)


def writes(at: Situation) -> bool:
    """The request is not a GET."""
    return at.method != "GET"


def sends(*names: str) -> Condition:
    """The valid fields or parameters have all these names."""
    return lambda at: set(names) <= set(at.values)


def sends_only(*names: str) -> Condition:
    """The valid fields or parameters have exactly these names."""
    return lambda at: set(names) == set(at.values)


def asks(**values: object) -> Condition:
    """The valid fields or parameters have these values; None for a parameter that was not sent."""
    return lambda at: all(at.values.get(name) == value for name, value in values.items())


def body_has(**fields: object) -> Condition:
    """The body has these fields, valid or not; a body that the service cannot parse is refused."""

    def when(at: Situation) -> bool:
        body = at.service.parse(at.context.content)
        return isinstance(body, dict) and all(body.get(name, NOTHING) == value for name, value in fields.items())

    return when


def lacks(name: str) -> Condition:
    """The body is an object without a field."""
    return lambda at: isinstance(at.body, dict) and name not in at.body


def field_is(name: str, *types: type) -> Condition:
    """A field of the body has one of some Python types; a boolean is an ``int``, too."""
    return lambda at: isinstance(at.field(name), types)


def sends_other_than_text(name: str) -> Condition:
    """The body has a field that is not a text."""
    return lambda at: at.field(name) is not NOTHING and not isinstance(at.field(name), str)


def parameter_is(name: str, test: Callable[[str], bool]) -> Condition:
    """A query parameter was sent, and its value passes a test."""
    return lambda at: name in at.query and test(at.query[name])


def has_status(*statuses: int) -> Condition:
    """The reply has one of these statuses."""
    return lambda at: at.status in statuses


def is_error(at: Situation) -> bool:
    """The reply is an error."""
    return at.reply is not None and at.reply.is_error


def responds(operation: str, *statuses: int) -> Condition:
    """The reply is one to an operation, with one of some statuses or with any."""
    return lambda at: at.operation == operation and (not statuses or at.status in statuses)


def succeeds(*operations: str) -> Condition:
    """The reply is a success of one of some operations or of any."""
    return lambda at: not is_error(at) and (not operations or at.operation in operations)


def noted(name: str) -> Condition:
    """The engagement in the path was remembered under a name."""
    return lambda at: at.context.resource_id in at.remembered(name, set())


def _in_path(at: Situation) -> str:
    return at.context.resource_id


def counted(name: str, test: Callable[[int], bool], of: Callable[[Situation], str] = _in_path) -> Condition:
    """A test of how often this was asked about the resource in the path, or about the id that ``of`` returns."""

    def when(at: Situation) -> bool:
        counts = at.remembered(name, Counter())
        counts[of(at)] += 1
        return test(counts[of(at)])

    return when


def again(name: str, of: Callable[[Situation], str] = _in_path) -> Condition:
    """The condition was asked before about the resource in the path, or about the id that ``of`` returns."""
    return counted(name, lambda number: number > 1, of)


def at_first(at: Situation) -> bool:
    """No other request was asked about before."""
    return at.remembered("first request", at.context) is at.context
