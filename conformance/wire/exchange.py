"""Recorded exchanges, with every secret replaced by its name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from conformance.json_text import ABSENT, Malformed, Parsed, SharedValues, TooDeep, read_json, value_at
from conformance.wire.gateways import GATEWAY_STATUSES, LARGE_BODY, TOO_LARGE, TOO_LONG, may_be_parsers
from conformance.wire.redaction import STAND_IN
from conformance.wire.requests import CHARSET_HEADERS, JSON_HEADERS, MAIN_KEY, OTHER_KEY, Credential

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Request

SUCCESSES: Final = range(200, 300)
"""Statuses of requests that were carried out."""

REFUSALS: Final = range(400, 500)
"""Statuses of requests that were refused, without any effect."""

KEY_REFUSED: Final = frozenset({401, 403})
"""Refusals of a key that is invalid, or lacks the permission."""

OF_KEY: Final = KEY_REFUSED | {429}
"""Refusals for the key of the request, and not for the rest of it."""

BESIDE_OTHERS: Final = frozenset({404, 409})
"""Refusals that a change may get because it overlaps another change of the resource."""

INVALID: Final = frozenset({400, 413, 422})
"""Refusals that may be for the length or the form of a text."""

TOO_MANY_REQUESTS: Final = 429
"""The status that the wire waits out; only requests that expect it get it as their response."""

CUT_OFF: Final = "the run was stopped"
"""Part of the error of an exchange that the end of the run cut off, by which a replay recognizes it."""

UNDOING: Final = "undoing"
"""The sender of requests that undo the run after the checks."""

CONNECTION: Final = "connection"
"""The sender that searches for a lost target; no check waits for it."""

OWNERSHIP: Final = "ownership"
"""The sender of a guard's reads before a write."""


class NoResponse(Exception):
    """There is no response to judge: the connection broke, the request timed out, or a gateway responded.

    Attributes:
        exchanges: The exchange without a response, if anything was sent.
        permanent: Whether a retry is of no use.
    """

    permanent = False

    def __init__(self, reason: str, *exchanges: Exchange) -> None:
        super().__init__(reason)
        self.exchanges = exchanges


class Refused(NoResponse):
    """A gateway or a parser refused the request before the service got it."""

    permanent = True


class NotSent(NoResponse):
    """A request was not sent, because it could change data of other users."""

    permanent = True


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it was sent.

    Attributes:
        method: The HTTP method.
        url: The absolute URL.
        headers: All headers in order, secrets replaced by their names.
        body: The body, secrets replaced; empty for none.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True)
