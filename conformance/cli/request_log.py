"""Log of the requests to the sandbox, without secrets."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ISSUED: Final = r"key_[\w-]{43}|(?<=/invitations/)[^/]+"
"""Keys and invitation tokens of the reference service."""
_LONGEST: Final = 400


def log_requests(app: ASGIApp, secrets: Iterable[str]) -> ASGIApp:
    """Return an application that prints method, path, status and milliseconds of each request on stderr.

    Args:
        app: The application that responds.
        secrets: Texts that are hidden in paths, beside keys that the service issued.
    """
    hidden = re.compile("|".join([*map(re.escape, secrets), _ISSUED]))

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.perf_counter(), "-"

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await app(scope, receive, note)
        finally:
            path = quote(hidden.sub("<secret>", scope["path"])[:_LONGEST], safe="/<>:@!$&'()*+,;=~")
            method = hidden.sub("<secret>", scope["method"])
            with suppress(OSError):  # a closed pipe must not end the response
                click.echo(f"{method} {path} {status} {(time.perf_counter() - began) * 1000:.0f} ms", err=True)

    return respond
