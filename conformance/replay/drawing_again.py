"""Generation of a recorded run's requests again, by a process beside the one that judges."""

from __future__ import annotations

import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from conformance.interface.operations import OPERATIONS
from conformance.reports.text import json_bytes, load_json
from conformance.running.options import Effort
from conformance.scenarios.generated.requests import GENERATED, Generator
from conformance.suite import GENERATING, versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from conformance.replay.recorded_inputs_file import RunInputs


def other_versions(recorded: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return the versions of a run that differ from those here, a clause each."""
    here = versions()
    return [
        f"{name} {recorded[name]}, here {here[name]}" for name in names if recorded.get(name, here[name]) != here[name]
    ]


@contextmanager
def drawing_again(inputs: RunInputs) -> Iterator[Callable[[], list[str]]]:
    """Draw the generated requests of a run again inside a ``with``, if the same versions are installed here.

    Args:
        inputs: The recorded inputs of the run.

    Yields:
        A function that waits for the requests and returns the differences from the recorded ones, a clause each.
    """
    generator = Generator(
        inputs.options.seed,
        inputs.options.effort,
        inputs.names.beginning,
        inputs.profile.invitation_domain,
    )
    recorded = {
        line["asked"].removeprefix(GENERATED): line["told"]
        for line in inputs.of_checks
        if line["asked"].startswith(GENERATED) and line["told"] is not None
    }
    recorded = {
        name: recorded[name] for name in OPERATIONS if name in recorded and generator.effort is not Effort.QUICK
    }
    if not recorded or other_versions(inputs.versions, GENERATING):
        yield lambda: [
            f"the number of generated requests of {operation} is none that the effort {generator.effort.value} draws"
            for operation, cases in recorded.items()
            if not isinstance(cases, list) or not generator.draws(len(cases))
        ]
        return
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), signal.signal, _ENDS_AT_ONCE) as process:
        drawn = {operation: process.submit(generator.cases, operation) for operation in recorded}

        def differences() -> list[str]:
            try:
                again = {operation: cases.result() for operation, cases in drawn.items()}
            except BrokenProcessPool:  # as in a program that does not guard its main module
                again = {operation: generator.cases(operation) for operation in recorded}
            return [
                f"the generated requests of {operation} are not those of the seed {generator.seed}"
                for operation, cases in again.items()
                if _as_recorded(cases) != recorded[operation]
            ]

        yield differences


_ENDS_AT_ONCE = (signal.SIGINT, signal.SIG_DFL)


def _as_recorded(cases: list[dict[str, Any]] | None) -> Any:  # noqa: ANN401 - any JSON value
    """Return cases as a reader of the recording gets them."""
    return load_json(json_bytes(cases))
