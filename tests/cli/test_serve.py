"""The command ``conformance serve`` beside the interface: pages, keys, cross-origin requests and the log."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx
import pytest
import yaml
from click.testing import CliRunner

from conformance.cli import main
from conformance.interface.openapi import openapi_path
from tests.cli.conftest import ENVIRONMENT

KEY = "the-key/of+my.choice"
CURRENT = "/api/v1/organizations/current"
PAGES = ("/", "/health", "/openapi.yaml", "/docs")
ORIGIN = "http://localhost:5173"
PREFLIGHT = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization"}


@dataclass
class Sandbox:
    """A running sandbox: its variables, what it printed before the first request, and the file of its stderr."""

    variables: dict[str, str]
    printed: str
    errors: Path

    def send(self, method: str, path: str, key: str = "", body: object = None, **headers: str) -> httpx.Response:
        """Send a request."""
        if key:
            headers["Authorization"] = f"Bearer {key}"
        url = self.variables["CONFORMANCE_BASE_URL"] + path
        return httpx.request(method, url, json=body, headers=headers, trust_env=False)


Serve = Callable[..., "Sandbox"]


@contextmanager
def serving(folder: Path, *options: str, environment: Mapping[str, str] = MappingProxyType({})) -> Iterator[Sandbox]:
    """Run ``conformance serve`` until the end of the ``with``, when it stops as after Ctrl-C."""
    command = [sys.executable, "-u", "-m", "conformance", "serve", "--port", "0", *options]
    errors = folder / "stderr"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, env={**ENVIRONMENT, **environment}
        ) as process,
    ):
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("curl"):
                break
        printed = "".join(lines)
        try:
            yield Sandbox(dict(re.findall(r"^export (\w+)=(\S+)$", printed, re.MULTILINE)), printed, errors)
        finally:
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
    assert (process.returncode, rest) == (0, "Stopped.\n"), errors.read_text()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox without options."""
    with serving(tmp_path_factory.mktemp("plain")) as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("path", "media_type", "part"),
    [
        ("/", "text/html", '<a href="docs">'),
        ("/", "text/html", '<a href="openapi.yaml">'),
        ("/", "text/html", '<a href="health">'),
        ("/health", "application/json", '{"status":"ok"}'),
        ("/openapi.yaml", "application/yaml", "operationId: unarchiveEngagement"),
        ("/docs", "text/html", "<title>Operations</title>"),
    ],
)
def test_a_page_needs_no_key_and_no_other_host(plain: Sandbox, path: str, media_type: str, part: str) -> None:
    """Each page is served, and loads nothing from another host."""
    response = plain.send("GET", path)

    assert response.status_code == 200
    assert response.headers["Content-Type"].partition(";")[0] == media_type
    assert part in response.text
    assert media_type != "text/html" or not re.search(r"""(?:src|href)=["']?(?:https?:|//)""", response.text)


def test_the_served_document_has_the_sandbox_as_its_first_server(plain: Sandbox) -> None:
    """The document is that of ``conformance openapi``, with a server added."""
    served = yaml.safe_load(plain.send("GET", "/openapi.yaml").content)
    printed = CliRunner().invoke(main, ["openapi"])

    assert printed.stdout_bytes == openapi_path().read_bytes()
    assert served.pop("servers")[0]["url"] == "/"
    document = yaml.safe_load(printed.stdout_bytes)
    del document["servers"]
    assert served == document


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", PAGES)
def test_the_interface_responds_to_other_methods(plain: Sandbox, method: str, path: str) -> None:
    """Only reads of a page are beside the interface."""
    response = plain.send(method, path)

    assert response.status_code == 401
    assert response.json()["error"]["code"] == "UNAUTHORIZED"
    assert "X-RateLimit-Limit" in response.headers


@pytest.mark.parametrize("path", [f"{CURRENT}/docs", "/api/v1/health", "/docs/", "/docs/nothing", "/openapi.yaml/x"])
def test_the_interface_responds_to_other_paths(plain: Sandbox, path: str) -> None:
    """A path that is no page is the interface's, which knows none of these."""
    assert plain.send("GET", path).status_code == 401
    assert plain.send("GET", path, plain.variables["CONFORMANCE_API_KEY"]).json()["error"]["code"] == "NOT_FOUND"


