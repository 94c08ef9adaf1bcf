"""Mutations of replies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .conditions import always
from .mutations import Method, Mutation, at_step, result, wrap
from .situations import Condition, Situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from conformance.reference.request_context import Reply, RequestContext
    from conformance.reference.service import Service

    from .changes import Change


def view(name: str, *changes: Change) -> Mutation:
    """Change a JSON view, named as in ``reference/views.py``, such as ``created``, ``read`` or ``item``."""

    def change(shown: object) -> object:
        for each in changes:
            shown = each(shown)
        return shown

    return result(f"view_{name}", change)


def reply(operation: str, change: Callable[[Situation], Reply], when: Condition = always) -> Mutation:
    """Change the reply to an operation that was carried out; ``*`` stands for all operations."""

    def around(at: Situation, honest: Method) -> object:
        at = replace(at, reply=honest())
        return change(at) if operation in {"*", at.operation} and when(at) else at.reply

    return at_step("act", around)


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

    def around(service: Service, honest: Method, context: RequestContext, refused: Reply) -> object:
        if refused.is_error and when(Situation(service, context, refused)):
            refused = replace(refused, content=change(refused.content))
        return honest(context, refused)

    return wrap("respond", around)


def header(name: str, value: Callable[[Situation], str | None], when: Condition = always) -> Mutation:
    """Send another value of a header; without the header if the value is None."""

    def around(at: Situation, honest: Method) -> dict[str, str]:
        headers: dict[str, str] = honest()
        if not when(at):
            return headers
        changed = {**headers, name: value(at)}
        return {key: text for key, text in changed.items() if text is not None}

    return at_step("headers", around)


def send(change: Callable[[bytes], bytes], when: Condition = always, *, media_type: str | None = None) -> Mutation:
    """Send another body than the JSON of a reply, and another media type; no media type if it is empty."""
    replaced = {b"content-length"} if media_type is None else {b"content-length", b"content-type"}
    typed = [(b"Content-Type", media_type.encode())] if media_type else []

    def around(at: Situation, honest: Method) -> Response:
        response: Response = honest()
        if when(at):
            response.body = change(bytes(response.body))
            kept = [(name, value) for name, value in response.raw_headers if name.lower() not in replaced]
            response.raw_headers = [*kept, *typed, (b"Content-Length", str(len(response.body)).encode())]
        return response

    return at_step("respond", around)
