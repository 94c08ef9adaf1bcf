"""Service and provisioner as processes."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from conformance.cli.serve import serve

TIMEOUT = 30
Start = Callable[..., tuple[subprocess.Popen[bytes], dict[str, Any]]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts services, which end with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_one(*options: str) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
        command = [sys.executable, "-m", "conformance.reference.server", "--announce", *options]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout
        return process, json.loads(process.stdout.readline())

    yield start_one
    for process in started:
        assert process.stdin
        assert process.stdout
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0
        process.stdout.close()


def ask(
    announced: dict[str, Any], method: str, path: str, body: object = None, key: str = "api_key"
) -> tuple[int, Any]:
    """Send a request over a socket."""
    connection = http.client.HTTPConnection(urlsplit(announced["base_url"]).netloc, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {announced['keys'][key]}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    response = connection.getresponse()
    found = response.status, json.loads(response.read())
    connection.close()
    return found


def test_announced_service_responds_and_ends_with_its_parent(start: Start) -> None:
    """The announced values work, and SIGINT does not stop the service."""
    process, announced = start()
    process.send_signal(signal.SIGINT)

    status, response = ask(announced, "GET", "/api/v1/organizations/current")

    assert (status, response["data"]["memberCount"]) == (200, 3)
    assert (
        ask(announced, "GET", "/api/v1/organizations/current", key="other_organization")[1]["data"]["id"]
        != response["data"]["id"]
    )
    assert process.poll() is None


def test_database_is_kept_across_restarts(start: Start, tmp_path: Path) -> None:
    """A second service on the same file has the records and the keys of the first; only the owner can read the file."""
    database = str(tmp_path / "reference.db")
    first, announced = start("--database", database)
    _, created = ask(announced, "POST", "/api/v1/engagements", {"name": "kept"})
    assert first.stdin
    first.stdin.close()
    first.wait(TIMEOUT)

    _, again = start("--database", database)

    assert (again["keys"], again["sandbox_token"]) == (announced["keys"], announced["sandbox_token"])
    assert ask(again, "GET", f"/api/v1/engagements/{created['data']['id']}") == (200, created)
    assert Path(database).stat().st_mode & 0o077 == 0


def test_client_that_sends_too_much_gets_its_response(start: Start) -> None:
    """An oversized body is refused with an envelope, also if the connection is closed after it."""
    for options in ((), ("--latitude", "connection=closed")):
        _, announced = start(*options)
        status, response = ask(announced, "POST", "/api/v1/engagements", {"name": "x" * 5_000_000})
        assert (status, response["error"]["statusCode"]) == (413, 413)


def test_latitude_and_fault_are_obeyed(start: Start) -> None:
    """Command-line options reach the service."""
    _, announced = start("--latitude", "create_status=202", "--fault", "total-pages-too-many", "--seed-data")

    assert ask(announced, "POST", "/api/v1/engagements", {"name": "n"})[0] == 202
    assert ask(announced, "GET", "/api/v1/engagements?perPage=1")[1]["meta"]["totalPages"] == 8
    assert ask(announced, "GET", "/api/v1/organizations/current")[1]["data"]["memberCount"] == 9


@pytest.mark.parametrize("options", [["--fault", "nonsense"], ["--latitude", "nonsense"], ["--smtp", "nonsense"]])
def test_invalid_options_are_usage_errors(options: list[str]) -> None:
    """An invalid option is a usage error."""
    command = [sys.executable, "-m", "conformance.reference.server", *options]

    ended = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)

    assert ended.returncode == 2
    assert b"nonsense" in ended.stderr
    assert b"Traceback" not in ended.stderr


@pytest.fixture
def converse(start: Start) -> Iterator[Callable[[bytes], dict[str, Any]]]:
    """Send messages to a provisioner and return its output."""
    _, announced = start()
    variables = {
        "CONFORMANCE_SANDBOX_URL": announced["sandbox_url"],
        "CONFORMANCE_SANDBOX_TOKEN": announced["sandbox_token"],
    }
    command = [sys.executable, "-m", "conformance.reference.provisioner"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **variables})
    assert process.stdin
    assert process.stdout
    stdin, stdout = process.stdin, process.stdout

    def say(line: bytes) -> dict[str, Any]:
        stdin.write(line + b"\n")
        stdin.flush()
        response: dict[str, Any] = json.loads(stdout.readline())
        return response

    yield say
    stdin.close()
    assert process.wait(TIMEOUT) == 0
    stdout.close()


def test_provisioner_speaks_one_message_a_line(converse: Callable[[bytes], dict[str, Any]]) -> None:
    """Each request gets its response, also after an invalid line."""
    good = b'{"jsonrpc": "2.0", "id": %d, "method": "create_key", "params": {"scopes": ["engagements:read"]}}'
    bad = b'{"jsonrpc": "2.0", "id": 8, "method": "nonsense"}'

    assert set(converse(good % 7)["result"]) == {"key"}
    assert converse(b"nonsense")["error"]["code"] == -32700
    assert converse(bad) == {
        "jsonrpc": "2.0",
        "id": 8,
        "error": {"code": -32601, "message": "there is no method 'nonsense'"},
    }
    assert converse(good % 9)["id"] == 9


def test_provisioner_without_a_sandbox_says_so() -> None:
    """An unreachable sandbox is an error of each call; a missing variable ends the program."""
    command = [sys.executable, "-m", "conformance.reference.provisioner"]
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "create_organization"}\n'
    nowhere = {"CONFORMANCE_SANDBOX_URL": "http://127.0.0.1:9/", "CONFORMANCE_SANDBOX_TOKEN": "t"}

    lost = subprocess.run(
        command, input=line, env={**os.environ, **nowhere}, capture_output=True, timeout=TIMEOUT, check=True
    )
    assert json.loads(lost.stdout)["error"]["code"] == -32603
    unset = subprocess.run(command, input=line, env={}, capture_output=True, timeout=TIMEOUT, check=False)
    assert (unset.returncode, unset.stdout) == (2, b"")


def test_serve_shows_how_to_use_it_and_stops_on_interrupt() -> None:
    """The command prints every key and ends cleanly on Ctrl-C."""
    command = [sys.executable, "-c", "from conformance.cli.serve import serve; serve()", "--port", "0", "--seed-data"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout
    shown = b""
    while b"curl" not in shown:
        shown += process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)

    assert b"Ctrl-C stops it" in shown
    assert shown.count(b"=key_") == 7
    assert b"export CONFORMANCE_SANDBOX_TOKEN=" in shown
    assert (process.returncode, out, err) == (0, b"Stopped.\n", b"")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--latitude", "create_status=204"], "Use one of: 201, 200, 202"),
        (["--fault", "nonsense"], "list them with: conformance faults"),
        (["--smtp", "nonsense"], "host:port"),
        (["--smtp", "localhost:99999"], "host:port"),
        (["--host", "203.0.113.1", "--port", "1"], "Cannot listen on 203.0.113.1"),
        (["--port", "0", "--database", "/"], "Cannot use the database /"),
    ],
)
def test_serve_refuses_what_it_cannot_do(options: list[str], said: str) -> None:
    """An invalid option is a usage error that names the cause."""
    result = CliRunner().invoke(serve, options)

    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


@pytest.mark.parametrize("table", ["photos", "engagements"])
def test_serve_leaves_the_database_of_another_program_alone(tmp_path: Path, table: str) -> None:
    """A file with other tables is refused and stays as it is."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"CREATE TABLE {table} (x)")
    before = path.read_bytes()

    result = CliRunner().invoke(serve, ["--port", "0", "--database", str(path)])

    assert (result.exit_code, path.read_bytes()) == (2, before)
    assert "it is the database of another program" in " ".join(result.output.split())
