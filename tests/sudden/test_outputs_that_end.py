"""Full disk, closed pipe, closed terminal: the run reports it and leaves nothing on the target."""

from __future__ import annotations

import fcntl
import os
import resource
import shlex
import signal
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command_line import ENVIRONMENT, start
from tests.fakes.target import HostileTarget
from tests.sudden.conftest import PATIENCE, until


def _command(target: HostileTarget, folder: Path) -> list[str]:
    words = ["run", "--base-url", target.url, "--effort", "quick", "--only", "*archive*", "--report", str(folder)]
    return [sys.executable, "-m", "conformance", *words]


def _files_of_at_most(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [3_000, 100_000], ids=["the journal is cut off", "the report is cut off"])
def test_a_full_disk_is_reported(size: int, target: HostileTarget, tmp_path: Path) -> None:
    """A full disk gives one message, status 3 and no partial file, and the run undoes its changes."""
    before = target.inventory()
    (tmp_path / "report").mkdir()
    words = ("run", "--base-url", target.url, "--effort", "quick")

    environment = {
        "CONFORMANCE_API_KEY": target.api_key,
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # Python would truncate its own files
    started = start(tmp_path / "report", *words, preexec=_files_of_at_most(size), **environment)
    ended = started.wait(PATIENCE)

    assert ended.status == 3, ended.err
    assert "cannot be written" in ended.err
    assert "The suite itself failed" not in ended.err
    assert "Traceback" not in ended.err
    assert [path.name for path in ended.folder.iterdir()] == ["journal.jsonl"]
    assert target.inventory() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_disk_that_is_really_full(target: HostileTarget, tmp_path: Path) -> None:
    """A file system without space gives the same result."""
    before = target.inventory()
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        command = _command(target, disk / "report")
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=PATIENCE + 30,
            env=ENVIRONMENT | {"CONFORMANCE_API_KEY": target.api_key},
        )  # fmt: skip
        left = [path.name for path in (disk / "report").iterdir()]
    finally:
        subprocess.run(["umount", str(disk)], check=True)

    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    assert "The suite itself failed" not in done.stderr
    assert "Traceback" not in done.stderr
    assert left == ["journal.jsonl"]
    assert target.inventory() == before


def _started(target: HostileTarget, folder: Path, **streams: Any) -> subprocess.Popen[bytes]:
    environment = ENVIRONMENT | {"CONFORMANCE_API_KEY": target.api_key}
    return subprocess.Popen(_command(target, folder), env=environment, stdin=subprocess.DEVNULL, **streams)


def test_a_run_continues_without_stdout(target: HostileTarget, tmp_path: Path) -> None:
    """If stdout closes, as in ``conformance run | head -1``, the run continues silently."""
    before = target.inventory()
    process = _started(target, tmp_path / "report", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()

    _, err = process.communicate(timeout=PATIENCE + 30)

    assert (process.returncode, err) == (0, b"")
    assert (tmp_path / "report" / "report.json").exists()
    assert target.inventory() == before


def test_an_output_that_takes_nothing(target: HostileTarget, tmp_path: Path) -> None:
    """If stdout is a full device, and the user has no home directory, the run continues and writes its report."""
    before = target.inventory()
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "HOME"}
    with Path("/dev/full").open("wb") as full:
        process = subprocess.Popen(
            _command(target, tmp_path / "report"), env=environment | {"CONFORMANCE_API_KEY": target.api_key},
            stdin=subprocess.DEVNULL, stdout=full, stderr=full,
        )  # fmt: skip
        status = process.wait(PATIENCE + 30)

    assert status == 0
    assert (tmp_path / "report" / "report.json").read_text().startswith("{")
    assert target.inventory() == before


def test_a_parent_that_is_killed(target: HostileTarget, tmp_path: Path) -> None:
    """If the shell that started it is killed, the run continues to its end."""
    before = target.inventory()
    command = f"{shlex.join(_command(target, tmp_path / 'report'))} & wait"
    parent = subprocess.Popen(
        ["sh", "-c", command], env=ENVIRONMENT | {"CONFORMANCE_API_KEY": target.api_key},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert until(lambda: target.turns > 30)
    parent.kill()
    parent.wait()
    assert parent.stdout is not None
    with parent.stdout as out:
        out.read()  # until the run has ended, too

    assert '"interrupted": false' in (tmp_path / "report" / "report.json").read_text()
    assert target.inventory() == before


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_streams_that_are_closed_from_the_start(closed: tuple[int, ...], target: HostileTarget, tmp_path: Path) -> None:
    """If stdout or stderr is closed from the start, as with ``>&-``, the run writes to no other file."""

    def close() -> None:
        for number in closed:
            os.close(number)

    process = _started(
        target, tmp_path / "report", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=close
    )

    assert process.wait(PATIENCE + 30) == 0
    assert (tmp_path / "report" / "report.json").read_text().startswith("{")


def test_a_terminal_that_is_closed(target: HostileTarget, tmp_path: Path) -> None:
    """If the terminal closes, the run is undone and reported as interrupted."""
    before = target.inventory()
    folder = tmp_path / "report"
    terminal, line = os.openpty()

    def take() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        _command(target, folder), env=ENVIRONMENT | {"CONFORMANCE_API_KEY": target.api_key, "TERM": "xterm"},
        stdin=line, stdout=line, stderr=line, start_new_session=True, preexec_fn=take,
    )  # fmt: skip
    os.close(line)
    assert until(lambda: target.turns > 30)

    os.close(terminal)

    assert process.wait(PATIENCE) == 129
    assert '"interrupted": true' in (folder / "report.json").read_text()
    assert target.inventory() == before
