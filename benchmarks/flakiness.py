"""The whole suite, many times, against a conforming service that answers unevenly while somebody else is busy there.

Usage: python benchmarks/flakiness.py [--runs 50] [--effort quick] [--first-seed 1] [--max-seconds 3600]
                                      [--choice NAME=VALUE]...

Every answer of the reference service is held back by 0 to 80 ms, and a second client with a key of its own keeps
creating, renaming and deleting its own engagements in the same organization. Each run has another seed. A requirement
that fails is a false alarm; one that passes without the others and is undecided with them costs nobody anything, and is
counted. Ends with 1 after a false alarm, or where the suite itself went wrong.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import httpx

from conformance.reference.latitude import Latitude
from conformance.reference.provisioner import TOKEN, URL, SandboxConnection
from conformance.running.options import Effort, RunOptions
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import Subject
from conformance.verdicts import conclude
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from types import TracebackType

    from conformance.targets.profile import Profile

UNEVEN: Final = {"pace": "uneven"}
KEPT: Final = 4
"""Engagements that the second client keeps."""


class Neighbour:
    """A second client of the organization, busy in a thread with engagements of its own.

    Attributes:
        deeds: How many of its requests were carried out, by kind.
    """

    def __init__(self, profile: Profile, seed: int) -> None:
        self.deeds: Counter[str] = Counter()
        self._whim = random.Random(seed)  # noqa: S311 - the same deeds for the same seed
        self._client = httpx.Client(base_url=profile.base_url, headers={"Authorization": f"Bearer {_key(profile)}"})
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._act, name="neighbour", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._client.close()

    def _act(self) -> None:
        kept: list[str] = []
        for number in itertools.count(1):
            if self._over.wait(self._whim.uniform(0.01, 0.1)):
                return
            if len(kept) < KEPT:
                kept.append(self._do("created", "POST", "", {"name": f"Neighbour {number}"})["data"]["id"])
            elif self._whim.random() < 0.5:  # noqa: PLR2004 - as often as not
                self._do("renamed", "PATCH", f"/{self._whim.choice(kept)}", {"name": f"Neighbour, renamed {number}"})
            else:
                self._do("deleted", "DELETE", f"/{kept.pop(self._whim.randrange(len(kept)))}", None)

    def _do(self, deed: str, method: str, path: str, body: dict[str, str] | None) -> dict[str, Any]:
        response = self._client.request(method, f"/api/v1/engagements{path}", json=body).raise_for_status()
        self.deeds[deed] += 1
        found: dict[str, Any] = response.json()
        return found


@dataclass(slots=True)
class Figures:
    """What the runs came to.

    Attributes:
        runs: How many there were.
        outcomes: How often a requirement came to each outcome.
        alarms: How often each requirement failed.
        undecided: How often each requirement was left undecided.
        errors: How often the suite itself went wrong.
        deeds: What the neighbours did.
        requests: How many requests the suite sent.
    """

    runs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    deeds: Counter[str] = field(default_factory=Counter)
    requests: int = 0


def run_once(subject: Subject, options: RunOptions, figures: Figures) -> str:
    """Run the suite once beside a neighbour; what came of it, in a line."""
    began = time.monotonic()
    with HostedSession(subject, options) as execution, Neighbour(execution.profile, options.seed) as neighbour:
        judge = Judge(execution.run)
        execution.run.closed = execution.reach()
        run_checks(judge)
        left = execution.undo().left
        requests = execution.run.wire.sent
    outcomes = {entry["id"]: entry["outcome"] for entry in conclude.requirements(judge.results, "It was left out.")}
    failed = [name for name, outcome in outcomes.items() if outcome == "failed"]
    doubtful = [name for name, outcome in outcomes.items() if outcome == "cantTell"]
    figures.runs += 1
    figures.outcomes.update(outcomes.values())
    figures.alarms.update(failed)
    figures.undecided.update(doubtful)
    figures.errors += len(judge.errors) + len(left)
    figures.deeds.update(neighbour.deeds)
    figures.requests += requests
    told = "; ".join(
        f"{words}: {', '.join(names)}" for words, names in (("FAILED", failed), ("undecided", doubtful)) if names
    )
    errors = "".join(f"\n{error}" for error in (*judge.errors, *left))
    seconds = time.monotonic() - began
    deeds = sum(neighbour.deeds.values())
    return f"seed {options.seed}: {requests} requests, {seconds:.0f} s, {deeds} deeds of others. {told}{errors}"


def _key(profile: Profile) -> str:
    """A full key of its own, made as an operator would."""
    assert profile.provisioner is not None
    environment = profile.provisioner.environment
    sandbox = SandboxConnection(environment[URL], environment[TOKEN])
    scopes = [f"{family}:{deed}" for family in ("organizations", "engagements") for deed in ("read", "write")]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "create_key", "params": {"scopes": [*scopes, "engagements:delete"]}}
    key: str = json.loads(sandbox.forward(json.dumps(asked).encode()))["result"]["key"]
    sandbox.close()
    return key


def main() -> int:
    """Run, and print a line for each run and the figures in the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--effort", choices=[effort.value for effort in Effort], default=Effort.QUICK.value)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--max-seconds", type=float, default=3600, help="no further run is begun after so many seconds")
    parser.add_argument("--choice", action="append", default=[], metavar="NAME=VALUE", help="as --latitude of serve")
    given = parser.parse_args()
    choices = UNEVEN | Latitude.parse(given.choice).deviations
    subject = Subject("jittered", "latitude", "Answers come unevenly.", choices=choices)
    figures, end = Figures(), time.monotonic() + given.max_seconds
    for seed in range(given.first_seed, given.first_seed + given.runs):
        if time.monotonic() > end:
            break
        print(run_once(subject, RunOptions(effort=Effort(given.effort), seed=seed), figures), flush=True)
    print(f"{figures.runs} runs, {figures.requests} requests, beside {dict(figures.deeds)} by others.")
    print(f"Outcomes: {dict(figures.outcomes)}. Errors of the suite: {figures.errors}.")
    print(f"False alarms: {dict(figures.alarms) or 'none'}. Undecided: {dict(figures.undecided) or 'none'}.")
    return 1 if figures.alarms or figures.errors else 0


if __name__ == "__main__":
    sys.exit(main())
