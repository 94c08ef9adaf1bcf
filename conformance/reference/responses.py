"""Writer of responses: envelopes, headers and JSON."""

from __future__ import annotations

import gzip
import json
import math
from email.utils import formatdate
from typing import TYPE_CHECKING, Any, cast

from starlette.responses import Response

from conformance.reference.engagements import Engagements
from conformance.reference.request_context import Reply, RequestContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.json_body import Json
    from conformance.reference.limiting import Quota
    from conformance.reference.refusal import Refusal

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ENCODERS = {
    "compact": _COMPACT,
    "reversed": _COMPACT,
    "repeating": _COMPACT,
    "ascii": json.JSONEncoder(ensure_ascii=True, separators=(",", ":")),
    "indented": json.JSONEncoder(ensure_ascii=False, indent=2),
}
_UNKNOWN_MEMBERS = {"_links": {"self": None}, "x-trace": [1, 2.5, True], "revision": 7}
_UNKNOWN_HEADERS = {
    "Cache-Control": "no-store",
    "ETag": 'W/"1"',
    "Server": "reference",
    "Set-Cookie": "session=none; HttpOnly",
    "Vary": "Authorization, Accept-Encoding",
    "X-Request-Id": "00000000-0000-4000-8000-000000000000",
}
_HEADER_CASES: dict[str, Callable[[str], str]] = {"as-documented": str, "lower": str.lower, "upper": str.upper}


def _with_unknown_members(content: Json) -> Json:
    """Add members that the interface does not name to every object."""
    if isinstance(content, dict):
        return {**{name: _with_unknown_members(value) for name, value in content.items()}, **_UNKNOWN_MEMBERS}
    return [_with_unknown_members(item) for item in content] if isinstance(content, list) else content


def _reversed(content: Json) -> Json:
    """Reverse the order of the members of every object."""
    if isinstance(content, dict):
        return {name: _reversed(value) for name, value in reversed(content.items())}
    return [_reversed(item) for item in content] if isinstance(content, list) else content


class _Repeating(dict[str, Any]):
    """An object whose first member is written twice."""

    def items(self) -> Any:  # noqa: ANN401 - the encoder iterates over it
        """Return all members, and the first again."""
        members = list(super().items())
        return members + members[:1]


def _repeating(content: Json) -> Json:
    """Repeat the first member of every object."""
    if isinstance(content, dict):
        return _Repeating({name: _repeating(value) for name, value in content.items()})
    return [_repeating(item) for item in content] if isinstance(content, list) else content


_ARRANGEMENTS: dict[str, Callable[[Json], Json]] = {"reversed": _reversed, "repeating": _repeating}


class Responses(Engagements):
    """Writer of responses."""

    def respond(self, context: RequestContext, reply: Reply) -> Response:
        """Return the HTTP response of a reply."""
        body = self.write_json(self.content(reply))
        headers = {**self.headers(context, reply), **reply.headers}
        if self.compresses(context):
            body = gzip.compress(body, 6)
            headers["Content-Encoding"] = "gzip"
        if self.latitude["framing"] == "length":
            headers["Content-Length"] = str(len(body))
        response = Response(b"" if context.request.method == "HEAD" else body, reply.status)
        case = _HEADER_CASES[self.latitude["header_case"]]
        response.raw_headers = [(case(name).encode(), value.encode()) for name, value in headers.items()]
        return response

    # Bodies

    def error(self, refusal: Refusal) -> Reply:
        """Return the error envelope of a refusal."""
        message = refusal.message if self.latitude["error_message"] == "sentence" else ""
        error = {"code": refusal.code, "message": message, "statusCode": refusal.status}
        return Reply(refusal.status, {"error": error}, refusal.headers)

    def content(self, reply: Reply) -> dict[str, Any]:
        """Return the value to write as JSON."""
        if self.latitude["extra_members"] == "everywhere":
            return cast("dict[str, Any]", _with_unknown_members(reply.content))
        return reply.content

    def write_json(self, content: dict[str, Any]) -> bytes:
        """Write a value as JSON."""
        style = self.latitude["json_text"]
        arranged = _ARRANGEMENTS[style](content) if style in _ARRANGEMENTS else content
        return _ENCODERS[style].encode(arranged).encode()

    def compresses(self, context: RequestContext) -> bool:
        """Whether the response is compressed."""
        accepted = context.request.headers.get("accept-encoding", "")
        return self.latitude["content_coding"] == "gzip" and "gzip" in accepted

    # Headers

    def headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:
        """Return the headers of a response."""
        headers = {"Content-Type": self.media_type(reply), **self.rate_limit_headers(context, reply)}
        if self.dated:
            headers["Date"] = self.date()
        if self.latitude["connection"] == "closed":
            headers["Connection"] = "close"
        if self.latitude["extra_headers"] == "many":
            headers.update(_UNKNOWN_HEADERS)
        if context.quota.exceeded:
            headers.update(self.retry_header(context.quota))
        return headers

    def media_type(self, reply: Reply) -> str:
        """Return the media type of a response."""
        errors_alike = self.latitude["error_media_type"] == "alike"
        return self.latitude["media_type"] if errors_alike or not reply.is_error else "application/problem+json"

    def rate_limit_headers(self, context: RequestContext, reply: Reply) -> dict[str, str]:  # noqa: ARG002 - for the faults
        """Return the three rate-limit headers of every response."""
        return {
            "X-RateLimit-Limit": str(context.quota.limit),
            "X-RateLimit-Remaining": str(context.quota.remaining),
            "X-RateLimit-Reset": self.reset(context.quota),
        }

    def reset(self, quota: Quota) -> str:
        """Return the end of a window, with decimals only if it has any."""
        return str(int(quota.reset)) if quota.reset == int(quota.reset) else f"{quota.reset:.6f}"

    def retry_header(self, quota: Quota) -> dict[str, str]:
        """Return the Retry-After header of a 429."""
        match self.latitude["retry_after"]:
            case "seconds":
                return {"Retry-After": str(max(math.ceil(quota.reset - self.seconds()), 0))}
            case "date":
                return {"Retry-After": formatdate(math.ceil(quota.reset), usegmt=True)}
            case _:
                return {}

    def date(self) -> str:
        """Return the value of the Date header."""
        return formatdate(self.date_seconds(), usegmt=True)
