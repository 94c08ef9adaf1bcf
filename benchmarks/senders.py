"""Benchmark of the parts of a run: the requests that each sends, and the drawn faults that these requests show.

Usage: python benchmarks/senders.py [--drawn 120] [--draw-seed 1] [--effort quick] [--jobs 4]

The whole suite tests services with drawn faults (see ``conformance selftest --drawn``). A part of the run shows a fault
if a failure cites an exchange that it sent. Scenarios are grouped by their folder; the walks are ``scenarios/walks``,
the tour, the last look and the walks through the organization and roles. Prints the rows of a table in Markdown.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from itertools import repeat
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Final

import conformance.scenarios
from conformance.running.options import Effort, RunOptions
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import Subject, drawn, latitudes
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.wire.exchange import Exchange

WALKS: Final = "walks"
OTHERS: Final = {"ownership": "reads before changes", "undoing": "undoing"}
"""Parts that are no scenario."""


def parts() -> dict[str, str]:
    """Return the part of each scenario by the scenario's name."""
    found = dict(OTHERS)
    for module in walk_packages(conformance.scenarios.__path__, f"{conformance.scenarios.__name__}."):
        folder = module.name.split(".")[2]
        for name, item in vars(import_module(module.name)).items():
            is_walk = folder in {"tour", "last_look", WALKS} or name.endswith("_walk")
            if getattr(item, "__module__", None) == module.name:
                found[name] = WALKS if is_walk else folder
    return found


def run(subject: Subject, effort: Effort) -> tuple[Counter[str], set[str]]:
    """Return the requests of each part, and the parts that sent what failures cite."""
    logging.disable()
    part = parts()
    with HostedSession(subject, RunOptions(effort=effort, seed=1), in_process=True) as session:
        judge = Judge(session.run)
        session.run.closed = session.reach()
        run_checks(judge)
        session.undo()
        sent = Counter(_parts_of(session.run.wire.exchanges, part))
        failures = [result.failure for result in judge.results if result.failure is not None]
        return sent, {name for failure in failures for name in _parts_of(failure.exchanges, part)}


def _parts_of(exchanges: Iterable[Exchange], part: Mapping[str, str]) -> list[str]:
    return [part.get(exchange.check or "", "checks") for exchange in exchanges]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", type=int, default=120)
    parser.add_argument("--draw-seed", type=int, default=1)
    parser.add_argument("--effort", type=Effort, default=Effort.QUICK)
    parser.add_argument("--jobs", type=int, default=4)
    given = parser.parse_args()
    requests, _ = run(latitudes("default")[0], given.effort)
    subjects = drawn(given.drawn, given.draw_seed)
    with ProcessPoolExecutor(given.jobs) as pool:
        shown = [named for _, named in pool.map(run, subjects, repeat(given.effort))]
    print(f"{sum(map(bool, shown))} of {len(shown)} found, {requests.total()} requests")
    for name, number in requests.most_common():
        by_it = [named for named in shown if name in named]
        alone = by_it.count({name})
        print(f"| {name} | {number} | {len(by_it)} | {alone} | {1000 * len(by_it) / number:.0f} |")


if __name__ == "__main__":
    main()
