"""Connection options: headers, timeout, authorities, client certificates and proxies."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.conftest import ENVIRONMENT, KEY
from tests.fakes.proxy import HOST, PASSWORD, USER, proxying
from tests.fakes.tls import certificate

Conformance = Callable[..., Any]

SECRET = "gateway-pass-of-nobody"
SHORT = ("run", "--effort", "quick", "--only", "get-organization-succeeds", "--seed", "1")
CREDENTIALS = f"{USER}:{quote(PASSWORD, safe='')}"
FORMS = (SECRET, PASSWORD, quote(PASSWORD, safe=""), KEY)
ORGANIZATION = {
    "id": "org_1", "name": "Acme", "createdAt": "2026-01-01T00:00:00.000Z", "memberCount": 1, "engagementCount": 0,
}  # fmt: skip


@dataclass
class Upstream:
    """A service and the headers of the requests that it received."""

    port: int
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def upstream(context: ssl.SSLContext | None = None, *, delay: float = 0) -> Iterator[Upstream]:
    """Serve an organization until the end of the ``with``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            service.headers.append(dict(self.headers.items()))
            time.sleep(delay)
            body = json.dumps({"data": ORGANIZATION}).encode()
            self.send_response(200)
            limits = {f"X-RateLimit-{name}": "9000" for name in ("Limit", "Remaining")}
            limits["X-RateLimit-Reset"] = str(int(time.time()) + 60)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **limits}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Ignore broken connections, which refused certificates leave."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    service = Upstream(server.server_port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def context_of(file: Path, clients: Path | None = None) -> ssl.SSLContext:
    """Return a server's TLS context; with clients' authorities it demands a certificate."""
    certificate(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    if clients is not None:
        context.load_verify_locations(clients)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def in_outputs(ended: Any, *texts: str) -> list[str]:
    """Return which texts the outputs of a command contain."""
    files = [path.read_text("utf-8") for path in ended.folder.rglob("*") if path.is_file()]
    everything = "\n".join([ended.out, ended.err, *files])
    return [text for text in texts if text in everything]


@pytest.mark.parametrize(
    ("option", "variable", "line", "used"),
    [
        ("from-option", "from-variable", "from-the-file", "from-option"),
        (None, "from-variable", "from-the-file", "from-variable"),
        (None, None, "from-the-file", "from-the-file"),
    ],
)
def test_an_option_precedes_its_variable_and_that_the_target_file(
    conformance: Conformance, tmp_path: Path, option: str | None, variable: str | None, line: str, used: str
) -> None:
    """Headers of other names stay; names are compared without letter case."""
    file = tmp_path / "target.yaml"
    arguments = [] if option is None else ["--header", f"x-gateway: {option}", "--user-agent", option]
    variables = {"CONFORMANCE_HEADER": f"X-Gateway: {variable}\nX-Two: 2\n", "CONFORMANCE_USER_AGENT": str(variable)}
    variables = variables if variable else {}
    with upstream() as service:
        file.write_text(
            f"base_url: http://127.0.0.1:{service.port}\napi_key: {KEY}\nheaders: {{X-GATEWAY: {line}, X-One: '1'}}\n"
            f"user_agent: {line}\n"
        )
        ended = conformance("doctor", "--target", str(file), *arguments, **variables)

    assert "Reachable: 200" in ended.out, ended.err
    received = {name.lower(): value for name, value in service.headers[0].items()}
    assert (received["x-gateway"], received["user-agent"]) == (used, used)
    assert received["x-one"] == "1"
    assert ("x-two" in received) is (variable is not None)


@pytest.mark.parametrize("source", ["option", "variable", "file"])
def test_the_timeout_bounds_a_request(conformance: Conformance, tmp_path: Path, source: str) -> None:
    """The file's timeout of 0.2 s is replaced by one that suffices, or is the only one."""
    file = tmp_path / "target.yaml"
    arguments = ["--timeout", "20"] if source == "option" else []
    variables = {"CONFORMANCE_TIMEOUT": {"option": "0.2", "variable": "20"}[source]} if source != "file" else {}
    with upstream(delay=0.6) as service:
        file.write_text(f"base_url: http://127.0.0.1:{service.port}\napi_key: {KEY}\ntimeout: 0.2\n")
        ended = conformance("doctor", "--target", str(file), *arguments, **variables)

    assert ("Reachable: 200" in ended.out) is (source != "file"), ended.err
    assert source != "file" or "no complete response came within 0.2 s" in ended.err


def _ca_option(file: Path) -> tuple[list[str], dict[str, str], str]:
    return ["--ca-file", str(file)], {}, ""


def _ca_variable(file: Path) -> tuple[list[str], dict[str, str], str]:
    return [], {"CONFORMANCE_CA_FILE": str(file)}, ""


def _ca_line(file: Path) -> tuple[list[str], dict[str, str], str]:
    return [], {}, f"tls: {{ca_file: {file}}}"


def _ca_of_the_system(file: Path) -> tuple[list[str], dict[str, str], str]:
    return [], {"SSL_CERT_FILE": str(file)}, ""


def _no_ca(_: Path) -> tuple[list[str], dict[str, str], str]:
    return [], {}, ""


@pytest.mark.parametrize("trusting", [_ca_option, _ca_variable, _ca_line, _ca_of_the_system, _no_ca])
def test_authorities_are_those_given_or_the_system_s(
    conformance: Conformance, tmp_path: Path, trusting: Callable[[Path], tuple[list[str], dict[str, str], str]]
) -> None:
    """The system's may be named by OpenSSL's variable; any other certificate is refused."""
    server, file = tmp_path / "server.pem", tmp_path / "target.yaml"
    arguments, variables, line = trusting(server)
    with upstream(context_of(server)) as service:
        file.write_text(f"base_url: https://127.0.0.1:{service.port}\napi_key: {KEY}\n{line}\n")
        ended = conformance("doctor", "--target", str(file), *arguments, **variables)

    assert ("Reachable: 200" in ended.out) is (trusting is not _no_ca), ended.err
    assert trusting is not _no_ca or "the TLS certificate is not accepted" in ended.err


@pytest.mark.parametrize("source", ["options", "variables", "file", "none"])
def test_a_client_certificate_is_shown(conformance: Conformance, tmp_path: Path, source: str) -> None:
    """Without it, the service ends the connection."""
    client, key = tmp_path / "client.pem", tmp_path / "client.key"
    certificate(client)
    key.write_bytes(client.read_bytes())
    ca, file = tmp_path / "server.pem", tmp_path / "target.yaml"
    arguments = ["--cert", str(client), "--cert-key", str(key)] if source == "options" else []
    variables = {"CONFORMANCE_CERT": str(client), "CONFORMANCE_CERT_KEY": str(key)} if source == "variables" else {}
    line = ", cert: client.pem, key: client.key" if source == "file" else ""
    with upstream(context_of(ca, client)) as service:
        file.write_text(f"base_url: https://127.0.0.1:{service.port}\napi_key: {KEY}\ntls: {{ca_file: {ca}{line}}}\n")
        ended = conformance("doctor", "--target", str(file), *arguments, **variables)

    assert ended.status == (3 if source == "none" else 0), ended.out + ended.err
    assert len(service.headers) == 0 if source == "none" else service.headers


@pytest.mark.parametrize("password", [False, True])
@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
def test_requests_go_through_the_proxy(
    conformance: Conformance, tmp_path: Path, scheme: str, *, secure: bool, password: bool
) -> None:
    """The proxy resolves the host; it gets plain requests whole, and tunnels for TLS."""
    server = tmp_path / "server.pem"
    context = context_of(server)
    with ExitStack() as stack:
        service = stack.enter_context(upstream(context if secure else None))
        proxy = stack.enter_context(proxying(needs_password=password, context=context if scheme == "https" else None))
        host = f"127.0.0.1:{service.port}" if secure else f"{HOST}:{service.port}"
        url = f"{scheme}://{CREDENTIALS + '@' if password else ''}127.0.0.1:{proxy.port}"
        ended = conformance(
            "doctor", "--base-url", f"http{'s' * secure}://{host}", "--ca-file", str(server),
            CONFORMANCE_API_KEY=KEY, CONFORMANCE_PROXY=url,
        )  # fmt: skip

    assert "Reachable: 200" in ended.out, ended.err
    begins = "SOCKS " if scheme == "socks5" else "CONNECT " if secure else "GET http://"
    assert {line.startswith(f"{begins}{host}") for line in proxy.asked} == {True}
    assert all("Proxy-Authorization" not in headers for headers in service.headers)
    assert in_outputs(ended, *FORMS) == []


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("http", "the proxy refuses the connection with 407 and needs a user and a password"),
        ("socks5", "the proxy accepts no credentials of this kind"),
        ("closed", "no connection to the proxy could be made"),
    ],
)
@pytest.mark.parametrize("secure", [False, True])
def test_a_proxy_that_makes_no_connection_is_named(
    conformance: Conformance, scheme: str, message: str, *, secure: bool
) -> None:
    """The service gets nothing, and the run ends with 3."""
    with upstream() as service, proxying(needs_password=True) as proxy:
        port = 1 if scheme == "closed" else proxy.port
        url = f"{'http' if scheme == 'closed' else scheme}://127.0.0.1:{port}"
        address = f"http{'s' * secure}://127.0.0.1:{service.port}"
        ended = conformance("doctor", "--base-url", address, "--proxy", url, CONFORMANCE_API_KEY=KEY)

    assert ended.status == 3
    assert ended.err.splitlines()[-1].endswith(f": {message}.")
    assert service.headers == []


