"""A client of the reference service in the same process, without sockets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pytest

from conformance.reference.application import Application, create_app
from conformance.reference.latitude import Latitude

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.faults import Fault
    from conformance.reference.store import Store

MOMENT = 1_800_000_000.0

ORGANIZATION = "/api/v1/organizations/current"
MEMBERS = f"{ORGANIZATION}/members"
INVITE = f"{MEMBERS}/invite"
ENGAGEMENTS = "/api/v1/engagements"


class Hands:
    """A clock that moves a little with every look at it, and when it is told to."""

    def __init__(self) -> None:
        self.seconds = MOMENT
        self.step = 0.001

    def __call__(self) -> float:
        """Tell the time, and move on."""
        self.seconds += self.step
        return self.seconds


class Visitor:
    """Sends requests to a service of its own and keeps an event loop for what that does in the background."""

    def __init__(self, *, store: Store | None = None, fault: Fault | None = None, **choices: str) -> None:
        self.clock = Hands()
        self.app: Application = create_app(store, latitude=Latitude(choices), fault=fault, clock=self.clock)
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://reference:80")
        self.key = self.app.bootstrap.api_key
        self.other = self.app.bootstrap.other_organization

    def close(self) -> None:
        """End the service."""
        self._runner.run(self._client.aclose())
        self.app.close()
        self._runner.close()

    # Requests

    def send(
        self, method: str, path: str, json: object = None, *, key: str | None = None, **more: Any
    ) -> httpx.Response:
        """Send one request and give its answer."""
        return self.together([(method, path, json)], key=key, **more)[0]

    def together(
        self, requests: Sequence[tuple[str, str, Any]], *, key: str | None = None, **more: Any
    ) -> list[httpx.Response]:
        """Send requests at the same time."""
        headers = {"Authorization": f"Bearer {key or self.key}", **more.pop("headers", {})}

        async def all_at_once() -> list[httpx.Response]:
            return await asyncio.gather(
                *(
                    self._client.request(
                        method, path, headers=headers, **({"json": body} if body is not None else {}), **more
                    )
                    for method, path, body in requests
                )
            )

        return self._runner.run(all_at_once())

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Send a GET."""
        return self.send("GET", path, **more)

    def post(self, path: str, json: object = None, **more: Any) -> httpx.Response:
        """Send a POST."""
        return self.send("POST", path, json, **more)

    def patch(self, path: str, json: object = None, **more: Any) -> httpx.Response:
        """Send a PATCH."""
        return self.send("PATCH", path, json, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        """Send a DELETE."""
        return self.send("DELETE", path, **more)

    def wait(self, seconds: float) -> None:
        """Let the background work."""
        self._runner.run(asyncio.sleep(seconds))

    # What many need

    def engagement(self, name: str = "one", **fields: object) -> dict[str, Any]:
        """Create an engagement."""
        response = self.post(ENGAGEMENTS, {"name": name, **fields})
        assert response.is_success, response.text
        engagement: dict[str, Any] = response.json()["data"]
        return engagement

    def archived(self, name: str = "one") -> str:
        """Create and archive an engagement, and give its path."""
        path = self.at(self.engagement(name)["id"])
        assert self.post(f"{path}/archive").is_success
        return path

    def at(self, identifier: str, place: str = ENGAGEMENTS) -> str:
        """Give the path of a resource."""
        return f"{place}/{quote(identifier, safe='')}"

    def member(self, role: str) -> dict[str, Any]:
        """Give the first member of a role."""
        found: dict[str, Any] = self.get(MEMBERS, params={"role": role}).json()["data"][0]
        return found

    def rpc(self, method: str, **params: object) -> dict[str, Any]:
        """Ask the sandbox, and give the result or the error."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        response = self.post("/sandbox/rpc", message, key=self.app.sandbox_token).json()
        told: dict[str, Any] = response.get("result", response.get("error"))
        return told


@pytest.fixture
def visit() -> Iterator[Callable[..., Visitor]]:
    """Make visitors, each with a service of its own, from choices at open points."""
    visitors: list[Visitor] = []

    def new_visitor(**settings: Any) -> Visitor:
        visitors.append(Visitor(**settings))
        return visitors[-1]

    yield new_visitor
    for visitor in visitors:
        visitor.close()


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    """A visitor of the service as it is by default."""
    return visit()