def test_without_options_there_is_no_log_and_no_page_of_another_origin(plain: Sandbox) -> None:
    """A request of another origin gets the interface's response, and stderr stays empty."""
    preflight = plain.send("OPTIONS", CURRENT, Origin=ORIGIN, **PREFLIGHT)
    request = plain.send("GET", CURRENT, plain.variables["CONFORMANCE_API_KEY"], Origin=ORIGIN)

    assert (preflight.status_code, request.status_code) == (401, 200)
    assert not [name for name in (*preflight.headers, *request.headers) if name.lower().startswith("access-control")]
    assert plain.errors.read_text() == ""


def test_a_chosen_key_is_a_full_key_and_not_printed(tmp_path: Path) -> None:
    """The key of the environment may do everything, and its variable is named without a value."""
    with serving(tmp_path, environment={"CONFORMANCE_API_KEY": KEY}) as sandbox:
        created = sandbox.send("POST", "/api/v1/engagements", KEY, {"name": "mine"}).json()
        deleted = sandbox.send("DELETE", f"/api/v1/engagements/{created['data']['id']}", KEY)
        read = sandbox.send("GET", CURRENT, KEY)

    assert (deleted.status_code, read.status_code) == (200, 200)
    assert "CONFORMANCE_API_KEY: the key that you chose" in sandbox.printed
    assert "CONFORMANCE_API_KEY" not in sandbox.variables
    assert KEY not in sandbox.printed + sandbox.errors.read_text()


def test_a_key_on_the_command_line_is_warned_of(tmp_path: Path) -> None:
    """The key works; stderr names the variable that hides it from other users."""
    with serving(tmp_path, "--api-key", KEY) as sandbox:
        status = sandbox.send("GET", CURRENT, KEY).status_code

    assert status == 200
    assert "$CONFORMANCE_API_KEY is safer" in sandbox.errors.read_text()
    assert KEY not in sandbox.printed + sandbox.errors.read_text()


def test_keys_last_with_the_database(tmp_path: Path) -> None:
    """A second start prints the keys of the first; a key that it printed once is not printed if it is chosen."""
    database = str(tmp_path / "sandbox.db")
    with serving(tmp_path, "--database", database) as sandbox:
        first = sandbox.variables
    with serving(tmp_path, "--database", database) as sandbox:
        second = sandbox.variables
    scoped = first["KEY_ENGAGEMENTS_READ"]
    with serving(tmp_path, "--database", database, environment={"CONFORMANCE_API_KEY": scoped}) as sandbox:
        status = sandbox.send("GET", CURRENT, scoped).status_code

    assert first | {"CONFORMANCE_BASE_URL": ""} == second | {
        "CONFORMANCE_BASE_URL": "", "CONFORMANCE_SANDBOX_URL": first["CONFORMANCE_SANDBOX_URL"],
    }  # fmt: skip
    assert len({value for name, value in first.items() if "KEY" in name}) == 7
    assert status == 200
    assert scoped not in sandbox.printed


@pytest.mark.parametrize(
    ("chosen", "origin", "allowed"),
    [
        (["--cors"], ORIGIN, "*"),
        (["--cors", "*"], ORIGIN, "*"),
        (["--cors", ORIGIN], ORIGIN, ORIGIN),
        (["--cors", ORIGIN], "http://elsewhere.test", None),
    ],
)
def test_cors_lets_pages_of_an_origin_in(tmp_path: Path, chosen: list[str], origin: str, allowed: str | None) -> None:
    """A preflight needs no key, and a page may read the limits; another origin gets no permission."""
    with serving(tmp_path, *chosen) as sandbox:
        preflight = sandbox.send("OPTIONS", CURRENT, Origin=origin, **PREFLIGHT)
        request = sandbox.send("GET", CURRENT, sandbox.variables["CONFORMANCE_API_KEY"], Origin=origin)
        without = sandbox.send("GET", CURRENT, sandbox.variables["CONFORMANCE_API_KEY"])

    assert preflight.status_code == (200 if allowed else 400)
    assert preflight.headers.get("Access-Control-Allow-Origin") == allowed
    assert request.headers.get("Access-Control-Allow-Origin") == allowed
    assert request.status_code == without.status_code == 200
    assert request.json() == without.json()
    if allowed:
        assert "PATCH" in preflight.headers["Access-Control-Allow-Methods"]
        assert "authorization" in preflight.headers["Access-Control-Allow-Headers"].lower()
        assert "X-RateLimit-Remaining" in request.headers["Access-Control-Expose-Headers"]


