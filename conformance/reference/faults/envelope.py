"""Faults of errors: their envelope, by status, and how it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from conformance.reference.faults import Fault
    from conformance.reference.refusal import Refusal
    from conformance.reference.request_context import Reply, RequestContext

_CODES = {
    400: "INVALID_REQUEST",
    401: "INVALID_API_KEY",
    403: "ACCESS_DENIED",
    404: "ENGAGEMENT_NOT_FOUND",
    409: "ALREADY_ARCHIVED",
    422: "UNPROCESSABLE_ENTITY",
    429: "TOO_MANY_REQUESTS",
}
"""Codes that implementations are tempted to use."""


def _enveloped(
    identifier: str, title: str, status: int | None, change: Callable[[dict[str, Any]], Any], *breaks: str
) -> Fault:
    """A wrong envelope; ``change`` is given the honest content and gives what is written."""

    def error(self: Service, refusal: Refusal) -> Reply:
        reply = Service.error(self, refusal)
        return replace(reply, content=change(reply.content)) if status in {None, refusal.status} else reply

    return made(identifier, title, *breaks, error=error)


def _inner(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Change what stands in ``error``."""
    return lambda content: {"error": change(content["error"])}


def _dropping(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return _inner(lambda error: {key: value for key, value in error.items() if key != name})


def _putting(name: str, value: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return _inner(lambda error: {**error, name: value(error[name])})


CODES = tuple(
    _enveloped(
        f"code-{status}",
        f"A {status} has the code {code}.",
        status,
        _putting("code", lambda _, code=code: code),  # type: ignore[misc]  # a default that binds
        f"error-code-{status}",
    )
    for status, code in _CODES.items()
)

SMALL_CODES = tuple(
    _enveloped(
        f"code-{status}-in-small-letters",
        f"A {status} has its code in small letters.",
        status,
        _putting("code", str.lower),
        f"error-code-{status}",
    )
    for status in (400, 404, 422)
)

_OF_ERROR = "error-envelope"

FIELDS = (
    _enveloped("401-without-message", "A 401 lacks the message.", 401, _dropping("message"), _OF_ERROR),
    _enveloped("404-without-code", "A 404 lacks the code.", 404, _dropping("code"), _OF_ERROR),
    _enveloped("422-without-status-code", "A 422 lacks the statusCode.", 422, _dropping("statusCode"), _OF_ERROR),
    _enveloped(
        "403-null-message", "The message of a 403 is null.", 403, _putting("message", lambda _: None), _OF_ERROR
    ),
    _enveloped(
        "400-message-list", "The message of a 400 is a list.", 400, _putting("message", lambda text: [text]), _OF_ERROR
    ),
    _enveloped("409-code-number", "The code of a 409 is a number.", 409, _putting("code", lambda _: 4091), _OF_ERROR),
    _enveloped(
        "429-status-code-text", "The statusCode of a 429 is a string.", 429, _putting("statusCode", str), _OF_ERROR
    ),
    _enveloped(
        "401-status-code-text", "The statusCode of a 401 is a string.", 401, _putting("statusCode", str), _OF_ERROR
    ),
    _enveloped(
        "404-snake-case",
        "A 404 says status_code.",
        404,
        _inner(lambda error: {"code": error["code"], "message": error["message"], "status_code": error["statusCode"]}),
        _OF_ERROR,
    ),
    _enveloped(
        "422-bare", "A 422 stands without an error around it.", 422, lambda content: content["error"], _OF_ERROR
    ),
    _enveloped(
        "400-text-as-error",
        "The error of a 400 is a string.",
        400,
        lambda content: {"error": content["error"]["message"]},
        _OF_ERROR,
    ),
    _enveloped("403-array", "A 403 is an array.", 403, lambda content: [content["error"]], _OF_ERROR),
    _enveloped(
        "409-errors",
        "A 409 has errors instead of error.",
        409,
        lambda content: {"errors": [content["error"]]},
        _OF_ERROR,
    ),
    _enveloped(
        "404-detail",
        "A 404 has a detail instead of an error.",
        404,
        lambda content: {"detail": content["error"]["message"]},
        _OF_ERROR,
    ),
    _enveloped("429-null", "The error of a 429 is null.", 429, lambda _: {"error": None}, _OF_ERROR),
)

STATUS_CODES = (
    _enveloped(
        "status-code-200",
        "The statusCode of every error is 200.",
        None,
        _putting("statusCode", lambda _: 200),
        "error-status-code-agrees",
    ),
    _enveloped(
        "401-says-403",
        "The statusCode of a 401 is 403.",
        401,
        _putting("statusCode", lambda _: 403),
        "error-status-code-agrees",
    ),
    _enveloped(
        "404-says-40401",
        "The statusCode of a 404 is 40401.",
        404,
        _putting("statusCode", lambda _: 40401),
        "error-status-code-agrees",
    ),
    _enveloped(
        "422-says-400",
        "The statusCode of a 422 is 400.",
        422,
        _putting("statusCode", lambda _: 400),
        "error-status-code-agrees",
    ),
    _enveloped(
        "429-says-0",
        "The statusCode of a 429 is 0.",
        429,
        _putting("statusCode", lambda _: 0),
        "error-status-code-agrees",
    ),
)


def _written(identifier: str, title: str, status: int, body: bytes, media_type: str, *breaks: str) -> Fault:
    """An error whose body is none of JSON."""

    def respond(self: Service, context: RequestContext, reply: Reply) -> Response:
        response = Service.respond(self, context, reply)
        if reply.status == status:
            kept = [
                (name, value)
                for name, value in response.raw_headers
                if name not in {b"Content-Type", b"Content-Length"}
            ]
            response.body = body
            typed = [(b"Content-Type", media_type.encode())] if media_type else []
            response.raw_headers = [*kept, *typed, (b"Content-Length", str(len(body)).encode())]
        return response

    return made(identifier, title, *breaks, respond=respond)


_PAGE = b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>"

BODIES = (
    _written(
        "404-page",
        "A 404 is an HTML page.",
        404,
        _PAGE,
        "text/html; charset=utf-8",
        "json-media-type",
        "json-well-formed",
    ),
    _written(
        "401-plain-text",
        "A 401 is plain text.",
        401,
        b"Unauthorized",
        "text/plain; charset=utf-8",
        "json-media-type",
        "json-well-formed",
    ),
    _written(
        "422-text-as-json",
        "A 422 is text that is announced as JSON.",
        422,
        b"Unprocessable Entity",
        "application/json",
        "json-well-formed",
    ),
    _written("403-empty", "A 403 has no body.", 403, b"", "", "error-envelope"),
    _written("404-empty", "A 404 has no body.", 404, b"", "application/json", "error-envelope"),
    _written(
        "429-plain-text",
        "A 429 is plain text.",
        429,
        b"Too Many Requests",
        "text/plain",
        "json-media-type",
        "json-well-formed",
    ),
    _written("409-empty-object", "A 409 is an empty object.", 409, b"{}", "application/json", "error-envelope"),
    _written("400-null", "A 400 is null.", 400, b"null", "application/json", "error-envelope"),
)
