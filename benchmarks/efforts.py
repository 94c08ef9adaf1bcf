"""Benchmark of cost and found faults at each effort, against ``schemathesis run``.

Usage: python benchmarks/efforts.py [--faults 12] [--max-examples N] [--efforts quick standard deep] [--latency 0]

First the whole suite runs against the reference service, once at each effort, and ``schemathesis run`` once, with its
defaults unless ``--max-examples`` is given. Then both test the same faulty services, taken at even distances from the
list of faults by id. The suite has quick effort, a base URL and a key, as Schemathesis has. The suite finds a fault if
a requirement fails; Schemathesis if it reports a failure that it does not report without the fault.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from served import ENVIRONMENT, ROOT, service

from conformance.reference.faults import all_faults

LONGEST: Final = 1800
"""Seconds that a run may take."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost and findings of a run.

    Attributes:
        requests: The number of requests sent.
        seconds: The duration of the process.
        findings: Failed requirements, or operations with the kind of failure.
    """

    requests: int
    seconds: float
    findings: frozenset[str]


def suite(*options: str, key: str = "") -> Cost:
    """Run the suite and return its cost."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "conformance", "run", "--quiet", *options, "--report", folder]
        seconds, output = _timed(command, {"CONFORMANCE_API_KEY": key} if key else {})
        if not (Path(folder) / "report.json").exists():
            raise SystemExit(output)
        report = json.loads((Path(folder) / "report.json").read_text("utf-8"))
        failed = frozenset(entry["id"] for entry in report["requirements"] if entry["outcome"] == "failed")
        return Cost(report["run"]["requests"], seconds, failed)


def schemathesis(base_url: str, key: str, max_examples: int | None) -> Cost:
    """Run Schemathesis on the same document and return its cost."""
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder) / "junit.xml"
        command = [str(Path(sys.executable).parent / "schemathesis"), "run", str(ROOT / "openapi.yaml")]
        command += ["--url", base_url, "-H", f"Authorization: Bearer {key}", "--seed", "1", "--no-color"]
        command += ["--report", "junit", "--report-junit-path", str(junit)]
        command += [] if max_examples is None else ["--max-examples", str(max_examples)]
        seconds, output = _timed(command, {}, cwd=folder)
        generated = re.search(r"(\d+) generated", output)
        return Cost(int(generated[1]) if generated else 0, seconds, _failures(junit))


def _timed(command: list[str], environment: dict[str, str], cwd: str | None = None) -> tuple[float, str]:
    begun = time.perf_counter()
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=cwd, timeout=LONGEST, env=ENVIRONMENT | environment
    )
    return time.perf_counter() - begun, done.stdout + done.stderr


def _failures(junit: Path) -> frozenset[str]:
    """Return the failures of Schemathesis: each operation with the headings of its failures."""
    found = set()
    for case in ET.parse(junit).iter("testcase"):  # noqa: S314 - Schemathesis wrote it
        for failure in case.iter("failure"):
            headings = re.findall(r"^\s*- (.+)$", failure.get("message") or failure.text or "", re.MULTILINE)
            found |= {f"{case.get('name')}: {heading.strip()}" for heading in headings or ["failed"]}
    return frozenset(found)


def sample(number: int) -> list[str]:
    """Return faults at even distances in the order of their ids."""
    known = sorted(all_faults())
    return [known[place * len(known) // number] for place in range(min(number, len(known)))]


def efforts(chosen: list[str], latency: str) -> None:
    """Print the cost of the whole suite at each effort, with everything provisioned and with a key alone."""
    print(f"{'':<34}{'requests':>10}{'seconds':>10}{'failed':>8}")
    for effort in chosen:
        _line(f"suite, {effort}, all classes", suite("--effort", effort))
        with service("--latency", latency) as (base_url, key):
            _line(f"suite, {effort}, core, {latency} ms", suite("--effort", effort, "--base-url", base_url, key=key))


def compare(number: int, max_examples: int | None) -> None:
    """Print which faults the suite and Schemathesis find, and the requests sent."""
    with service() as (base_url, key):
        honest = schemathesis(base_url, key, max_examples)
    _line("schemathesis, no fault", honest)
    ours: list[Cost] = []
    theirs: list[Cost] = []
    for fault in sample(number):
        with service("--fault", fault) as (base_url, key):
            ours.append(suite("--effort", "quick", "--base-url", base_url, key=key))
        with service("--fault", fault) as (base_url, key):
            found = schemathesis(base_url, key, max_examples)
            theirs.append(Cost(found.requests, found.seconds, found.findings - honest.findings))
        print(f"{fault:<44} suite {_found(ours[-1])}, schemathesis {_found(theirs[-1])}", flush=True)
    for name, costs in (("suite, quick, key alone", ours), ("schemathesis", theirs)):
        hits, requests = sum(bool(cost.findings) for cost in costs), sum(cost.requests for cost in costs)
        seconds = sum(cost.seconds for cost in costs)
        rate = 1000 * hits / max(1, requests)
        print(
            f"{name}: {hits} of {len(costs)} found, {requests} requests, {seconds:.0f} s, {rate:.2f} per 1,000 requests"
        )


def _found(cost: Cost) -> str:
    return f"{'found' if cost.findings else 'missed'} ({cost.requests} requests, {cost.seconds:.0f} s)"


def _line(name: str, cost: Cost) -> None:
    print(f"{name:<34}{cost.requests:>10}{cost.seconds:>10.1f}{len(cost.findings):>8}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=12)
    parser.add_argument("--max-examples", type=int)
    parser.add_argument("--efforts", nargs="*", default=["quick", "standard", "deep"])
    parser.add_argument("--latency", default="0", metavar="MS")
    given = parser.parse_args()
    efforts(given.efforts, given.latency)
    if given.faults:
        compare(given.faults, given.max_examples)


if __name__ == "__main__":
    main()
