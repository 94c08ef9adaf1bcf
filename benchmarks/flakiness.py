"""Benchmark of false alarms: many runs against a conforming service with uneven latency and a second client.

Usage: python benchmarks/flakiness.py [--runs 50] [--effort quick] [--first-seed 1] [--max-seconds 3600]
                                      [--choice NAME=VALUE]...

The reference service delays every response by 0 to 80 ms. A second client with a key of its own keeps creating,
renaming and deleting its own engagements in the same organization. Each run has another seed. A requirement that fails
is a false alarm; undecided requirements are counted. Exits with 1 after a false alarm, or if the suite itself failed.
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
ENGAGEMENTS: Final = 4
"""Most engagements of the second client at a time."""


class Neighbour:
    """A second client of the organization, which changes engagements of its own in a thread.

    Attributes:
        actions: The number of its requests by kind.
    """

    def __init__(self, profile: Profile, seed: int) -> None:
        self.actions: Counter[str] = Counter()
        self._generator = random.Random(seed)  # noqa: S311 - the same actions for the same seed
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
        identifiers: list[str] = []
        for number in itertools.count(1):
            if self._over.wait(self._generator.uniform(0.01, 0.1)):
                return
            if len(identifiers) < ENGAGEMENTS:
                identifiers.append(self._do("created", "POST", "", {"name": f"Neighbour {number}"})["data"]["id"])
            elif self._generator.random() < 0.5:  # noqa: PLR2004 - half of the time
                self._do(
                    "renamed",
                    "PATCH",
                    f"/{self._generator.choice(identifiers)}",
                    {"name": f"Neighbour, renamed {number}"},
                )
            else:
                self._do("deleted", "DELETE", f"/{identifiers.pop(self._generator.randrange(len(identifiers)))}", None)

    def _do(self, action: str, method: str, path: str, body: dict[str, str] | None) -> dict[str, Any]:
        response = self._client.request(method, f"/api/v1/engagements{path}", json=body).raise_for_status()
        self.actions[action] += 1
        found: dict[str, Any] = response.json()
        return found


@dataclass(slots=True)
class Figures:
    """The figures of the runs.

    Attributes:
        runs: The number of runs.
        outcomes: The number of requirements by outcome.
        alarms: The number of failures by requirement.
        undecided: The number of runs that left a requirement undecided, by requirement.
        errors: The number of the suite's own errors.
        actions: The number of the neighbours' requests by kind.
        requests: The number of the suite's requests.
    """

    runs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    requests: int = 0


def run_once(subject: Subject, options: RunOptions, figures: Figures) -> str:
    """Run the suite once beside a neighbour and return a line about it."""
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
    figures.actions.update(neighbour.actions)
    figures.requests += requests
    results = "; ".join(
        f"{label}: {', '.join(names)}" for label, names in (("FAILED", failed), ("undecided", doubtful)) if names
    )
    errors = "".join(f"\n{error}" for error in (*judge.errors, *left))
    seconds = time.monotonic() - began
    actions = sum(neighbour.actions.values())
    return f"seed {options.seed}: {requests} requests, {seconds:.0f} s, {actions} requests of others. {results}{errors}"


def _key(profile: Profile) -> str:
    """Create a full key for the neighbour, by the sandbox."""
    assert profile.provisioner is not None
    environment = profile.provisioner.environment
    sandbox = SandboxConnection(environment[URL], environment[TOKEN])
    scopes = [f"{family}:{action}" for family in ("organizations", "engagements") for action in ("read", "write")]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "create_key", "params": {"scopes": [*scopes, "engagements:delete"]}}
    key: str = json.loads(sandbox.forward(json.dumps(asked).encode()))["result"]["key"]
    sandbox.close()
    return key


def main() -> int:
    """Run the suite; print a line for each run and the figures at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--effort", choices=[effort.value for effort in Effort], default=Effort.QUICK.value)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--max-seconds", type=float, default=3600, help="start no further run after this many seconds")
    parser.add_argument(
        "--choice",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a latitude, as --latitude of conformance serve",
    )
    given = parser.parse_args()
    choices = UNEVEN | Latitude.parse(given.choice).deviations
    subject = Subject("jittered", "latitude", "Responses have uneven latency.", choices=choices)
    figures, end = Figures(), time.monotonic() + given.max_seconds
    for seed in range(given.first_seed, given.first_seed + given.runs):
        if time.monotonic() > end:
            break
        print(run_once(subject, RunOptions(effort=Effort(given.effort), seed=seed), figures), flush=True)
    print(f"{figures.runs} runs, {figures.requests} requests, beside {dict(figures.actions)} by others.")
    print(f"Outcomes: {dict(figures.outcomes)}. Errors of the suite: {figures.errors}.")
    print(f"False alarms: {dict(figures.alarms) or 'none'}. Undecided: {dict(figures.undecided) or 'none'}.")
    return 1 if figures.alarms or figures.errors else 0


if __name__ == "__main__":
    sys.exit(main())
