"""Fixtures: runs of the command line against small services."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.fakes.command_line import Reported

KEY = "a-key-that-nobody-may-see"
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("CONFORMANCE_", "PYTHONDONTWRITE"))
}

Responder = Callable[[str, str], tuple[int, dict[str, str], bytes]]


@dataclass
class Service:
    """A service that responds by a function, and the requests that it received."""

    base_url: str
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(responder: Responder) -> Iterator[Service]:
    """Serve on a free port of the loopback until the end of the ``with``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def response(self) -> None:
            service.asked.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, body = responder(self.command, self.path)
            (self.send_response_only if "Date" in headers else self.send_response)(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = response  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service = Service(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def small_service() -> Callable[[Responder], AbstractContextManager[Service]]:
    """Serve by a function of method and path; see ``serving``."""
    return serving


def response(status: int, body: object, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Return a response with everything that the interface requires of any response."""
    limits = {
        "Content-Type": "application/json",
        "X-RateLimit-Limit": "100000",
        "X-RateLimit-Remaining": "99999",
        "X-RateLimit-Reset": str(int(time.time()) + 60),
    }
    return status, limits | headers, json.dumps(body).encode()


@pytest.fixture
def responding() -> Callable[..., tuple[int, dict[str, str], bytes]]:
    """Return the constructor of responses; see ``response``."""
    return response


@dataclass(frozen=True)
class Ended(Reported):
    """The result of a command."""

    status: int
    out: str
    err: str
    folder: Path


@pytest.fixture
def conformance(tmp_path: Path) -> Callable[..., Ended]:
    """Run ``conformance`` with arguments; ``run`` gets a folder for its report."""

    def command(*arguments: str, **environment: str) -> Ended:
        folder = tmp_path / "report"
        if arguments[0] == "run" and "--report" not in arguments:
            arguments = (*arguments, "--report", str(folder))
        done = subprocess.run(
            [sys.executable, "-m", "conformance", *arguments],
            check=False, capture_output=True, text=True, env=ENVIRONMENT | environment, cwd=tmp_path, timeout=300,
        )  # fmt: skip
        return Ended(done.returncode, done.stdout, done.stderr, folder)

    return command