@pytest.mark.parametrize(
    ("variables", "arguments", "named"),
    [
        ({"HTTP_PROXY": "http://127.0.0.1:1"}, (), "HTTP_PROXY is set, but not used"),
        ({"all_proxy": "http://127.0.0.1:1"}, (), "all_proxy is set, but not used"),
        ({"HTTPS_PROXY": "http://127.0.0.1:1"}, (), None),
        ({"HTTP_PROXY": ""}, (), None),
        ({"HTTP_PROXY": "http://127.0.0.1:1"}, ("--proxy",), None),
    ],
)
def test_a_proxy_of_the_environment_is_not_used_and_the_output_says_so(
    conformance: Conformance, variables: dict[str, str], arguments: tuple[str, ...], named: str | None
) -> None:
    """A sentence names the variable that other programs would use for the address."""
    with upstream() as service, proxying() as proxy:
        given = [word for option in arguments for word in (option, f"http://127.0.0.1:{proxy.port}")]
        address = f"http://127.0.0.1:{service.port}"
        ended = conformance("doctor", "--base-url", address, *given, CONFORMANCE_API_KEY=KEY, **variables)

    assert "Reachable: 200" in ended.out
    assert ("is set, but not used" in ended.out) is (named is not None)
    assert (named or "") in ended.out


