"""Small in-memory service, correct unless a test overrides a step, and a client that records exchanges with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conformance.wire import requests
from conformance.wire.exchange import Exchange, Response, SentRequest
from conformance.wire.requests import Credential, Request

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HEADERS = (("Content-Type", "application/json"),)


@dataclass
class Record:
    """An engagement as the service stores it."""

    id: str
    name: str
    description: str | None
    status: str
    created: float
    updated: float


@dataclass
class Service:
    """Engagements in memory.

    Attributes:
        choices: The service's choices at points that the interface leaves open.
    """

    choices: dict[str, str] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    now: float = 0.0

    def handle(self, sent: Request) -> tuple[int, object]:
        """Return the status and the data of a response."""
        operation = sent.operation.id
        body = json.loads(sent.body) if sent.body else {}
        if operation == "createEngagement":
            return self.create(body)
        if operation == "listEngagements":
            return self.listed(dict(sent.query))
        record = self.find(sent.identifier or "")
        if record is None:
            return 404, None
        response: tuple[int, object] = getattr(self, operation)(record, body)
        return response

    def find(self, identifier: str) -> Record | None:
        """Return the engagement of an identifier, if it exists."""
        return self.records.get(identifier)

    def create(self, body: dict[str, Any]) -> tuple[int, object]:
        """Create an engagement."""
        identifier = f"e{len(self.records) + int(self.now * 1000)}"
        record = Record(identifier, body["name"], body.get("description"), "active", self.now, self.now)
        self.records[identifier] = record
        return 201, self.view(record)

    def getEngagement(self, record: Record, body: dict[str, Any]) -> tuple[int, object]:  # noqa: N802
        """Return the engagement."""
        return 200, self.view(record)

    def updateEngagement(self, record: Record, body: dict[str, Any]) -> tuple[int, object]:  # noqa: N802
        """Edit the engagement, unless it is archived."""
        if record.status == "archived":
            return int(self.choices.get("archived_edit", "409")), None
        self.edit(record, body)
        return 200, self.view(record)

    def edit(self, record: Record, body: dict[str, Any]) -> None:
        """Set fields to new values."""
        for name in ("name", "description"):
            if name in body:
                setattr(record, name, body[name])
        record.updated = self.now

    def archiveEngagement(self, record: Record, body: dict[str, Any]) -> tuple[int, object]:  # noqa: N802
        """Archive the engagement."""
        if record.status == "archived" and self.choices.get("archive_again", "409") == "409":
            return 409, None
        self.archive(record)
        return 200, {"id": record.id, "status": "archived", "updatedAt": self.time(record.updated)}

    def archive(self, record: Record) -> None:
        """Set the status archived."""
        record.status, record.updated = "archived", self.now

    def unarchiveEngagement(self, record: Record, body: dict[str, Any]) -> tuple[int, object]:  # noqa: N802
        """Unarchive the engagement, by the service's choice."""
        choice = self.choices.get("unarchive", "activates")
        if choice == "refused" or (choice != "nothing" and record.status == "active"):
            return 409, None
        if choice == "activates":
            self.unarchive(record)
        return 200, {}

    def unarchive(self, record: Record) -> None:
        """Set the status active."""
        record.status, record.updated = "active", self.now

    def deleteEngagement(self, record: Record, body: dict[str, Any]) -> tuple[int, object]:  # noqa: N802
        """Delete the engagement."""
        self.delete(record)
        return 200, {"deleted": True, "id": record.id}

    def delete(self, record: Record) -> None:
        """Remove the record."""
        del self.records[record.id]

    def listed(self, asked: dict[str, str]) -> tuple[int, object]:
        """Return one page of the list."""
        found = self.select(asked)
        size, page = int(asked.get("perPage", "20")), int(asked.get("page", "1"))
        part = self.part(found, (page - 1) * size, size)
        meta = {"total": self.total(found), "page": page, "perPage": size, "totalPages": -(-len(found) // size)}
        return 200, {"data": [self.item(record) for record in part], "meta": meta}

    def select(self, asked: dict[str, str]) -> list[Record]:
        """Return all requested engagements, sorted."""
        found = [record for record in self.records.values() if asked.get("status", record.status) == record.status]
        keys: dict[str, Callable[[Record], Any]] = {
            "name": lambda record: record.name,
            "createdAt": lambda record: record.created,
            "updatedAt": lambda record: record.updated,
        }
        key = keys[asked.get("sort", "createdAt")]
        return sorted(found, key=key, reverse=asked.get("order", "desc") == "desc")

    def part(self, found: list[Record], start: int, size: int) -> list[Record]:
        """Return the items of a page."""
        return found[start : start + size]

    def total(self, found: list[Record]) -> int:
        """Return the total."""
        return len(found)

    def item(self, record: Record) -> dict[str, Any]:
        """Return an engagement as a list shows it."""
        return self.view(record)

    def view(self, record: Record) -> dict[str, Any]:
        """Return an engagement as JSON."""
        shown = {"id": record.id, "name": record.name, "description": record.description, "status": record.status}
        if not record.description and self.choices.get("never_described", "null") != "null":
            shown["description"] = ""
        return shown | {"createdAt": self.time(record.created), "updatedAt": self.time(record.updated)}

    def time(self, seconds: float) -> str:
        """Return a timestamp."""
        ticks = int(seconds) if self.choices.get("clock") == "seconds" else seconds
        return (BEGAN + timedelta(seconds=ticks)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Client:
    """Client of a service that records its exchanges and moves its own clock.

    Attributes:
        service: The service.
        exchanges: All exchanges.
    """

    service: Service
    exchanges: list[Exchange] = field(default_factory=list)
    now: float = 0.0

    def send(
        self,
        sent: Request,
        *,
        at: float | None = None,
        seconds: float = 0.05,
        status: int | None = None,
        lost: bool = False,
    ) -> Exchange:
        """Send a request; ``status`` replaces the service's response, and ``lost`` drops it."""
        start = self.now if at is None else at
        self.service.now = start + seconds / 2
        given, data = self.service.handle(sent) if status is None else (status, None)
        exchange = self.made(sent, given, data, start, seconds)
        self.now = max(self.now, start + seconds) + 0.01
        self.exchanges.append(replace(exchange, received=None, error="the connection broke") if lost else exchange)
        return self.exchanges[-1]

    def made(self, sent: Request, status: int, data: object, start: float, seconds: float) -> Exchange:
        """Return an exchange with this response."""
        body = {"error": {"code": "X", "message": "", "statusCode": status}} if status >= 400 else {"data": data}
        if isinstance(data, dict) and "meta" in data:
            body = data
        return Exchange(
            number=len(self.exchanges) + 1,
            check="test",
            request=sent,
            sent_request=SentRequest(sent.method, f"http://service.test{sent.path}", (), sent.body or b""),
            received=Response(status, HEADERS, json.dumps(body).encode()),
            error=None,
            started_at=BEGAN + timedelta(seconds=start),
            seconds=seconds,
        )

    def created(self, name: str = "one", **more: str) -> str:
        """Create an engagement and return its id."""
        exchange = self.send(requests.create_engagement({"name": name, **more}))
        assert exchange.received is not None
        return str(json.loads(exchange.received.body)["data"]["id"])

    def send_each(self, sent: Iterable[Request]) -> list[Exchange]:
        """Send requests one after the other."""
        return [self.send(request) for request in sent]


@pytest.fixture(scope="session")
def make_client() -> Callable[..., Client]:
    """Return a factory of clients: of the correct service, or of a given class."""

    def make(kind: type[Service] | None = None, **choices: str) -> Client:
        return Client((kind or Service)(choices))

    return make


@pytest.fixture(scope="session")
def honest() -> type[Service]:
    """Return the correct service, to be subclassed with faults."""
    return Service


@pytest.fixture(scope="session")
def another_key() -> Credential:
    """Return a credential other than the main key."""
    return Credential.bearer("other_organization", "k2")
