"""Secrets of every kind and source, which no output of a run may show."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from tests.fakes.command_line import Ended, start
from tests.fakes.target import Reply, Turn, hostile
from tests.hostile.cases import changed

PATIENCE: Final = 200.0
HEADER: Final = "gateway-secret+/=&<value>"
PASSWORD: Final = "pass-word-in-the-url"
PROVISIONER: Final = """
import json, os, sys
def kept():
    return "nothing" if "CONFORMANCE_API_KEY" in os.environ else "the suite's key"
for number, line in enumerate(sys.stdin):
    call = json.loads(line)
    key = "provisioned-key-%d-a1b2c3d4e5" % number
    sys.stderr.write("I have made %s for %s, and %s was kept away from me\\n" % (key, call["method"], kept()))
    sys.stderr.flush()
    known = call["method"] in ("create_key", "create_organization", "create_throttled_key", "create_member")
    answer = {"result": {"key": key, "userId": "u", "email": "u@example.com"}} if known else {
        "error": {"code": -32000, "message": "not today"}}
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer}), flush=True)
"""


def _reflecting(turn: Turn, reply: Reply) -> Reply:
    """Show the request's headers in every response, in several encodings."""
    value = json.loads(reply.body) if reply.body else {}
    seen = [turn.headers.get("Authorization", ""), turn.headers.get("X-Gateway", "")]
    value["seen"] = [form for text in seen for form in _forms(text)]
    return Reply(reply.status, reply.headers, json.dumps(value).encode()).with_headers(X_Seen="; ".join(seen))


def _forms(text: str) -> list[str]:
    raw = text.encode()
    swapped = quote(text, safe="").swapcase() if text.isupper() else quote(text, safe="").replace("%2B", "%2b")
    escaped = "".join(f"\\u{ord(character):04x}" for character in text)
    return [
        text, quote(text), swapped, quote(quote(text, safe=""), safe=""), raw.hex(), raw.hex().upper(),
        html.escape(text), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(), escaped,
        json.dumps(text)[1:-1],
    ]  # fmt: skip


def _files(ended: Ended) -> dict[str, str]:
    files = {str(path): path.read_text("utf-8") for path in ended.folder.rglob("*") if path.is_file()}
    return files | {"stdout": ended.out, "stderr": ended.err}


def test_no_secret_is_in_any_output(tmp_path: Path) -> None:
    """No output shows keys of any source, header values or the password of a URL."""
    program = tmp_path / "provision.py"
    program.write_text(PROVISIONER)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with hostile(changed(_reflecting)) as target:
        secrets = {
            target.api_key, "scoped-key-in-the-file-1234", target.honest.bootstrap.other_organization,
            "member-key-in-the-file-5678", HEADER, PASSWORD,
            # The parts of the key that nearly valid keys would show.
            target.api_key[8:-1], target.api_key[8:].swapcase(),
        }  # fmt: skip
        address = target.url.replace("http://", f"http://somebody:{PASSWORD}@")
        lines: dict[str, Any] = {
            "base_url": address,
            "api_key": "${CONFORMANCE_API_KEY}",
            "disposable": True,
            "patience": 1,
            "keys": {"organizations:read": "scoped-key-in-the-file-1234", "other_organization": "${OTHER}"},
            "members": [{"user_id": "nobody", "key": "member-key-in-the-file-5678"}],
            "headers": {"X-Gateway": HEADER},
            "provisioner": {"command": [sys.executable, str(program)]},
        }
        path = tmp_path / "target.yaml"
        path.write_text(json.dumps(lines))
        path.chmod(0o600)
        words = ("run", "--target", str(path), "--effort", "quick", "--events", "-")
        keys = {"CONFORMANCE_API_KEY": target.api_key, "OTHER": target.honest.bootstrap.other_organization}
        keys["TMPDIR"] = str(scratch)
        ended = start(tmp_path / "report", *words, **keys).wait(PATIENCE)

    assert ended.status in {0, 1}, ended.messages()
    texts = _files(ended)
    assert len(texts) > 8
    told = [
        (name, form) for secret in secrets for form in _forms(secret) for name, text in texts.items() if form in text
    ]
    assert told == []
    assert not [name for name, text in texts.items() if "a1b2c3d4e5" in text]
    assert any("<api_key>" in text for text in texts.values())
    log = next(text for name, text in texts.items() if name.endswith("provisioner.log"))
    assert "I have made <" in log
    assert "and nothing was kept away" not in log
    kept_elsewhere = [path for path in scratch.rglob("*") if path.is_file()]
    assert [path for path in kept_elsewhere if any(secret.encode() in path.read_bytes() for secret in secrets)] == []


@pytest.mark.parametrize(
    "key",
    ["a", "k7Q+", "admin", "active", "conformance", "k+/=&<>\"'%20\\u0041", "<script>alert(1)</script>", "1234567890"],
)
def test_an_unusual_key_is_redacted_and_gives_the_same_verdict(key: str, tmp_path: Path) -> None:
    """Unusual keys give the same verdict and a complete report without reflected headers."""

    async def with_unusual_key(turn: Turn) -> None:
        given = turn.headers.get("Authorization")
        if given == f"Bearer {key}":
            turn.headers["Authorization"] = f"Bearer {turn.target.api_key}"
        reply = await turn.honest()
        turn.headers |= {"Authorization": given} if given is not None else {}
        await turn.send(_reflecting(turn, reply))

    with hostile(with_unusual_key) as target:
        words = ["run", "--base-url", target.url, "--effort", "quick"]
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=key).wait(PATIENCE)

    assert ended.status == 0, ended.messages()
    assert ended.report["verdict"] == "conformant"
    weak = len(key) < 6 or key.isalpha() or key.isdigit() or "script" in key
    assert weak == any("<api_key>" in line for line in ended.report["run"]["warnings"])
    shown = [f"Bearer {key}"] if weak else [form for text in (key, f"Bearer {key}") for form in _forms(text)]
    ends = r"(?![0-9A-Za-z])"
    assert [
        (name, form)
        for form in shown
        for name, text in _files(ended).items()
        if re.search(re.escape(form) + ends, text)
    ] == []


