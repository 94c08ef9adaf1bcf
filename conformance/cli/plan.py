"""Plan of a run: the requirements that it would judge, and its requests, counted in a rehearsal."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING
from warnings import catch_warnings

import click

from conformance.catalogue import CLASSES, SelectionError, load_catalogue
from conformance.reports.outcome import Outcome
from conformance.reports.wording import counted
from conformance.running.options import RunOptions
from conformance.running.run_session import chosen, selected_profile
from conformance.selftest.in_process import HostedSession
from conformance.selftest.subjects import latitudes
from conformance.targets import capabilities
from conformance.targets.yaml_entries import TargetFileError
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.targets.profile import Profile


def print_plan(options: RunOptions) -> None:
    """Print what a run would judge and send, without a request to the target.

    The requests are those of a rehearsal on the reference service, in this process and with the same options.

    Raises:
        click.UsageError: The options or the target file cannot be used.
    """
    try:
        profile = selected_profile(options, os.environ)
        selection = chosen(options, () if profile is None else profile.require)
    except (TargetFileError, SelectionError) as error:
        raise click.UsageError(str(error)) from None
    entries = load_catalogue().requirements
    wanted = selection or tuple(entries)
    # The embedded service, which has no profile yet, meets all needs.
    possible = [name for name in wanted if profile is None or capabilities.are_met(profile, entries[name].needs)]
    judged, requests = _rehearsed(options, profile, possible) if possible else ([], 0)
    for name in judged:
        click.echo(f"{entries[name].conformance_class:<13} {name}")
    where = "the embedded service" if profile is None else f"{profile.name} at {profile.base_url}"
    click.echo(f"A run of {where} would judge {_by_class(judged)}.")
    if left := [name for name in wanted if name not in judged]:
        click.echo(f"It would leave {_by_class(left)} untested; conformance doctor shows why.")
    click.echo(f"It would send about {counted(requests, 'request')}, undoing included; none was sent.")


def _rehearsed(options: RunOptions, profile: Profile | None, possible: Sequence[str]) -> tuple[list[str], int]:
    """Return the requirements that a run on the reference service judged, and the number of its requests."""
    kept = ("effort", "seed", "workers", "max_requests")
    rehearsal = RunOptions(
        mode=options.mode if profile is None else profile.mode,
        only=tuple(possible),
        **{name: getattr(options, name) for name in kept},
    )
    # Hypothesis warns of random choices in this process, which are those of the reference service.
    with (
        catch_warnings(action="ignore"),
        HostedSession(latitudes("default")[0], rehearsal, in_process=True) as session,
    ):
        judge = Judge(session.run)
        session.run.closed = session.reach()
        run_checks(judge)
        session.undo()
        judged = {result.requirement for result in judge.results if result.outcome is not Outcome.UNTESTED}
        return [name for name in possible if name in judged], session.run.wire.sent


def _by_class(names: Sequence[str]) -> str:
    entries = load_catalogue().requirements
    numbers = Counter(entries[name].conformance_class for name in names)
    shown = ", ".join(f"{name} {numbers[name]}" for name in CLASSES if name in numbers)
    return counted(len(names), "requirement") + (f" ({shown})" if shown else "")
