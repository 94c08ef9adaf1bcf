"""ASGI application: the interface, the sandbox and the page that accepts invitations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route

from conformance.reference.bootstrap import Bootstrap, bootstrap_service
from conformance.reference.clock import Clock, system_clock
from conformance.reference.mail import Postman
from conformance.reference.sandbox import Sandbox
from conformance.reference.service import Service
from conformance.reference.store import Store

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from conformance.reference.faults import Fault
    from conformance.reference.latitude import Latitude

SANDBOX_PATH = "/sandbox/rpc"


@dataclass(frozen=True, slots=True)
class Application:
    """An ASGI application with its keys and its sandbox.

    Args:
        service: The interface.
        bootstrap: Its first organizations and keys.
        sandbox: The operator's methods, at ``/sandbox/rpc``.
        asgi: Responds to requests.
    """

    service: Service
    bootstrap: Bootstrap
    sandbox: Sandbox
    asgi: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        await self.asgi(scope, receive, send)

    def close(self) -> None:
        """Cancel background actions and close the store."""
        self.service.close()
        self.service.store.close()


def create_app(
    store: Store | None = None,
    *,
    latitude: Latitude | None = None,
    fault: Fault | None = None,
    clock: Clock = system_clock,
    smtp: tuple[str, int] | None = None,
    latency: float = 0.0,
    seed_data: bool = False,
) -> Application:
    """Build the reference service.

    Args:
        store: Its state; a new one in memory by default.
        latitude: Its choices at the open points.
        fault: A deliberate deviation from the interface.
        clock: Returns the time in seconds since the epoch.
        smtp: Host and port of the mail server for invitations.
        latency: Seconds by which every response is delayed.
        seed_data: Whether a new database gets realistic members, engagements and invitations.

    Returns:
        The application; the caller closes it.
    """
    build = fault.service if fault else Service
    service = build(store or Store(), latitude=latitude, clock=clock, postman=Postman(smtp), latency=latency)
    bootstrap = bootstrap_service(service, seed_data=seed_data)
    sandbox = Sandbox(service, bootstrap.organization_id, bootstrap.sandbox_token)
    asgi = Starlette(
        routes=[Route(SANDBOX_PATH, sandbox.rpc, methods=["POST"]), Route("/invitations/{token}", sandbox.accept)]
    )
    asgi.router.default = service  # the interface responds to every other path, with its error envelope
    asgi.router.redirect_slashes = False
    return Application(service, bootstrap, sandbox, asgi)
