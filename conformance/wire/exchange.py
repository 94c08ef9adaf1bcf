"""What came back: exchanges as they are recorded, with every secret replaced by its name."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from conformance.json_text import Malformed, Parsed, TooDeep, read_json
from conformance.wire.gateways import GATEWAY_STATUSES, may_be_parsers, speaks_for_service
from conformance.wire.redaction import STAND_IN

if TYPE_CHECKING:
    from datetime import datetime

    from conformance.wire.redaction import Redactor
    from conformance.wire.requests import Request

SUCCESSES: Final = range(200, 300)
"""Statuses of what was carried out."""

REFUSALS: Final = range(400, 500)
"""Statuses of what was not: nothing happened."""

TOO_MANY_REQUESTS: Final = 429
"""The status that is waited out; it is a response only to requests that are sent to see it."""


class NoResponse(Exception):
    """There is no answer to judge: the connection broke, time ran out, or a gateway spoke for the service.

    Attributes:
        exchanges: The exchange without a response, if anything was sent.
        lasting: Whether trying again is in vain.
    """

    lasting = False

    def __init__(self, reason: str, *exchanges: Exchange) -> None:
        super().__init__(reason)
        self.exchanges = exchanges


class Refused(NoResponse):
    """A gateway or a parser refused the request for what it is, before the service saw it."""

    lasting = True


class NotSent(NoResponse):
    """A request was not sent, since it could change what is not the run's."""

    lasting = True


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it went out.

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
        http_version: Such as ``HTTP/1.1``.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    http_version: str = "HTTP/1.1"

    def header(self, name: str) -> str | None:
        """The value of a header, letter case of its name ignored; several are joined as HTTP allows."""
        values = self.values(name)
        return ", ".join(values) if values else None

    def values(self, name: str) -> tuple[str, ...]:
        """Every value of a header as it came, letter case of its name ignored."""
        return self._values.get(name.lower(), ())

    @cached_property
    def _values(self) -> dict[str, tuple[str, ...]]:
        """The values by names in lower case: dozens of laws ask every response for them."""
        found: dict[str, tuple[str, ...]] = {}
        for given, value in self.headers:
            found[given.lower()] = (*found.get(given.lower(), ()), value)
        return found

    @cached_property
    def is_altered(self) -> bool:
        """Whether a text was taken out that is no key, and that a service may rightly show."""
        headers = (part.encode("utf-8", "replace") for header in self.headers for part in header)
        return any(STAND_IN.search(text) for text in (self.body, *headers))

    @cached_property
    def reading(self) -> Parsed | Malformed | TooDeep:
        """The body read as JSON."""
        return read_json(self.body)


@dataclass(frozen=True)
class Exchange:
    """One request and what came of it.

    Attributes:
        number: 1 for the first request of the run; the number that reports cite.
        check: The check or scenario that sent it.
        request: What was meant to be sent.
        sent_request: What was sent.
        received: The complete response, or None.
        error: Why there is no complete response, as a sentence; None if there is one.
        started_at: When it was sent, UTC.
        seconds: How long it took.
        attempt: 1, or more for a repetition.
        was_sent: Whether anything was sent: False where no connection could be made, so that surely nothing happened.
        head_seconds: How long the status and the headers took to come; None if they did not.
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
        """Of the number alone, which tells the exchanges of a run apart; a body of megabytes need not be looked at."""
        return hash(self.number)

    def without_secrets(self, redactor: Redactor) -> Self:
        """The same for an output: without secrets that became known after it was recorded, too.

        An exchange without any is given as it is, since what was read of a large body takes memory a second time.
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
        """The request by its method, its path and its number."""
        return f"{self.sent_request.method} {urlsplit(self.sent_request.url).path} (request {self.number})"

    @cached_property
    def judgeable(self) -> bool:
        """Whether a complete response of the service itself is there."""
        return self.received is not None and not speaks_for_service(self.request, self.received)

    @cached_property
    def as_received(self) -> Self | None:
        """What laws of any response judge: 429s that were waited out too; None if there is nothing to judge."""
        if self.received is None or not self.judgeable or self.request.unjudged:
            return None
        if may_be_parsers(self.request, self.received):
            return None
        if self.received.status != TOO_MANY_REQUESTS:
            return self
        return replace(self, request=replace(self.request, expects_429=True))

    @cached_property
    def response(self) -> Response:
        """The answer to judge; dozens of laws ask for it.

        Raises:
            NoResponse: There is none, a gateway gave it, or it is a 429 that outlasted every waiting.
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
        """The status of the response.

        Raises:
            NoResponse: See ``response``.
        """
        return self.response.status

    @cached_property
    def succeeded(self) -> bool:
        """Whether the response is a 2xx.

        Raises:
            NoResponse: See ``response``.
        """
        return self.status in SUCCESSES