def test_a_placeholder_is_no_key(tmp_path: Path) -> None:
    """A placeholder as the key is reported before any request."""
    words = ("run", "--base-url", "http://127.0.0.1:9", "--effort", "quick")
    ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY="<api_key>").wait(PATIENCE)

    assert ended.status == 2
    assert "api_key is a placeholder in angle brackets: put the real value in its place." in ended.err


@pytest.mark.parametrize(
    "value",
    ["100000", "page=1", "perPage=100", "http://127.0.0.1", "127.0.0.1", "2026-11-25", "HTTP/1.1", "utf-8", "/api/v1"],
)
def test_a_header_that_outputs_say_anyway_stops_no_report(value: str, tmp_path: Path) -> None:
    """The report is complete, names the value that it cannot hide, and can be re-evaluated."""
    with hostile() as target:
        path = tmp_path / "target.yaml"
        path.write_text(json.dumps({"base_url": target.url, "api_key": target.api_key, "headers": {"X-Gate": value}}))
        path.chmod(0o600)
        words = ("run", "--target", str(path), "--effort", "quick", "--only", "*archive*", "--only", "list-members-*")
        ended = start(tmp_path / "report", *words).wait(PATIENCE)

    assert ended.status == 0, ended.messages()
    assert [line for line in ended.report["run"]["warnings"] if "<header:X-Gate>" in line] != []
    again = start(tmp_path / "again", "render", "--rejudge", str(ended.folder)).wait(PATIENCE)
    assert (again.status, again.err) == (0, ""), again.out


def test_bytes_whose_base64_is_the_key_stop_no_report(tmp_path: Path) -> None:
    """Secrets are redacted in binary bodies, too, which a recording stores as base64."""
    key = "Vh7kQ2pLm9Zx4Rt8WcYb3Nf6Gd1JsKu5Ea0HoTi7"

    async def telling(turn: Turn) -> None:
        if turn.headers.get("Authorization") == f"Bearer {key}":
            turn.headers["Authorization"] = f"Bearer {turn.target.api_key}"
        reply = await turn.honest()
        if "/members" in turn.path:
            reply = Reply(reply.status, reply.headers, base64.b64decode(key))
        await turn.send(reply)

    with hostile(telling) as target:
        words = ("run", "--base-url", target.url, "--effort", "quick")
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=key).wait(PATIENCE)

    assert ended.status == 1, ended.messages()
    assert [name for name, text in _files(ended).items() if key in text] == []
    assert "a secret was in it" in (ended.folder / "exchanges.har").read_text("utf-8")


@pytest.mark.parametrize("on_the_command_line", [False, True])
def test_other_users_see_no_key_of_the_environment(on_the_command_line: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a test parameter
    """Only --api-key shows the key in the list of processes, with a warning."""
    with hostile() as target:
        words = ["run", "--base-url", target.url, "--effort", "quick", "--only", "get-organization-*"]
        words += ["--api-key", target.api_key] if on_the_command_line else []
        environment = {} if on_the_command_line else {"CONFORMANCE_API_KEY": target.api_key}
        started = start(tmp_path / "report", *words, **environment)
        lines: list[str] = []
        while started.process.poll() is None and len(lines) < 20:
            lines.append(Path(f"/proc/{started.process.pid}/cmdline").read_text())
            time.sleep(0.05)
        ended = started.wait(PATIENCE)

    assert ended.status == 0
    assert any(target.api_key in line for line in lines) == on_the_command_line
    assert ("other users of this machine" in ended.err) == on_the_command_line
    assert target.api_key not in "".join(_files(ended).values())


def test_a_crash_shows_no_key(tmp_path: Path) -> None:
    """Neither the traceback in errors.log nor the output of the run shows a secret."""
    program = (
        "import sys, faulthandler; faulthandler.enable()\n"
        "from conformance.running.run_session import RunSession\n"
        "def fail(self): raise RuntimeError('broken', self.options, self.profile, self.run.wire, self.redactor)\n"
        "RunSession.reach = fail\n"
        "from conformance.cli import main\n"
        "main()\n"
    )
    script = tmp_path / "crash.py"
    script.write_text(program)
    import os  # noqa: PLC0415 - the only use
    import subprocess  # noqa: PLC0415

    with hostile() as target:
        key = target.api_key
        done = subprocess.run(
            [sys.executable, str(script), "run", "--base-url", target.url, "--report", str(tmp_path / "report")],
            check=False, capture_output=True, text=True, timeout=PATIENCE,
            env=os.environ | {"CONFORMANCE_API_KEY": key},
        )  # fmt: skip

    assert done.returncode == 3
    assert "RuntimeError" in (tmp_path / "report" / "errors.log").read_text()
    written = b"".join(path.read_bytes() for path in (tmp_path / "report").rglob("*") if path.is_file())
    assert key not in done.stdout + done.stderr + written.decode("utf-8", "replace")
