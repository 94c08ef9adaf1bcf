"""Reference service as a process: ``python -m conformance.reference.server``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

import uvicorn

from conformance.reference.application import SANDBOX_PATH, Application, create_app
from conformance.reference.faults import fault_by_id
from conformance.reference.latitude import Latitude
from conformance.reference.store import Store
from conformance.targets.validity import socket_address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType


class Server(uvicorn.Server):
    """HTTP server of an application on a socket.

    Args:
        app: The application.
        listener: A bound socket, whose port is known.
        ready: Called once when the server accepts requests.
        interruptible: Whether SIGINT stops the server; SIGTERM always does.
    """

    def __init__(
        self,
        app: Application,
        listener: socket.socket,
        ready: Callable[[], None],
        *,
        interruptible: bool = True,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,  # the service writes it by its own clock
                timeout_keep_alive=75,
                timeout_graceful_shutdown=2,
            )
        )
        self._app = app
        self._listener = listener
        self._ready = ready
        self._interruptible = interruptible

    def serve_until_stopped(self) -> None:
        """Serve until a signal or ``stop``; then close the application."""
        try:
            self.run([self._listener])
        finally:
            self._app.close()

    def stop(self) -> None:
        """Stop the server from another thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen and call ``ready``."""
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop on a signal, unless it is for the parent process."""
        if sig != signal.SIGINT or self._interruptible:
            super().handle_exit(sig, frame)


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Bind a socket.

    Returns:
        The socket and its base URL.

    Raises:
        OSError: The address is unavailable.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's delay only if the protocol is named; the delay costs 40 ms per response
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    name = f"[{host}]" if family == socket.AF_INET6 else host
    return listener, f"http://{name}:{listener.getsockname()[1]}"


def announcement(app: Application, base_url: str) -> dict[str, object]:
    """Return the addresses and keys for a program that uses the service."""
    return {
        "base_url": base_url,
        "sandbox_url": f"{base_url}{SANDBOX_PATH}",
        "sandbox_token": app.bootstrap.sandbox_token,
        "keys": {"api_key": app.bootstrap.api_key, "other_organization": app.bootstrap.other_organization},
    }


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance.reference.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0, the default, uses a free one")
    parser.add_argument("--announce", action="store_true", help="print one JSON line; stop when stdin ends")
    parser.add_argument("--database", default=":memory:", metavar="FILE")
    parser.add_argument("--seed-data", action="store_true")
    parser.add_argument("--smtp", metavar="HOST:PORT", type=socket_address)
    parser.add_argument("--latency", type=float, default=0.0, metavar="MS")
    parser.add_argument("--latitude", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--fault", metavar="ID")
    arguments = parser.parse_args(words)
    try:
        arguments.latitude = Latitude.parse(arguments.latitude)
        arguments.fault = fault_by_id(arguments.fault) if arguments.fault else None
    except (ValueError, LookupError) as problem:
        parser.error(str(problem.args[0]))
    return arguments


def _stop_with_parent(server: Server) -> None:
    """Stop the server when the parent process closes the pipe or ends."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        server.stop()

    threading.Thread(target=wait, name="parent", daemon=True).start()


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(words: Sequence[str] | None = None) -> None:
    """Serve until a signal or the end of stdin."""
    arguments = _arguments(words)
    if arguments.announce:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener, base_url = listen(arguments.host, arguments.port)
    app = create_app(
        Store(arguments.database),
        latitude=arguments.latitude,
        fault=arguments.fault,
        smtp=arguments.smtp,
        latency=arguments.latency / 1000,
        seed_data=arguments.seed_data,
    )
    app.service.end_process = lambda: os._exit(1)
    line = json.dumps(announcement(app, base_url))
    server = Server(app, listener, lambda: _print(line), interruptible=not arguments.announce)
    if arguments.announce:
        _stop_with_parent(server)
    server.serve_until_stopped()


if __name__ == "__main__":
    main()
