"""Faults of JSON as it is written."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from conformance.reference.faults.making import made
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import Reply, RequestContext


def _written(
    identifier: str, title: str, where: Callable[[RequestContext, Reply], bool], write: Callable[[bytes], bytes]
) -> Fault:
    """Bodies that are no JSON; ``write`` is given the honest body."""

    def respond(self: Service, context: RequestContext, reply: Reply) -> Response:
        response = Service.respond(self, context, reply)
        if where(context, reply):
            body = write(bytes(response.body))
            kept = [(name, value) for name, value in response.raw_headers if name != b"Content-Length"]
            response.body = body
            response.raw_headers = [*kept, (b"Content-Length", str(len(body)).encode())]
        return response

    return made(identifier, title, "json-well-formed", respond=respond)


def _on(operation: str) -> Callable[[RequestContext, Reply], bool]:
    return lambda context, reply: not reply.is_error and context.operation.id == operation


def _on_errors(_: RequestContext, reply: Reply) -> bool:
    return reply.is_error


WRITTEN = (
    _written(
        "json-byte-order-mark",
        "A read engagement begins with a byte order mark.",
        _on("getEngagement"),
        lambda body: codecs.BOM_UTF8 + body,
    ),
    _written(
        "json-single-quotes",
        "A deletion is written in single quotes.",
        _on("deleteEngagement"),
        lambda body: body.replace(b'"', b"'"),
    ),
    _written(
        "json-trailing-comma",
        "A list of engagements ends with a comma too many.",
        _on("listEngagements"),
        lambda body: body[:-1] + b",}",
    ),
    _written(
        "json-nan",
        "The organization has a member that is NaN.",
        _on("getCurrentOrganization"),
        lambda body: body[:-1] + b',"score":NaN}',
    ),
    _written(
        "json-infinity",
        "The list of members has a member that is Infinity.",
        _on("listMembers"),
        lambda body: body[:-1] + b',"score":Infinity}',
    ),
    _written("json-twice", "An error is written twice.", _on_errors, lambda body: body + body),
    _written("json-cut", "An archive is cut short.", _on("archiveEngagement"), lambda body: body[:-1]),
    _written(
        "json-python",
        "An edit is written as Python writes it.",
        _on("updateEngagement"),
        lambda body: body.replace(b'"', b"'").replace(b"null", b"None"),
    ),
    _written(
        "json-prefix",
        "A list of members has a prefix against script inclusion.",
        _on("listMembers"),
        lambda body: b")]}',\n" + body,
    ),
    _written(
        "json-latin-1",
        "A read engagement is written in Latin-1.",
        _on("getEngagement"),
        lambda body: body.decode().encode("latin-1", "replace"),
    ),
    _written(
        "json-utf-16",
        "A creation is written in UTF-16.",
        _on("createEngagement"),
        lambda body: body.decode().encode("utf-16"),
    ),
    _written(
        "json-comment",
        "An invitation is written with a comment.",
        _on("inviteMember"),
        lambda body: b"/* invitation */" + body,
    ),
)
