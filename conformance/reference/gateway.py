"""Gateway before the service that refuses some requests with its own HTML pages."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_LONGEST_TARGET = 2_048
_LONGEST_HEADERS = 8_192
_LARGEST_BODY = 32 * 1024
_ODD_ESCAPE = re.compile(rb"%(?:[01][0-9a-f]|2f|25|3b|5c|7f|ff)", re.IGNORECASE)


def refusal(request: Request) -> Response | None:
    """Return the page with which a strict gateway refuses a request, or None if it lets the request pass."""
    status = _status(request)
    if status is None:
        return None
    title = f"{status} {status.phrase}"
    return HTMLResponse(f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>", status)


def _status(request: Request) -> HTTPStatus | None:
    target = request.scope["raw_path"] + b"?" + request.scope["query_string"]
    if len(target) > _LONGEST_TARGET:
        return HTTPStatus.REQUEST_URI_TOO_LONG
    if sum(len(name) + len(value) + 4 for name, value in request.headers.raw) > _LONGEST_HEADERS:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    if int(request.headers.get("content-length", "0")) > _LARGEST_BODY:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return HTTPStatus.BAD_REQUEST if _ODD_ESCAPE.search(request.scope["raw_path"]) else None
