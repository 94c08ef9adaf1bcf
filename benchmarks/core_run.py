"""Benchmark of a core run against ``schemathesis run`` on the same service.

Usage: python benchmarks/core_run.py [--runs 3]

Starts the reference service without and with 50 ms of latency, runs the suite's core class at quick effort and
``schemathesis run`` against each, and prints the median seconds, the requests and their ratio.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from served import ENVIRONMENT, ROOT, service


def suite(base_url: str, key: str) -> tuple[float, int]:
    """Return the seconds and requests of a core run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "conformance", "run", "--base-url", base_url, "--effort", "quick", "--quiet"]
        begun = time.perf_counter()
        done = subprocess.run(
            [*command, "--report", folder],
            check=False,
            capture_output=True,
            env={**ENVIRONMENT, "CONFORMANCE_API_KEY": key},
        )
        seconds = time.perf_counter() - begun
        if done.returncode != 0:
            raise SystemExit(done.stdout.decode() + done.stderr.decode())
        return seconds, json.loads((Path(folder) / "report.json").read_text())["run"]["requests"]


def schemathesis(base_url: str, key: str) -> tuple[float, int]:
    """Return the seconds and requests of a ``schemathesis run`` with its defaults."""
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", str(ROOT / "openapi.yaml"), "--url", base_url]
    begun = time.perf_counter()
    done = subprocess.run(
        [*command, "-H", f"Authorization: Bearer {key}", "--seed", "1", "--no-color"],
        check=False, capture_output=True, env=ENVIRONMENT, cwd=tempfile.gettempdir(), timeout=1800,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    found = re.search(r"(\d+) generated", done.stdout.decode())
    return seconds, int(found[1]) if found else 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    print(f"{'':<22}{'seconds':>10}{'requests':>10}")
    for latency in (0, 50):
        with service("--latency", str(latency)) as (base_url, key):
            ours = [suite(base_url, key) for _ in range(runs)]
            theirs = [schemathesis(base_url, key) for _ in range(1 if latency else runs)]
        own, other = (statistics.median(seconds for seconds, _ in results) for results in (ours, theirs))
        print(f"{f'suite, {latency} ms':<22}{own:>10.2f}{ours[0][1]:>10}")
        print(f"{f'schemathesis, {latency} ms':<22}{other:>10.2f}{theirs[0][1]:>10}")
        print(f"{'ratio':<22}{own / other:>10.3f}{ours[0][1] / max(1, theirs[0][1]):>10.3f}")


if __name__ == "__main__":
    main()
