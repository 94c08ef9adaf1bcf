"""A service in memory, which carries out requests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.targets.names import RunNames
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


PREFIX = "cf-wbfc2iy2-"
NAMES = RunNames(PREFIX, "00000000000000000000000000000001")
BASE_URL = "http://service"
MAIN_KEY = "main-key-0001"


@dataclass
class Service:
    """A service in memory; ``lost`` operations are carried out without a response.

    Attributes:
        writes: Every call that is no GET, as ``METHOD path``.
        created_at: When everything was created; empty for times that no reader knows.
        overrides: Statuses to answer with in place of doing anything, by operation.
        merges: Whether repeated blanks in the organization's name become one, and those around it none.
        made_at: When engagements were created, by id, where a read shows it.
        listed_as: The names of engagements, by id, where the list shows others.
        people: Further fields of members, by id.
        fields: Further fields of the organization, which updates change.
    """

    id: str = "org_1"
    founded: str = "2020-01-01T00:00:00.000Z"
    name: str = "Acme"
    engagements: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=lambda: {"u_owner": "owner", "u_1": "member"})
    lost: set[str] = field(default_factory=set)
    overrides: dict[str, int | None] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    made: int = 0
    observers: list[Any] = field(default_factory=list)
    created_at: str = ""
    merges: bool = False
    made_at: dict[str, str] = field(default_factory=dict)
    listed_as: dict[str, str] = field(default_factory=dict)
    people: dict[str, dict[str, object]] = field(default_factory=dict)
    fields: dict[str, object] = field(default_factory=dict)

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Process requests one by one."""
        return [self.send(request) for request in requests]

    def send(self, request: Request) -> Exchange:
        """Process a request as the wire does, observers included."""
        for observer in self.observers:
            observer.before(request)
        self.requests.append(request)
        at = len(self.requests)
        if request.method != "GET":
            self.writes.append(f"{request.method} {request.path}")
        if request.operation.id in self.overrides:
            result = make_exchange(request, self.overrides[request.operation.id], {}, at=at)
        else:
            status, body = self._carry_out(request)
            result = make_exchange(request, None if request.operation.id in self.lost else status, body, at=at)
        for observer in self.observers:
            observer.after(result)
        return result

    def _carry_out(self, request: Request) -> tuple[int, object]:
        body = json.loads(request.body) if request.body else {}
        response: tuple[int, object] = getattr(self, f"_{request.operation.id}")(request, body)
        return response

    def _getCurrentOrganization(self, _request: Request, _body: Any) -> tuple[int, object]:  # noqa: N802
        counts = {"memberCount": len(self.roles), "engagementCount": len(self.engagements)}
        return 200, {"data": {**self.fields, "id": self.id, "name": self.name, "createdAt": self.founded, **counts}}

    def _updateCurrentOrganization(self, _request: Request, body: Any) -> tuple[int, object]:  # noqa: N802
        name = body.get("name", "")
        self.name = " ".join(name.split()) if self.merges else name
        self.fields |= {field: body[field] for field in self.fields if field in body}
        return 200, {"data": {"id": self.id, "name": self.name}}

    def _createEngagement(self, _request: Request, body: Any) -> tuple[int, object]:  # noqa: N802
        if not isinstance(body.get("name"), str):
            return 422, {"error": {}}
        self.made += 1
        self.engagements[f"e_{self.made}"] = body["name"]
        return 201, {"data": {"id": f"e_{self.made}", "name": body["name"]}}

    def _getEngagement(self, request: Request, _body: Any) -> tuple[int, object]:  # noqa: N802
        if request.identifier not in self.engagements:
            return 404, {"error": {}}
        shown = {"id": request.identifier, "name": self.engagements[request.identifier]}
        return 200, {"data": shown | {"createdAt": self.made_at.get(request.identifier)}}

    def _deleteEngagement(self, request: Request, _body: Any) -> tuple[int, object]:  # noqa: N802
        gone = self.engagements.pop(request.identifier or "", None)
        return (404, {}) if gone is None else (200, {"data": {"deleted": True, "id": request.identifier}})

    def _listEngagements(self, request: Request, _body: Any) -> tuple[int, object]:  # noqa: N802
        query = {name: int(value) for name, value in request.query if value.isdecimal()}
        items = [
            {"id": key, "name": self.listed_as.get(key, name), "createdAt": self.created_at or f"{9999 - rank}"}
            for rank, (key, name) in enumerate(reversed(self.engagements.items()))
        ]
        first = (query["page"] - 1) * query["perPage"]
        return 200, {"data": items[first : first + query["perPage"]], "meta": {}}

    def _listMembers(self, _request: Request, _body: Any) -> tuple[int, object]:  # noqa: N802
        items = [{"id": key, "role": role, **self.people.get(key, {})} for key, role in self.roles.items()]
        return 200, {"data": items, "meta": {}}

    def _inviteMember(self, _request: Request, body: Any) -> tuple[int, object]:  # noqa: N802
        return 201, {"data": {"id": "inv_1", "email": body.get("email")}}

    def _updateMemberRole(self, request: Request, body: Any) -> tuple[int, object]:  # noqa: N802
        if request.identifier not in self.roles:
            return 404, {"error": {}}
        self.roles[request.identifier] = body["role"]
        return 200, {"data": {"id": request.identifier, "role": body["role"]}}

    def _removeMember(self, request: Request, _body: Any) -> tuple[int, object]:  # noqa: N802
        return (200, {"data": {"removed": True}}) if self.roles.pop(request.identifier or "", None) else (404, {})
