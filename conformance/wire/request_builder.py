"""Builder of HTTP requests, and of records without secrets."""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import httpx

from conformance.json_text import SharedValues
from conformance.wire.exchange import Response, SentRequest
from conformance.wire.gateways import OverLimit, ensure_short
from conformance.wire.invitations import without_acceptance
from conformance.wire.key_pieces import KeyPieces

if TYPE_CHECKING:
    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Credential, Request
    from conformance.wire.settings import WireSettings

UNWRITABLE: Final = "the request cannot be written as HTTP"

_DEFAULT_HEADERS: Final = (
    ("Accept", "application/json"),
    ("Accept-Encoding", "gzip, deflate"),
)

_REMEMBERED: Final = 256
"""Cached URLs and headers."""

_KEYS_REMEMBERED: Final = 16
"""Cached pieces of keys."""

_Headers = tuple[tuple[str, str], ...]


class RequestBuilder:
    """Adds the run's headers to requests, and takes secrets out of records."""

    def __init__(self, settings: WireSettings, redactor: Redactor) -> None:
        self._settings = settings
        self._redactor = redactor
        self._shared = SharedValues()
        self._url = lru_cache(_REMEMBERED)(httpx.URL)
        self._written = lru_cache(_REMEMBERED)(self._write)
        self._pieces = lru_cache(_KEYS_REMEMBERED)(self._pieces_of)

    def credential(self, request: Request) -> Credential:
        """Return the credential of a request."""
        return request.credential or self._settings.credential

    def build(self, request: Request) -> httpx.Request:
        """Build the HTTP request; a request that cannot be written raises some exception.

        Raises:
            OverLimit: It is longer than gateways accept.
        """
        if request.is_proper and request.operation.parameter is not None and not request.identifier:
            raise ValueError("without an identifier the path would be that of the list")
        url = self._url(self._settings.root + request.path)
        ensure_short(url.raw_path, request.headers)
        return httpx.Request(
            request.method,
            url,
            headers=self._written(request.headers, self.credential(request).authorization),
            content=request.body,
            extensions={"repeatable": request.harmless},
        )

    def writable(self, request: Request) -> tuple[httpx.Request | None, str | None]:
        """Build the HTTP request, or return why that fails: a target's identifiers may have any form and length."""
        try:
            return self.build(request), None
        except OverLimit as limit:
            return None, f"the request was not sent: {limit}"
        except Exception:  # noqa: BLE001 - any of httpx and its parts
            return None, UNWRITABLE

    def record(self, request: Request, outgoing: httpx.Request | None) -> SentRequest:
        """Return the record of a request.

        Args:
            request: The request.
            outgoing: The HTTP request; None if it could not be built.
        """
        headers = (
            self._headers(request.headers, self.credential(request).authorization)
            if outgoing is None
            else _decoded(outgoing)
        )
        shown = [(name, self._shown(request, name, value)) for name, value in headers]
        return SentRequest(
            method=request.method,
            url=self._redactor.text(self._settings.root + request.path if outgoing is None else str(outgoing.url)),
            headers=self._redactor.headers(shown),
            body=self._redactor.body(request.body or b""),
        )

    def recorded(self, request: Request, response: httpx.Response, body: bytes) -> Response:
        """Return the record of a response, without what accepts an invitation.

        A refusal of a key shows no piece of it, or of the key it derives from.
        """
        headers, clean = self._redactor.headers(_decoded(response)), self._redactor.body(body)
        if request.operation.id == "inviteMember":
            headers, clean = without_acceptance(headers, clean)
        credential = self.credential(request)
        if credential.invalid or response.status_code == HTTPStatus.UNAUTHORIZED:
            pieces = self._pieces(self._settings.credential if credential.invalid else credential)
            headers, clean = pieces.headers(headers), pieces.body(clean)
        return Response(
            status=response.status_code,
            headers=headers,
            body=clean,
            http_version=response.extensions.get("http_version", b"HTTP/1.1").decode("ascii", "replace"),
            shared=self._shared,
        )

    def _pieces_of(self, credential: Credential) -> KeyPieces:
        return KeyPieces(credential.key, self._redactor.is_word)

    def _headers(self, own: _Headers, authorization: str | None) -> list[tuple[str, str]]:
        """Return all headers except host and body; a request's own replace the run's, which replace the defaults.

        A request's own header without a value is not sent, and neither is the one that it replaces.
        """
        named = {name.lower() for name, _ in own}
        given = named | {name.lower() for name, _ in self._settings.headers}
        defaults = (("User-Agent", self._settings.user_agent), *_DEFAULT_HEADERS)
        headers = [header for header in defaults if header[0].lower() not in given]
        headers += [header for header in self._settings.headers if header[0].lower() not in named]
        shown = [] if authorization is None else [("Authorization", authorization)]
        return [*headers, *(header for header in own if header[1]), *shown]

    def _write(self, own: _Headers, authorization: str | None) -> list[tuple[bytes, bytes]]:
        headers = self._headers(own, authorization)
        return [(name.encode(), value.encode("utf-8", "surrogatepass")) for name, value in headers]

    def _shown(self, request: Request, name: str, value: str) -> str:
        """Return a header's value for the record, with a name in place of every secret, however short."""
        used = self.credential(request)
        if name.lower() == "authorization":
            scheme, _, key = value.partition(" ")
            return f"{scheme} <{used.name}>" if key.strip() else self._without_main_key(value)
        if used.invalid and (name, value) in request.headers:
            return self._without_main_key(value)
        if any(name.lower() == secret.lower() for secret, _ in self._settings.headers):
            return f"<header {name}>"
        return value

    def _without_main_key(self, value: str) -> str:
        main = self._settings.credential
        return value.replace(main.key, f"<{main.name}>") if main.key else value


def _decoded(message: httpx.Request | httpx.Response) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.headers.raw]