def test_secrets_of_the_command_line_are_in_no_output(conformance: Conformance, tmp_path: Path) -> None:
    """A header and the user info of a proxy are hidden in the report and in the command that repeats the run."""
    with upstream() as service, proxying(needs_password=True) as proxy:
        given = [
            "--header",
            f"X-Gateway: {SECRET}",
            "--header=X-Other: pw",
            "--base-url",
            f"http://127.0.0.1:{service.port}",
        ]
        ended = conformance(
            *SHORT, *given, "--proxy", f"http://{CREDENTIALS}@127.0.0.1:{proxy.port}", "--timeout", "7",
            CONFORMANCE_API_KEY=KEY,
        )  # fmt: skip

    assert ended.status == 0, ended.err
    assert in_outputs(ended, *FORMS) == []
    assert ended.report["run"]["command"][7:] == [
        "--header", "<secret>", "--header=<secret>", "--base-url", f"http://127.0.0.1:{service.port}",
        "--proxy", f"http://<secret>@127.0.0.1:{proxy.port}", "--timeout", "7", "--report", str(ended.folder),
    ]  # fmt: skip
    assert "Warning: other users of this machine can read --header; $CONFORMANCE_HEADER is safer." in ended.err
    assert "Warning: other users of this machine can read --proxy; $CONFORMANCE_PROXY is safer." in ended.err
    assert {headers["X-Gateway"] for headers in service.headers} == {SECRET}


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        (["--header", SECRET], {}, "--header must have the form 'NAME: VALUE'"),
        (["--header", f"Authorization: {SECRET}"], {}, "--header is a header that the suite sets itself"),
        ([], {"CONFORMANCE_HEADER": f"X-Gateway: {SECRET}\u00e9"}, "CONFORMANCE_HEADER must be a header value of"),
        (["--timeout", "0"], {}, "--timeout must be a number of seconds above 0"),
        ([], {"CONFORMANCE_TIMEOUT": "soon"}, "CONFORMANCE_TIMEOUT must be a number of seconds above 0"),
        (["--ca-file", "none.pem"], {}, "--ca-file must be the path of a file, and there is no such file"),
        (["--ca-file", "noise"], {}, "ca_file: noise holds no certificates that can be used"),
        (["--cert", "locked.pem"], {}, "cert: locked.pem is no certificate with its unencrypted key"),
        (["--cert-key", "noise"], {}, "A client certificate is needed beside its key"),
        (
            ["--proxy", f"ftp://{CREDENTIALS}@x"],
            {},
            "--proxy must be a URL that begins with http:// or https:// or socks5://",
        ),
        ([], {"CONFORMANCE_PROXY": f"http://{CREDENTIALS}@x/y"}, "CONFORMANCE_PROXY must end after the host and port"),
    ],
)
def test_a_value_that_cannot_be_used_is_a_usage_error(
    conformance: Conformance, tmp_path: Path, arguments: list[str], variables: dict[str, str], message: str
) -> None:
    """A sentence names the option or the variable and shows no secret."""
    (tmp_path / "noise").write_text("no certificate\n")
    certificate(tmp_path / "locked.pem", b"a-password")

    ended = conformance(
        *SHORT, "--base-url", "https://127.0.0.1:1", *arguments, **{"CONFORMANCE_API_KEY": KEY} | variables
    )

    assert ended.status == 2
    assert ended.err.splitlines()[-1].startswith(f"Exit 2: {message}")
    assert in_outputs(ended, *FORMS) == []


