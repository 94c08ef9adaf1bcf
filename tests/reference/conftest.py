"""Client of the reference service in the same process, without sockets."""

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
    """A clock that advances by ``step`` at every read, and when a test sets it."""

    def __init__(self) -> None:
        self.seconds = MOMENT
        self.step = 0.001

    def __call__(self) -> float:
        """Advance the clock and return the time."""
        self.seconds += self.step
        return self.seconds


class Visitor:
    """A client with its own service and an event loop for the background actions."""

    def __init__(self, *, store: Store | None = None, fault: Fault | None = None, **choices: str) -> None:
        self.clock = Hands()
        self.app: Application = create_app(store, latitude=Latitude(choices), fault=fault, clock=self.clock)
        self._runner = asyncio.Runner()
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://reference:80")
        self.key = self.app.bootstrap.api_key
        self.other = self.app.bootstrap.other_organization

    def close(self) -> None:
        """Close the service."""
        self._runner.run(self._client.aclose())
        self.app.close()
        self._runner.close()

    # Requests

    def send(
        self, method: str, path: str, json: object = None, *, key: str | None = None, **more: Any
    ) -> httpx.Response:
        """Send a request and return its response."""
        return self.together([(method, path, json)], key=key, **more)[0]

    def together(
        self, requests: Sequence[tuple[str, str, Any]], *, key: str | None = None, **more: Any
    ) -> list[httpx.Response]:
        """Send requests at the same time and return their responses."""
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
        """Run the background actions for some seconds."""
        self._runner.run(asyncio.sleep(seconds))

    # Shared helpers

    def engagement(self, name: str = "one", **fields: object) -> dict[str, Any]:
        """Create an engagement."""
        response = self.post(ENGAGEMENTS, {"name": name, **fields})
        assert response.is_success, response.text
        engagement: dict[str, Any] = response.json()["data"]
        return engagement

    def archived(self, name: str = "one") -> str:
        """Create and archive an engagement, and return its path."""
        path = self.at(self.engagement(name)["id"])
        assert self.post(f"{path}/archive").is_success
        return path

    def at(self, identifier: str, place: str = ENGAGEMENTS) -> str:
        """Return the path of a resource."""
        return f"{place}/{quote(identifier, safe='')}"

    def member(self, role: str) -> dict[str, Any]:
        """Return the first member of a role."""
        found: dict[str, Any] = self.get(MEMBERS, params={"role": role}).json()["data"][0]
        return found

    def rpc(self, method: str, **params: object) -> dict[str, Any]:
        """Call a method of the sandbox, and return the result or the error."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        response = self.post("/sandbox/rpc", message, key=self.app.bootstrap.sandbox_token).json()
        outcome: dict[str, Any] = response.get("result", response.get("error"))
        return outcome


@pytest.fixture
def visit() -> Iterator[Callable[..., Visitor]]:
    """Return a function that makes visitors, each with its own service."""
    visitors: list[Visitor] = []

    def new_visitor(**settings: Any) -> Visitor:
        visitors.append(Visitor(**settings))
        return visitors[-1]

    yield new_visitor
    for visitor in visitors:
        visitor.close()


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    """A visitor of the default service."""
    return visit()