def test_each_request_is_logged_on_a_line(tmp_path: Path) -> None:
    """A line has method, path, status and milliseconds; no query, header or secret."""
    with serving(tmp_path, "--log", environment={"CONFORMANCE_API_KEY": KEY}) as sandbox:
        issued, token = sandbox.variables["KEY_OTHER"], sandbox.variables["CONFORMANCE_SANDBOX_TOKEN"]
        for method, path in (
            ("GET", "/health"),
            ("GET", f"{CURRENT}?token={KEY}"),
            ("DELETE", f"/api/v1/engagements/{KEY.replace('/', '%2F')}"),
            ("GET", f"/api/v1/engagements/x{issued}"),
            ("GET", f"/api/v1/{token}"),
            ("GET", "/invitations/a-secret-token"),
            ("GET", "/a%20b%0Ac%1B"),
        ):
            sandbox.send(method, path, KEY, X_Header="a-header")

    text = sandbox.errors.read_text()
    lines = text.splitlines()
    assert all(re.fullmatch(r"\S+ \S+ \d{3} \d+ ms", line) for line in lines)
    assert [line.rsplit(" ", 2)[0] for line in lines] == [
        "GET /health 200",
        f"GET {CURRENT} 200",
        "DELETE /api/v1/engagements/<secret> 404",
        "GET /api/v1/engagements/x<secret> 404",
        "GET /api/v1/<secret> 404",
        "GET /invitations/<secret> 404",
        "GET /a%20b%0Ac%1B 404",
    ]
    hidden = (KEY, "of+my", issued, token, "a-secret-token", "a-header")
    assert not [secret for secret in hidden if secret in text]


def test_options_of_the_sandbox_leave_faults_and_latitudes_alone(tmp_path: Path) -> None:
    """With pages, a log and cross-origin headers, the service still makes its choice and its fault."""
    chosen = ("--latitude", "create_status=202", "--fault", "total-pages-too-many")
    with serving(tmp_path, "--cors", "--log", *chosen, environment={"CONFORMANCE_API_KEY": KEY}) as sandbox:
        created = sandbox.send("POST", "/api/v1/engagements", KEY, body={"name": "one"}, Origin=ORIGIN)
        listed = sandbox.send("GET", "/api/v1/engagements?perPage=1", KEY, Origin=ORIGIN).json()

    assert created.status_code == 202
    assert (listed["meta"]["total"], listed["meta"]["totalPages"]) == (1, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--api-key", ""], "visible ASCII"),
        (["--api-key", "secret key"], "visible ASCII"),
        (["--api-key", "secret\n"], "visible ASCII"),
        (["--api-key", "sécret"], "visible ASCII"),
        (["--cors", "localhost"], "scheme://host"),
        (["--cors", "http://localhost/secret"], "scheme://host"),
        (["--cors", "http://secret@localhost"], "scheme://host"),
        (["--cors", "http://*.example.com"], "scheme://host"),
    ],
)
def test_an_invalid_key_or_origin_is_refused(options: list[str], message: str) -> None:
    """A usage error says what is allowed, and does not repeat the value."""
    ended = CliRunner().invoke(main, ["serve", "--port", "0", *options])

    assert ended.exit_code == 2
    assert message in ended.output
    assert "secret" not in ended.output


def test_the_help_warns_of_keys_on_the_command_line() -> None:
    """The help names the list of processes and the variable."""
    text = " ".join(CliRunner().invoke(main, ["serve", "--help"]).output.split())

    assert "Prefer $CONFORMANCE_API_KEY: other users can read command lines, in the list of processes." in text
