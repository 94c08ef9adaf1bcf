"""Frozen behaviour of the faults and of embedded runs, which a refactoring must not change.

``python -m tests.safety_net.net`` writes both files. The net is temporary, for the reorganization of the code.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from conformance.reference.faults import all_faults
from conformance.running.options import Effort, RunOptions
from conformance.selftest import subjects
from conformance.selftest.in_process import HostedSession
from conformance.verdicts import conclude
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks
from tests.reference import lives
from tests.reference.conftest import Visitor

HERE: Final = Path(__file__).parent
RESPONSES: Final = HERE / "fault_responses.json"
"""The digest of each fault's responses in all lives, by the fault's id."""

RUNS: Final = HERE / "runs.json"
"""The outcomes, observed values and number of requests of a quick run against each service, by its id."""

LIVES: Final = (
    lives.engagements,
    lives.people,
    lives.mistakes,
    lives.keys,
    lives.limits,
    lives.corners,
    lives.late,
)


def digest_of_responses(fault: str) -> str:
    """Return the digest of a faulty service's responses in all lives, without the messages of its refusals."""
    digest = hashlib.sha256()
    for life in LIVES:
        visitor = Visitor(identifier_shape="integer", fault=all_faults()[fault])
        try:
            for response in life(lives.Life(visitor)):
                digest.update(repr(_without_text(response)).encode())
        finally:
            visitor.close()
    return digest.hexdigest()[:16]


def _without_text(response: object) -> object:
    """Return a response without the message of a refusal and without its length."""
    if isinstance(response, bytes):
        return re.sub(rb'"message":\s*(?:"(?:[^"\\]|\\.)*"|\[[^]]*\])', b"", response)
    if isinstance(response, list | tuple):
        return [_without_text(part) for part in response if not _is_length(part)]
    return response


def _is_length(header: object) -> bool:
    if not isinstance(header, tuple) or len(header) != 2 or not isinstance(header[0], bytes):
        return False
    return header[0].lower() == b"content-length"


def services() -> dict[str, subjects.Subject]:
    """Return the services of the runs: the default and 40 that differ at one open point."""
    picked = frozen(RUNS)
    return {subject.id: subject for subject in subjects.latitudes() if subject.id in picked}


def run_against(service: str) -> dict[str, object]:
    """Run all checks at quick effort against a service in this process."""
    options = RunOptions(effort=Effort.QUICK)
    with HostedSession(services()[service], options, in_process=True) as execution:
        judge = Judge(execution.run)
        execution.run.closed = execution.reach()
        run_checks(judge)
        execution.undo()
        requests = execution.run.wire.sent
    assert not judge.errors, judge.errors
    concluded = conclude.requirements(judge.results, "It was left out.")
    return {
        "outcomes": {entry["id"]: entry["outcome"] for entry in concluded if entry["outcome"] != "untested"},
        "observed": {one["id"]: one["observed"] for one in conclude.observations(execution.run.observations)},
        "requests": requests,
    }


def frozen(file: Path) -> dict[str, object]:
    """Return the contents of a file of the net."""
    found: dict[str, object] = json.loads(file.read_text())
    return found


def main() -> None:
    """Write both files."""
    logging.disable()
    faults = sorted(all_faults())
    with ProcessPoolExecutor(2) as pool:
        responses = dict(zip(faults, pool.map(digest_of_responses, faults, chunksize=20), strict=True))
        runs = dict(zip(services(), pool.map(run_against, services()), strict=True))
    RESPONSES.write_text(json.dumps(responses, indent=0) + "\n")
    RUNS.write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")
    sys.stdout.write(f"{len(responses)} faults, {len(runs)} services\n")


if __name__ == "__main__":
    main()
