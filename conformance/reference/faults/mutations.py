"""Mutations of the service, and the operators that return them.

A mutation wraps methods of the service; ``first | second`` wraps both, the second outside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

from . import Fault
from .conditions import always
from .operations import ACTIONS, EDIT
from .situations import Action, Condition, Situation, parsed

if TYPE_CHECKING:
    from conformance.reference.records import Engagement
    from conformance.reference.request_context import Reply

Method = Callable[..., Any]

Change = Callable[[Any], Any]
"""Returns the value that a fault uses instead of the honest one."""


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


def flat(*faults: Fault | Iterator[Fault]) -> tuple[Fault, ...]:
    """Return single faults and families of faults as one tuple."""
    return tuple(fault for item in faults for fault in ((item,) if isinstance(item, Fault) else item))


# --- operators on any method


def wrap(name: str, around: Method) -> Mutation:
    """Wrap a method: ``around`` gets the service, the method bound to it, and the arguments."""

    def wrapper(honest: Method) -> Method:
        def method(self: Service, *given: object, **named: object) -> Any:  # noqa: ANN401 - of any type
            return around(self, lambda *args, **kwargs: honest(self, *args, **kwargs), *given, **named)

        return method

    return Mutation(((name, wrapper),))


def override(**methods: Method) -> Mutation:
    """Replace methods; each gets the service and the arguments."""
    return Mutation(tuple((name, _constant(method)) for name, method in methods.items()))


def _constant(method: Method) -> Callable[[Method], Method]:
    return lambda _: method


def result(name: str, change: Change) -> Mutation:
    """Change what a method returns."""
    return wrap(name, lambda _, honest, *given, **named: change(honest(*given, **named)))


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


def at_step(name: str, around: Callable[[Situation, Method], Any]) -> Mutation:
    """Wrap a method that takes the request, and perhaps the reply to it.

    Args:
        name: The method: ``serve``, ``authenticate``, ``perform``, ``act``, ``check``, ``find_engagement`` ...
        around: Gets the situation and a function that carries the step out, and returns the result of the step.
    """
    return wrap(name, lambda service, honest, *given: around(Situation(service, *given), lambda: honest(*given)))


def instead(operation: str, reply: Callable[[Situation], Reply], when: Condition = always) -> Mutation:
    """Do something else than an operation, and reply with its result; the request is valid by then."""
    return at_step(ACTIONS[operation], lambda at, honest: reply(at) if when(at) else honest())


def before(operation: str, action: Action, when: Condition = always) -> Mutation:
    """Do something before an operation is carried out; the request is valid by then."""

    def around(at: Situation, honest: Method) -> object:
        if when(at):
            action(at)
        return honest()

    return at_step(ACTIONS[operation], around)


def after(operation: str, action: Action, when: Condition = always) -> Mutation:
    """Do something after an operation was carried out."""

    def around(at: Situation, honest: Method) -> object:
        at = replace(at, reply=honest())
        if when(at):
            action(at)
        return at.reply

    return at_step(ACTIONS[operation], around)


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


def refuse_valid(operation: str, status: int, when: Condition = always) -> Mutation:
    """Refuse an operation as soon as its body or its parameters were checked."""

    def around(at: Situation, honest: Method) -> None:
        honest()
        if at.operation == operation and when(at):
            raise Refusal(status, "Refused.")

    return at_step("check", around)


def refuse_with(status: int, step: str, when: Condition = always, *, statuses: tuple[int, ...] = ()) -> Mutation:
    """Refuse with another status what a step refuses, with one of some statuses or with any."""

    def around(at: Situation, honest: Method) -> object:
        try:
            return honest()
        except Refusal as refusal:
            if when(at) and (not statuses or refusal.status in statuses):
                raise Refusal(status, refusal.message) from None
            raise

    return at_step(step, around)


def crash(operation: str, when: Condition = always, *, step: str = "check") -> Mutation:
    """Raise an unexpected error, which becomes a 500; ``*`` stands for all operations."""
    return _raising(operation, lambda: RuntimeError("an unexpected error of the fault"), when, step)


def _raising(operation: str, error: Callable[[], Exception], when: Condition, step: str) -> Mutation:
    def around(at: Situation, honest: Method) -> object:
        if operation in {"*", at.operation} and when(at):
            raise error()
        return honest()

    return at_step(step, around)


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

    async def around(at: Situation, honest: Method) -> object:
        try:
            return await honest()
        except Refusal as refusal:
            if at.operation == operation and (not statuses or refusal.status in statuses):
                with suppress(Refusal):
                    if when(at):
                        action(at)
            raise

    return at_step("perform", around)


def refused_early(status: int, operation: str, action: Action, when: Condition = always) -> Mutation:
    """Do something although a request is refused before its operation and its body are known.

    Args:
        status: The status of the refusal: 401 or 429.
        operation: The operationId; ``*`` stands for all operations.
        action: What is done; a refusal of its own is ignored.
        when: The refused requests; operation and body are known by then.
    """

    async def around(at: Situation, honest: Method) -> object:
        try:
            return await honest()
        except Refusal as refusal:
            if refusal.status == status:
                with suppress(Refusal):
                    at.context.operation = at.service.find_operation(at.context)
                    if operation in {"*", at.operation}:
                        at.context.content = await at.service.receive(at.context)
                        if when(at):
                            action(at)
            raise

    return at_step("serve", around)


def done_yet(operation: str, status: int, when: Condition = always) -> Mutation:
    """Carry out an operation and refuse it then; the situation of ``when`` has the reply."""

    async def around(at: Situation, honest: Method) -> object:
        reply = await honest()
        if at.operation == operation and when(replace(at, reply=reply)):
            raise Refusal(status, "Refused.")
        return reply

    return at_step("perform", around)


def receive(operation: str, change: Callable[[bytes], bytes], when: Condition = always) -> Mutation:
    """Process another body than the one that was sent."""

    async def around(at: Situation, honest: Method) -> bytes:
        at.context.content = await honest()
        return change(at.context.content) if at.operation == operation and when(at) else at.context.content

    return at_step("receive", around)


def receive_object(operation: str, change: Change) -> Mutation:
    """Process another object than the one that was sent; a body that is no object is left alone."""

    def changed(content: bytes) -> bytes:
        body = parsed(content)
        return json.dumps(change(body)).encode() if isinstance(body, dict) else content

    return receive(operation, changed)


def new_engagement(change: Change, when: Condition = always) -> Mutation:
    """Store another engagement than the one to create."""
    return at_step("new_engagement", lambda at, honest: change(honest()) if when(at) else honest())


def edit_as(change: Change, when: Condition = always) -> Mutation:
    """Carry out an edit of other fields than the valid ones that were sent."""

    def action(at: Situation) -> None:
        at.context.values = change(at.values)

    return before(EDIT, action, when)


def end_process(operation: str, when: Condition = always) -> Mutation:
    """End the process over a request, before it is checked; a supervisor starts it again."""

    def around(at: Situation, honest: Method) -> object:
        if at.operation == operation and when(at):
            at.service.end_process()
        return honest()

    return at_step("act", around)


def hide(when: Condition) -> Mutation:
    """Find no engagement in some requests."""

    def around(at: Situation, honest: Method) -> object:
        if when(at):
            raise at.service.not_found("engagement")
        return honest()

    return at_step("find_engagement", around)
