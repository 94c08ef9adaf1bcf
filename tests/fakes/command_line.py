"""Runs of the command line as processes."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ENVIRONMENT: Final = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("CONFORMANCE_", "PYTHONDONTWRITE", "COVERAGE_"))
}
"""The environment of a user, without coverage, which writes its own files."""
_SET_CHILD_SUBREAPER: Final = 36


class Reported:
    """A run whose folder has its report."""

    folder: Path

    @property
    def report(self) -> dict[str, Any]:
        """The report of the run."""
        report: dict[str, Any] = json.loads((self.folder / "report.json").read_text("utf-8"))
        return report

    def outcome(self, requirement: str) -> str:
        """Return the outcome of a requirement."""
        outcomes: dict[str, str] = {entry["id"]: entry["outcome"] for entry in self.report["requirements"]}
        return outcomes[requirement]


@dataclass(frozen=True)
class Ended(Reported):
    """The end of a run.

    Attributes:
        status: The exit status, as in a shell if a signal ended the run.
        out: Its stdout.
        err: Its stderr.
        folder: The folder of the report.
        seconds: Its duration.
        megabytes: Its peak memory.
        cpu: Its processor time in seconds.
    """

    status: int
    out: str
    err: str
    folder: Path
    seconds: float
    megabytes: float
    cpu: float

    def outcomes(self, *outcomes: str) -> list[str]:
        """Return the requirements with one of these outcomes."""
        return [entry["id"] for entry in self.report["requirements"] if entry["outcome"] in outcomes]

    def messages(self) -> str:
        """Return all messages to people."""
        report = self.folder / "summary.md"
        return "\n".join([self.out, self.err, report.read_text("utf-8") if report.exists() else ""])


@dataclass
class Started:
    """A run in progress."""

    process: subprocess.Popen[bytes]
    folder: Path
    began: float
    out: Path
    err: Path
    peak: float = field(default=0.0)
    cpu: float = field(default=0.0)

    def wait(self, seconds: float) -> Ended:
        """Wait for its end; kill it after some seconds.

        Raises:
            AssertionError: The run was killed.
        """
        while True:
            self.peak = max(self.peak, _peak(self.process.pid))
            self.cpu = max(self.cpu, _cpu(self.process.pid))
            if self.process.poll() is not None:
                break
            if time.monotonic() - self.began > seconds:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"still running after {seconds:.0f} s: {self.err.read_text()}")
            time.sleep(0.01)
        took = time.monotonic() - self.began
        code = self.process.returncode
        out, err = (path.read_text("utf-8", "backslashreplace") for path in (self.out, self.err))
        return Ended(code if code >= 0 else 128 - code, out, err, self.folder, took, self.peak, self.cpu)


def start(folder: Path, *words: str, preexec: Any = None, **environment: str) -> Started:
    """Start ``conformance`` with arguments; ``run`` gets the folder for its report, and a seed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if words[0] == "run":
        words = (*words, "--report", str(folder), *(() if "--seed" in words else ("--seed", "1")))
    out, err = folder.with_suffix(".out"), folder.with_suffix(".err")
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "conformance", *words],
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=ENVIRONMENT | environment, preexec_fn=preexec,
        )  # fmt: skip
    return Started(process, folder, time.monotonic(), out, err)


def target_file(folder: Path, base_url: str, *lines: str, timeout: float = 1, patience: float = 2) -> Path:
    """Write a target file that other users cannot read; the key comes from the environment."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "target.yaml"
    head = [f"base_url: {base_url}", "api_key: ${CONFORMANCE_API_KEY}", f"timeout: {timeout}", f"patience: {patience}"]
    path.write_text("\n".join([*head, *lines]) + "\n", "utf-8")
    path.chmod(0o600)
    return path


def adopt_orphans() -> None:
    """Make this process the parent of the orphans of its children."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextmanager
def no_process_stays() -> Iterator[None]:
    """Expect that no process of a run in the ``with`` outlives it."""
    adopt_orphans()
    known = [pid for pid, _ in children()]
    yield
    assert strays(*known) == []


def strays(*known: int, patience: float = 6.0) -> list[str]:
    """Return the command lines of orphans among this process's children, except those that end in time."""
    end = time.monotonic() + patience
    while found := [line for pid, line in children() if pid not in known]:
        if time.monotonic() > end:
            return found
        time.sleep(0.05)
    return []


def children() -> list[tuple[int, str]]:
    """Return process ids and command lines of this process's children that are programs of the suite."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            pids = (task / "children").read_text().split()
        except OSError:  # the thread has ended
            continue
        for pid in pids:
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                ended = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
            except OSError:
                continue
            if not ended and "conformance" in line:
                found.append((int(pid), line))
    return found


def _cpu(pid: int) -> float:
    """Return the processor time of a process so far, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _peak(pid: int) -> float:
    """Return the peak memory of a process so far, in MB."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    except (OSError, ValueError):
        pass
    return 0.0
