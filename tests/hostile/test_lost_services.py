"""A process that ends at a request and is started again by a supervisor, in a run from outside."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.hostile import dying
from tests.hostile.running import Ended, start, target_file

SECONDS = 240.0


@dataclass
class Supervisor:
    """Starts the process again, a second after it has ended."""

    words: list[str]
    keys: list[str] = field(default_factory=list)
    _ready: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _child: subprocess.Popen[str] | None = None

    @property
    def api_key(self) -> str:
        """A key that every start knows, since the database keeps it."""
        assert self._ready.wait(60)
        return self.keys[0]

    def watch(self) -> None:
        """Start it again and again."""
        while not self._stop.is_set():
            self._child = subprocess.Popen([sys.executable, *self.words], stdout=subprocess.PIPE, text=True)
            assert self._child.stdout is not None
            self.keys.append(self._child.stdout.readline().strip())
            self._ready.set()
            self._child.wait()
            self._child.stdout.close()
            self._stop.wait(1.0)

    def end(self) -> None:
        """Start it no more."""
        self._stop.set()
        if self._child is not None:
            self._child.terminate()


@contextmanager
def supervised(folder: Path, method: str, piece: str) -> Iterator[tuple[Supervisor, str]]:
    """A supervised service that ends at requests of a kind, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    supervisor = Supervisor([dying.__file__, str(port), str(folder / "service.db"), method, piece])
    thread = threading.Thread(target=supervisor.watch)
    thread.start()
    try:
        yield supervisor, f"http://127.0.0.1:{port}"
    finally:
        supervisor.end()
        thread.join(30)


def engagements(base_url: str, key: str) -> int:
    """How many engagements the organization has, as the service counts them."""
    answer = httpx.get(f"{base_url}/api/v1/organizations/current", headers={"Authorization": f"Bearer {key}"})
    count: int = answer.json()["data"]["engagementCount"]
    return count


def test_a_request_that_ends_the_process_is_a_server_error(tmp_path: Path) -> None:
    """It fails, named, after two ends; the run goes on, leaves nothing, and is judged again to the same outcomes."""
    with supervised(tmp_path, "PATCH", '"description": ""') as (supervisor, base_url):
        target = target_file(tmp_path / "run", base_url, timeout=10)
        words = ["run", "--target", str(target), "--effort", "quick", "--seed", "3"]
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