class Response:
    """A complete response.

    Attributes:
        status: The HTTP status.
        headers: All headers in order, names as received, secrets replaced by their names.
        body: The body after decompression, secrets replaced by their names.
        http_version: For example ``HTTP/1.1``.
        shared: The values in the bodies of the run, which this one shares; None if it shares none.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    http_version: str = "HTTP/1.1"
    shared: SharedValues | None = field(default=None, compare=False, repr=False)

    def header(self, name: str) -> str | None:
        """Return the value of a header, ignoring the case of its name; several values are joined as HTTP allows."""
        values = self.values(name)
        return ", ".join(values) if values else None

    def values(self, name: str) -> tuple[str, ...]:
        """Return every value of a header, ignoring the case of its name."""
        return self._values.get(name.lower(), ())

    @cached_property
    def _values(self) -> dict[str, tuple[str, ...]]:
        """The values by lower-case names; cached, because dozens of laws read them."""
        found: dict[str, tuple[str, ...]] = {}
        for given, value in self.headers:
            found[given.lower()] = (*found.get(given.lower(), ()), value)
        return found

    @property
    def outline(self) -> str:
        """The status and the length of the body, in words."""
        return f"status {self.status}, {len(self.body):,} bytes"

    @cached_property
    def is_altered(self) -> bool:
        """Whether redaction removed a text that is no key and that a service may rightly show."""
        headers = (part.encode("utf-8", "replace") for header in self.headers for part in header)
        return any(STAND_IN.search(text) for text in (self.body, *headers))

    @cached_property
    def reading(self) -> Parsed | Malformed | TooDeep:
        """The body read as JSON."""
        return read_json(self.body, self.shared)


@dataclass(frozen=True)
class Exchange:
    """A request with its response, or with the error in its place.

    Attributes:
        number: 1 for the first request of the run; the number that reports cite.
        check: The sender: a check, a scenario, or a part of the suite.
        request: The intended request.
        sent_request: The request as it was sent.
        received: The complete response, or None.
        error: Why there is no complete response, as a sentence; None if there is a response.
        started_at: When it was sent, UTC.
        seconds: The duration.
        attempt: 1, or more for a retry.
        was_sent: False if no connection could be made, so that the service did nothing.
        head_seconds: The time to the status and the headers; None if they did not come.
    """

    number: int
    check: str
    request: Request = field(repr=False)
    sent_request: SentRequest = field(repr=False)
    received: Response | None
    error: str | None
    started_at: datetime
    seconds: float
    attempt: int = 1
    was_sent: bool = True
    head_seconds: float | None = None

    def __hash__(self) -> int:
        """Hash the number alone, which is unique in a run; hashing a large body would be slow."""
        return hash(self.number)

    def without_secrets(self, redactor: Redactor) -> Self:
        """Return the exchange without secrets that became known after it was recorded.

        An exchange without such secrets is returned itself, because a copy of a large body takes memory.
        """
        request, received = self.sent_request, self.received
        request = SentRequest(
            request.method, redactor.text(request.url), redactor.headers(request.headers), redactor.body(request.body)
        )
        if received is not None:
            received = replace(received, headers=redactor.headers(received.headers), body=redactor.body(received.body))
        error = None if self.error is None else redactor.text(self.error)
        if (request, received, error) == (self.sent_request, self.received, self.error):
            return self
        return replace(self, sent_request=request, received=received, error=error)

    @property
    def named(self) -> str:
        """Method, path and number of the request, for messages."""
        return f"{self.sent_request.method} {urlsplit(self.sent_request.url).path} (request {self.number})"

    @property
    def status_text(self) -> str:
        """The status of the response, or ``no response``."""
        return "no response" if self.received is None else str(self.received.status)

    @cached_property
    def judgeable(self) -> bool:
        """Whether there is a complete response of the service itself."""
        return self.received is not None and not _is_gateways(self.request, self.received)

    @cached_property
    def as_received(self) -> Self | None:
        """The exchange for laws of every response, 429s that were waited out included; None if there is none."""
        if self.received is None or not self.judgeable or self.request.unjudged:
            return None
        if may_be_parsers(self.request, self.received.status):
            return None
        if self.received.status != TOO_MANY_REQUESTS:
            return self
        return replace(self, request=replace(self.request, expects_429=True))

    @cached_property
    def response(self) -> Response:
        """The response to judge.

        Raises:
            NoResponse: There is none, it is a gateway's, or it is a 429 after all waits.
        """
        if self.received is None:
            raise NoResponse(f"{self.error or 'no response came'}: {self.named}", self)
        if not self.judgeable:
            kind = NoResponse if self.received.status in GATEWAY_STATUSES else Refused
            raise kind(f"a gateway responded with {self.received.status} in place of the service", self)
        if self.received.status == TOO_MANY_REQUESTS and not self.request.expects_429:
            raise NoResponse("the service returned only 429", self)
        return self.received

    @cached_property
    def status(self) -> int:
        """Status of the response.

        Raises:
            NoResponse: See ``response``.
        """
        return self.response.status

    @cached_property
    def succeeded(self) -> bool:
        """Whether the status is 2xx.

        Raises:
            NoResponse: See ``response``.
        """
        return self.status in SUCCESSES

    @property
    def accepted(self) -> bool:
        """Whether a response came and is a 2xx."""
        return self.received is not None and self.received.status in SUCCESSES

    @property
    def refused(self) -> bool:
        """Whether a response came and is a 4xx, so that nothing happened."""
        return self.received is not None and self.received.status in REFUSALS

    @property
    def refused_as_invalid(self) -> bool:
        """Whether a response came and is a 400, 413 or 422, so that the reason may be the length or form of a text."""
        return self.received is not None and self.received.status in INVALID

    @property
    def missed(self) -> bool:
        """Whether a response came and is a 404, so that the requested resource does not exist."""
        return self.received is not None and self.received.status == HTTPStatus.NOT_FOUND

    @property
    def ended_at(self) -> datetime:
        """When the exchange ended, by the run's clock."""
        return self.started_at + timedelta(seconds=self.seconds)

    @property
    def operation_id(self) -> str:
        """The id of the operation that was requested."""
        return self.request.operation.id

    @property
    def by_main_key(self) -> bool:
        """Whether this requests an operation itself, with the run's main key in its proper form."""
        credential = self.request.credential
        full = credential is None or (credential.name == MAIN_KEY and not credential.invalid)
        return self.request.is_proper and full

    @property
    def received_status(self) -> int:
        """The status of the response, also of one that cannot be judged; 0 without a response."""
        return 0 if self.received is None else self.received.status

    def value_at(self, pointer: str) -> object:
        """Return the value at a JSON pointer in the body of the response, or ``ABSENT``."""
        reading = None if self.received is None else self.received.reading
        return value_at(reading.value, pointer) if isinstance(reading, Parsed) else ABSENT

    def seen_from_other(self, scopes: Collection[str | None]) -> Self:
        """Return the exchange as the other organization sees it, whose full key is its main key.

        A request with that key becomes one with the main key; one with another valid key becomes one of another
        organization.

        Args:
            scopes: The permissions that the key has for certain. A refusal of the key itself for another operation
                becomes one of another organization, too, as it may be no full key.
        """
        credential = self.request.credential
        if credential is not None and credential.invalid:
            return self
        full = credential is not None and credential.name == OTHER_KEY
        is_lacking = self.received_status == HTTPStatus.FORBIDDEN and self.request.operation.scope not in scopes
        full = full and self.received_status != HTTPStatus.UNAUTHORIZED and not is_lacking
        seen = None if full else Credential(OTHER_KEY, None)
        return replace(self, request=replace(self.request, credential=seen))

    @cached_property
    def sent_object(self) -> dict[str, Any] | None:
        """The JSON object that the request carried, to read only; None if there is none or it is ambiguous."""
        if self.request.headers not in {JSON_HEADERS, CHARSET_HEADERS} or self.request.body is None:
            return None
        reading = read_json(self.request.body)
        if isinstance(reading, Parsed) and isinstance(reading.value, dict) and not reading.duplicates:
            return reading.value
        return None

    @property
    def sent_fields(self) -> dict[str, Any]:
        """The members of that object; none if there is no object or it is ambiguous."""
        return self.sent_object or {}


def _is_gateways(request: Request, response: Response) -> bool:
    """Whether a response is or may be a gateway's, so that it says nothing about the service."""
    if response.status in GATEWAY_STATUSES or response.status in TOO_LONG:
        return True
    if response.status == TOO_LARGE:
        return len(request.body or b"") > LARGE_BODY
    return may_be_parsers(request, response.status) and not _has_envelope(response)


def _has_envelope(response: Response) -> bool:
    """Whether a response has the interface's error envelope, which no gateway produces."""
    body = response.reading.value if isinstance(response.reading, Parsed) else None
    return isinstance(body, dict) and isinstance(body.get("error"), dict)
