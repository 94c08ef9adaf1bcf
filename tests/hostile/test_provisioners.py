"""Misbehaving provisioners: the run continues without them, ends in time, and leaves no process."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.command_line import Ended, no_process_stays, start, target_file
from tests.fakes.target import hostile
from tests.sudden.conftest import until

PATIENCE: Final = 240.0
MEGABYTES: Final = 600
UNLOCKED: Final = ("get-organization-*", "isolation-*", "scope-allows-get-organization")

_RESPONSES: Final = """
import json, os, sys, time
def answers(**more):
    for line in sys.stdin:
        call = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": call["id"], "error": {"code": -32601, "message": "no"}} | more
        print(json.dumps(answer), flush=True)
"""

MISSING: Final = "# missing"
"""The text in place of a program that does not exist."""

PROGRAMS: Final[dict[str, tuple[str, str]]] = {
    "is missing": (MISSING, "could not be started: No such file or directory"),
    "says nothing": ("sys.stdin.read()", "did not respond"),
    "never reads and never ends": ("while True: time.sleep(60)", "did not respond"),
    "ends at once": ("sys.exit(7)", "ended by itself with status 7"),
    "dies of a signal": ("sys.stdin.readline(); os.kill(os.getpid(), 11)", "ended by a signal"),
    "writes garbage": ("print('hello', flush=True); sys.stdin.read()", "no JSON-RPC 2.0 response"),
    "floods stdout with a line that never ends": (
        "\nwhile True: sys.stdout.write('x' * 65536)", "a line of more than 1 MiB",
    ),
    "floods stdout with lines": ("\nwhile True: print('{}')", "no JSON-RPC 2.0 response"),
    "floods stderr with lines": ("\nwhile True: sys.stderr.write('all is well\\n' * 1000)", "did not respond"),
    "floods stderr with a line that never ends": ("\nwhile True: sys.stderr.write('x' * 65536)", "did not respond"),
    "drips an answer": (
        "sys.stdin.readline()\nwhile True: sys.stdout.write(' '); sys.stdout.flush(); time.sleep(0.05)",
        "did not respond",
    ),
    "answers another question": ("answers(id=99)", "an id that no request has"),
    "answers with a bomb of brackets": (
        "sys.stdin.readline(); print('[' * 10**6, flush=True); sys.stdin.read()", "no JSON-RPC 2.0 response",
    ),
    "goes on after its stdin is closed": ("answers()\nwhile True: time.sleep(60)", "create_organization"),
    "shuts its ears to SIGTERM": (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); answers()\nwhile True: time.sleep(60)",
        "create_organization",
    ),
    "leaves a child behind": ("\nif os.fork() == 0:\n    time.sleep(600)\nanswers()", "create_organization"),
    "leaves a child behind that floods stderr": (
        "\nif os.fork() == 0:\n    while True: sys.stderr.write('all is well\\n' * 99)\nanswers()",
        "create_organization",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    """No process of a run outlives it."""
    with no_process_stays():
        yield


def _run(folder: Path, program: str, *words: str, timeout: float = 1.0, patience: float = 2.0) -> Ended:
    path = folder / "provision.py"  # strays are recognized by its name
    path.write_text(_RESPONSES + program, "utf-8")
    command = json.dumps(["/no/such/program"] if program == MISSING else [sys.executable, str(path), "conformance"])
    with hostile() as target:
        before = target.inventory()
        lines = [f"provisioner: {{command: {command}, timeout: {timeout}}}"]
        file = target_file(folder, target.url, *lines, timeout=10, patience=patience)
        started = start(
            folder / "report", "run", "--target", str(file), "--effort", "quick", *words,
            CONFORMANCE_API_KEY=target.api_key,
        )  # fmt: skip
        ended = started.wait(PATIENCE)
        assert target.inventory() == before
    return ended


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_goes_on_without_its_provisioner(name: str, tmp_path: Path) -> None:
    """Checks that need the provisioner are untested with the reason in all outputs; the others are judged.

    A provisioner that never responded makes the exit status 3.
    """
    program, reason = PROGRAMS[name]
    is_silent = "answers(" not in program
    words = [word for pattern in UNLOCKED for word in ("--only", pattern)]

    ended = _run(tmp_path, program, *words, timeout=1 if reason == "did not respond" else 60)

    assert ended.status == (3 if is_silent else 0), ended.messages()
    assert ended.outcomes("cantTell") == []
    if is_silent:
        assert ended.err.splitlines()[-1].startswith("Exit 3: The provisioner never responded: ")
        assert reason in ended.err.splitlines()[-1]
        assert reason in (ended.folder / "summary.md").read_text().replace("\\", "")
    assert "Traceback" not in ended.out + ended.err
    assert not (ended.folder / "errors.log").exists()
    assert ended.megabytes <= MEGABYTES
    assert "get-organization-succeeds" in ended.outcomes("passed")
    untested = [entry for entry in ended.report["requirements"] if entry["id"] == "isolation-get-engagement"]
    assert [entry["outcome"] for entry in untested] == ["untested"]
    assert reason in untested[0]["reason"]
    log = ended.folder / "provisioner.log"
    assert not log.exists() or log.stat().st_size < 2**19


STALLING: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "says nothing": ("sys.stdin.read()", ()),
    "drips": ("while True: sys.stdout.write(' '); sys.stdout.flush(); time.sleep(0.05)", ()),
    "has no mail": (
        "answers(error=None, result={'messages': []})",
        ("--disposable", "--only", "invite-*", "--only", "*mail*"),
    ),
}


@pytest.mark.parametrize("name", STALLING)
def test_the_time_for_a_run_bounds_its_provisioner(name: str, tmp_path: Path) -> None:
    """A run that is over does not wait for responses of the provisioner or e-mails, whatever the target file allows."""
    program, words = STALLING[name]

    ended = _run(tmp_path, program, "--max-seconds", "8", *words, timeout=3600, patience=3600)

    assert ended.status in {0, 3}, ended.messages()
    assert "Traceback" not in ended.out + ended.err
    assert ended.report["run"]["seconds"] < PATIENCE / 2


def test_a_hanging_provisioner_is_waited_for_twice(tmp_path: Path) -> None:
    """After two timeouts, the provisioner gets no more requests of any class."""
    ended = _run(
        tmp_path, "\nfor line in sys.stdin: sys.stderr.write('asked\\n'); sys.stderr.flush()", "--disposable", timeout=1
    )

    assert ended.status == 3, ended.messages()
    assert (ended.folder / "provisioner.log").read_text().count("asked") == 2
    assert ended.err.splitlines()[-1].endswith("for the second time; no further call was sent.")
    assert ended.outcomes("cantTell") == []


def test_a_second_signal_ends_a_hanging_provisioner(tmp_path: Path) -> None:
    """A run that ends at once kills the program in the middle of a call."""
    called, path = tmp_path / "called", tmp_path / "provision.py"
    path.write_text(f"import sys, time\nsys.stdin.readline()\nopen({str(called)!r}, 'w').close()\ntime.sleep(600)")
    command = json.dumps([sys.executable, str(path), "conformance"])
    with hostile() as target:
        file = target_file(tmp_path, target.url, f"provisioner: {{command: {command}, timeout: 60}}")
        words = ("run", "--target", str(file), "--only", "isolation-*")
        started = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=target.api_key)
        assert until(called.exists)
        for _ in range(2):
            started.process.send_signal(signal.SIGINT)
            time.sleep(0.2)

        assert started.wait(PATIENCE).status == 130


def test_a_line_that_is_no_response_is_quoted_without_keys(tmp_path: Path) -> None:
    """The message quotes a banner, without the part that looks like a key."""
    program = "print('Provisioner ready, token: swordfish key_abcdefgh12345678', flush=True); sys.stdin.read()"
    ended = _run(tmp_path, program, "--only", "isolation")

    assert "no JSON-RPC 2.0 response: Provisioner ready, token <withheld>" in ended.err
    assert "swordfish" not in ended.messages() + json.dumps(ended.report)
    assert "key_abcdefgh12345678" not in ended.messages() + json.dumps(ended.report)
