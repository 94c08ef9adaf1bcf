"""Service process that ends at a request and is restarted by a supervisor."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.fakes.command_line import Ended, start, target_file

SECONDS = 240.0


@dataclass
class Supervisor:
    """Restarts the process a second after its end."""

    words: list[str]
    keys: list[str] = field(default_factory=list)
    _ready: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _child: subprocess.Popen[str] | None = None

    @property
    def api_key(self) -> str:
        """A key that works after every restart, since the database stores it."""
        assert self._ready.wait(60)
        return self.keys[0]

    def watch(self) -> None:
        """Start the process after every end."""
        while not self._stop.is_set():
            self._child = subprocess.Popen([sys.executable, *self.words], stdout=subprocess.PIPE, text=True)
            assert self._child.stdout is not None
            if line := self._child.stdout.readline():
                self.keys.append(json.loads(line)["keys"]["api_key"])
            self._ready.set()
            self._child.wait()
            self._child.stdout.close()
            self._stop.wait(1.0)

    def end(self, watching: threading.Thread) -> None:
        """Stop restarting, and end the process."""
        self._stop.set()
        while watching.is_alive():
            if self._child is not None:
                self._child.terminate()
            watching.join(0.2)


@contextmanager
def supervised(folder: Path, fault: str) -> Iterator[tuple[Supervisor, str]]:
    """Run a supervised service with a fault of the library; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--port", str(port), "--database", str(folder / "service.db"), "--fault", fault]
    supervisor = Supervisor(["-m", "conformance.reference.server", *words])
    thread = threading.Thread(target=supervisor.watch)
    thread.start()
    try:
        yield supervisor, f"http://127.0.0.1:{port}"
    finally:
        supervisor.end(thread)


def engagements(base_url: str, key: str) -> int:
    """Return the number of engagements that the service counts."""
    response = httpx.get(f"{base_url}/api/v1/organizations/current", headers={"Authorization": f"Bearer {key}"})
    count: int = response.json()["data"]["engagementCount"]
    return count


def test_a_request_that_ends_the_process_is_a_server_error(tmp_path: Path) -> None:
    """The requirement fails after two ends, and the message names the request. The run continues and leaves nothing."""
    with supervised(tmp_path, "ends-at-an-emptied-description") as (supervisor, base_url):
        target = target_file(tmp_path / "run", base_url, timeout=10)
        words = ["run", "--target", str(target), "--effort", "quick", "--seed", "3"]
        words += ["--only", "no-server-error", "--only", "updateEngagement", "--only", "list-engagements-*"]
        ended: Ended = start(tmp_path / "run" / "report", *words, CONFORMANCE_API_KEY=supervisor.api_key).wait(SECONDS)
        left = engagements(base_url, supervisor.api_key)
        again = start(tmp_path / "again", "render", str(ended.folder), "--rejudge").wait(SECONDS)

    (failed,) = [entry for entry in ended.report["requirements"] if entry["outcome"] == "failed"]
    assert ended.status == 1
    assert failed["id"] == "no-server-error"
    assert "PATCH /api/v1/engagements/" in failed["failures"][0]["message"]
    assert len(failed["failures"][0]["exchanges"]) == 2
    assert len(supervisor.keys) >= 3
    assert left == 0
    assert again.status == 0, again.out