@pytest.mark.parametrize("name", ["HEADER", "USER_AGENT", "TIMEOUT", "RATE", "CA_FILE", "CERT", "CERT_KEY", "PROXY"])
def test_a_connection_option_shows_that_a_service_was_meant(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """As an option, as a variable, and as a variable for pytest; --embedded excludes the option."""
    monkeypatch.delitem(ENVIRONMENT, "CI", raising=False)
    option = f"--{name.lower().replace('_', '-')}"
    checks = "conformance.checks.test_every_response"
    pytest_run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", checks],
        check=False, capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT | {f"CONFORMANCE_{name}": "5"},
        timeout=60,
    )  # fmt: skip

    assert f"although {option} is set" in conformance(*SHORT, option, "5").err
    assert f"although $CONFORMANCE_{name} is set" in conformance(*SHORT, **{f"CONFORMANCE_{name}": "5"}).err
    assert f"although $CONFORMANCE_{name} is set" in pytest_run.stderr
    assert f"--embedded and {option} exclude each other." in conformance(*SHORT, "--embedded", option, "5").err


def test_cleanup_takes_the_connection_options(conformance: Conformance, tmp_path: Path) -> None:
    """A placeholder that a run prints in place of a secret is refused."""
    ended = conformance(
        "cleanup", str(tmp_path), "--base-url", "http://127.0.0.1:1", "--header", "X-Gateway: <header:X-Gateway>",
        CONFORMANCE_API_KEY=KEY,
    )  # fmt: skip

    assert ended.status == 2
    assert ended.err.splitlines()[-1].startswith("--header is a placeholder in angle brackets")


def test_reproductions_use_the_connection(conformance: Conformance, tmp_path: Path) -> None:
    """Script and pytest file name authorities, client certificate and proxy by variables, and reach the service."""
    client, ca = tmp_path / "client.pem", tmp_path / "server.pem"
    certificate(client)
    with ExitStack() as stack:
        service = stack.enter_context(upstream(context_of(ca, client)))
        proxy = stack.enter_context(proxying(needs_password=True))
        used = {
            "CONFORMANCE_CA_FILE": str(ca),
            "CONFORMANCE_CERT": str(client),
            "CONFORMANCE_PROXY": f"http://{CREDENTIALS}@127.0.0.1:{proxy.port}",
            "CONFORMANCE_API_KEY": KEY,
        }
        only = ("--only", "get-organization-fields")
        ended = conformance("run", "--base-url", f"https://127.0.0.1:{service.port}", "--read-only", *only, **used)
        folder, asked = ended.folder / "reproduce", len(service.headers)
        environment = {"PATH": ENVIRONMENT["PATH"], **used}
        command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, str(folder)]
        script, test = (
            subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            for words in (["sh", str(folder / "get-organization-fields.sh")], command)
        )

    assert (ended.status, script.returncode, test.returncode) == (1, 0, 1), ended.err + script.stderr + test.stdout
    assert "HTTP/1.1 200" in script.stdout
    assert "In the run: /data/slug is not as promised" in test.stdout
    assert len(service.headers) > asked + 1
    assert in_outputs(ended, *FORMS, str(ca), str(client)) == []
