"""A small service in memory, and ways to make profiles and exchanges."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.journal import Journal
from conformance.targets.loading import load_profile
from conformance.targets.names import RunNames
from conformance.wire.exchange import Exchange, Response, SentRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.targets.profile import Profile
    from conformance.wire.request import Call


PREFIX = "cf-abcdefg2-"
BASE_URL = "http://service"
MAIN_KEY = "main-key-0001"


def exchange(
    call: Call,
    status: int | None,
    body: object = None,
    *,
    attempt: int = 1,
    number: int = 1,
    headers: tuple[tuple[str, str], ...] = (),
) -> Exchange:
    """An exchange with that answer; status None is none."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    received = None if status is None else Response(status, (("Content-Type", "application/json"), *headers), text)
    trouble = "the connection broke" if status is None else None
    request = SentRequest(call.method, f"http://service{call.path}", (), call.body or b"")
    return Exchange(number, "check", call, request, received, trouble, datetime.now(UTC), 0.0, attempt)


@dataclass
class Service:
    """Engagements, a name and members in memory; ``lost`` operations are carried out and not answered.

    Attributes:
        writes: Every call that is no GET, as ``METHOD path``.
        created_at: When everything was created; empty for times that no reader knows.
        overrides: Statuses to answer with in place of doing anything, by operation.
        merges: Whether repeated blanks in the organization's name become one, and those around it none.
        made_at: When engagements were created, by id, where a read tells.
        listed_as: The names of engagements, by id, where the list shows others.
    """

    id: str = "org_1"
    founded: str = "2020-01-01T00:00:00.000Z"
    name: str = "Acme"
    engagements: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=lambda: {"u_owner": "owner", "u_1": "member"})
    lost: set[str] = field(default_factory=set)
    overrides: dict[str, int | None] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    made: int = 0
    observers: list[Any] = field(default_factory=list)
    created_at: str = ""
    merges: bool = False
    made_at: dict[str, str] = field(default_factory=dict)
    listed_as: dict[str, str] = field(default_factory=dict)

    def send_all(self, calls: Sequence[Call]) -> list[Exchange]:
        """Carry calls out one by one."""
        return [self.send(call) for call in calls]

    def send(self, call: Call) -> Exchange:
        """Carry a call out as the wire does, observers included."""
        for observer in self.observers:
            observer.before(call)
        self.calls.append(call)
        if call.method != "GET":
            self.writes.append(f"{call.method} {call.path}")
        if call.operation.id in self.overrides:
            result = exchange(call, self.overrides[call.operation.id], {})
        else:
            status, body = self._carry_out(call)
            result = exchange(call, None if call.operation.id in self.lost else status, body)
        for observer in self.observers:
            observer.after(result)
        return result

    def _carry_out(self, call: Call) -> tuple[int, object]:
        body = json.loads(call.body) if call.body else {}
        response: tuple[int, object] = getattr(self, f"_{call.operation.id}")(call, body)
        return response

    def _getCurrentOrganization(self, _call: Call, _body: Any) -> tuple[int, object]:  # noqa: N802
        counts = {"memberCount": len(self.roles), "engagementCount": len(self.engagements)}
        return 200, {"data": {"id": self.id, "name": self.name, "createdAt": self.founded, **counts}}

    def _updateCurrentOrganization(self, _call: Call, body: Any) -> tuple[int, object]:  # noqa: N802
        self.name = " ".join(body["name"].split()) if self.merges else body["name"]
        return 200, {"data": {"id": self.id, "name": self.name}}

    def _createEngagement(self, _call: Call, body: Any) -> tuple[int, object]:  # noqa: N802
        if not isinstance(body.get("name"), str):
            return 422, {"error": {}}
        self.made += 1
        self.engagements[f"e_{self.made}"] = body["name"]
        return 201, {"data": {"id": f"e_{self.made}", "name": body["name"]}}

    def _getEngagement(self, call: Call, _body: Any) -> tuple[int, object]:  # noqa: N802
        if call.identifier not in self.engagements:
            return 404, {"error": {}}
        shown = {"id": call.identifier, "name": self.engagements[call.identifier]}
        return 200, {"data": shown | {"createdAt": self.made_at.get(call.identifier)}}

    def _deleteEngagement(self, call: Call, _body: Any) -> tuple[int, object]:  # noqa: N802
        gone = self.engagements.pop(call.identifier or "", None)
        return (404, {}) if gone is None else (200, {"data": {"deleted": True, "id": call.identifier}})

    def _listEngagements(self, call: Call, _body: Any) -> tuple[int, object]:  # noqa: N802
        query = {name: int(value) for name, value in call.query if value.isdecimal()}
        items = [
            {"id": key, "name": self.listed_as.get(key, name), "createdAt": self.created_at or f"{9999 - rank}"}
            for rank, (key, name) in enumerate(reversed(self.engagements.items()))
        ]
        first = (query["page"] - 1) * query["perPage"]
        return 200, {"data": items[first : first + query["perPage"]], "meta": {}}

    def _listMembers(self, _call: Call, _body: Any) -> tuple[int, object]:  # noqa: N802
        return 200, {"data": [{"id": key, "role": role} for key, role in self.roles.items()], "meta": {}}

    def _inviteMember(self, _call: Call, body: Any) -> tuple[int, object]:  # noqa: N802
        return 201, {"data": {"id": "inv_1", "email": body.get("email")}}

    def _updateMemberRole(self, call: Call, body: Any) -> tuple[int, object]:  # noqa: N802
        if call.identifier not in self.roles:
            return 404, {"error": {}}
        self.roles[call.identifier] = body["role"]
        return 200, {"data": {"id": call.identifier, "role": body["role"]}}

    def _removeMember(self, call: Call, _body: Any) -> tuple[int, object]:  # noqa: N802
        return (200, {"data": {"removed": True}}) if self.roles.pop(call.identifier or "", None) else (404, {})


@pytest.fixture
def service() -> Service:
    """A service with an owner, a member and no engagement."""
    return Service()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The journal of a run."""
    opened = Journal.open(tmp_path / "report", RunNames(PREFIX), BASE_URL, MAIN_KEY)
    yield opened
    opened.close()


@pytest.fixture
def make_exchange() -> Callable[..., Exchange]:
    """Makes an exchange of a call, a status and a body."""
    return exchange


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Profile]:
    """Loads a target file of the text given, with the environment given by keyword."""

    def loading(
        text: str, /, *, complete: bool = True, options: dict[str, Any] | None = None, **environ: str
    ) -> Profile:
        path = tmp_path / "target.yaml"
        head = "base_url: https://api.example.com\napi_key: ${MAIN_KEY}\n" if complete else ""
        path.write_text(head + text, "utf-8")
        path.chmod(0o600)
        return load_profile(path, {"MAIN_KEY": "main-key-0001"} | environ, **(options or {}))

    return loading
