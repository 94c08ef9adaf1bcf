"""``conformance run``: the command that tests a target."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from conformance.catalogue import RELEASES
from conformance.cli.completion import complete_class, complete_pattern
from conformance.cli.ending import ReasonedCommand
from conformance.cli.interruption import Interruption
from conformance.cli.options import (
    Challenge,
    color_option,
    connection_options,
    found_file,
    given_options,
    target_options,
    warn_of_visible_key,
)
from conformance.cli.output import lasting_output
from conformance.running.intent import FOR_A_SERVICE, MASK_PEOPLE, selected_service
from conformance.running.options import Effort
from conformance.targets.challenge import seed_of
from conformance.targets.profile import Mode
from conformance.targets.yaml_entries import TargetFileError

_UNCHANGED: Final = (
    *("challenge", "workers", "max_requests", "max_seconds", "report", "classes", "only", "skip"),
    *("mask_people", "catalogue", "wait"),
)
"""Options of the command that are options of the run."""


@click.command(cls=ReasonedCommand)
@target_options
@click.option("--embedded", is_flag=True, help="Test the embedded reference service.")
@click.option(
    "--read-only",
    is_flag=True,
    help="Send only GET requests, and requests without a valid key, which the service must refuse.",
)
@click.option(
    "--disposable",
    is_flag=True,
    help="Allow the run to rename the organization, invite people, and change and remove provisioned members.",
)
@click.option(
    "--effort",
    type=click.Choice([effort.value for effort in Effort]),
    default=Effort.STANDARD.value,
    show_default=True,
    help="Thoroughness: how many requests and generated inputs to spend.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Seed of the random choices, to repeat those of an earlier run.  [default: random]",
)
@click.option(
    "--challenge",
    type=Challenge(),
    metavar="TEXT",
    help="The certifier's challenge, which gives the seed and is part of all names.",
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=8, show_default=True, help="Maximum number of concurrent requests."
)
@click.option("--max-requests", type=click.IntRange(1), help="Stop after this many requests.")
@click.option("--max-seconds", type=click.FloatRange(1), help="Stop after this many seconds.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the outputs.  [default: reports/NAME-TIME]",
)
@click.option(
    "--class",
    "classes",
    multiple=True,
    metavar="ID",
    shell_complete=complete_class,
    help="Judge only the requirements of this class. Repeatable.",
)
@click.option(
    "--only",
    multiple=True,
    shell_complete=complete_pattern,
    metavar="PATTERN",
    help="Judge only requirements with this id or class (* and ? allowed), operationId or section. Repeatable.",
)
@click.option(
    "--skip",
    multiple=True,
    metavar="PATTERN",
    shell_complete=complete_pattern,
    help="Judge no requirement that matches; patterns are as for --only. Repeatable.",
)
@click.option(
    "--catalogue",
    type=click.Choice(RELEASES),
    help="Judge only the requirements of this release, so that a newer suite adds none.  [default: the newest]",
)
@click.option(
    "--fail-fast", is_flag=True, help="End the checks at the first failure that is neither waived nor in the baseline."
)
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SECONDS",
    help="Wait up to SECONDS for the first response of the service.",
)
@connection_options
@click.option(
    "--waivers",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File of accepted failures, each with an owner and an end date (YAML).",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="REPORT",
    help="Fail only for requirements that did not fail in this report.json.",
)
@click.option(
    "--baseline-update",
    is_flag=True,
    help="Accept the failures of this run: write them to the file of --baseline.",
)
@click.option("--strict", is_flag=True, help="Exit with 4 if a chosen requirement is untested or undecided.")
@click.option(
    "--mask-people/--no-mask-people",
    default=None,
    envvar=MASK_PEOPLE,
    help="Write pseudonyms in place of members' names and addresses and of the texts of other users' engagements.",
)
@click.option("--quiet", is_flag=True, help="Print only the failures, the warnings and the verdict.")
@click.option(
    "--events",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write a line of JSON for each event of the run to FILE; - is standard output.",
)
@click.option(
    "--list",
    "only_list",
    is_flag=True,
    help="Print the requirements that the run would judge and the number of requests; send none.",
)
@color_option
@click.pass_context
def run(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - the values of click's options
    """Test a target and report which requirements it meets.

    Exit status: 0 nothing failed; 1 a requirement failed, or a waiver has expired or is unused; 2 an option or a file
    is wrong; 3 the target could not be tested, records are left that could be deleted, or the suite itself failed;
    4 with --strict, a chosen requirement is untested or undecided, or a limit of the target file was not met; 129, 130
    and 143 a signal ended the run. The last line says why a status is not 0.
    """
    try:
        mode = Mode.of_options(read_only=given["read_only"], disposable=given["disposable"])
        found = None if given["embedded"] else found_file(given["target"], given["base_url"])
        service = selected_service(given, given_options(context, *FOR_A_SERVICE), os.environ, found)
    except TargetFileError as error:
        raise click.UsageError(str(error)) from None
    warn_of_visible_key(context)
    challenge = given["challenge"]
    if challenge is not None and given["seed"] is not None:
        raise click.UsageError("--challenge and --seed exclude each other: the challenge gives the seed.")
    baseline = given["baseline"]
    if given["baseline_update"] and (baseline is None or baseline.is_dir()):
        raise click.UsageError("--baseline-update needs a file: give --baseline FILE.")
    drawn = seed_of(challenge) if challenge else random.SystemRandom().randrange(2**32)
    options = replace(
        service,
        mode=mode,
        effort=Effort(given["effort"]),
        seed=drawn if given["seed"] is None else given["seed"],
        command=tuple(sys.argv[1:]),
        **{name: given[name] for name in _UNCHANGED},
    )
    if given["only_list"]:
        from conformance.cli.plan import print_plan

        print_plan(options)
        return
    with Interruption() as interruption, lasting_output():
        from conformance.cli.conduct import conduct
        from conformance.cli.events import EventLog
        from conformance.cli.gate import GateOptions

        gate = GateOptions(
            given["waivers"],
            given["baseline"],
            updates=given["baseline_update"],
            strict=given["strict"],
            fail_fast=given["fail_fast"],
        )
        with EventLog(given["events"]) as events:
            status = conduct(options, gate, interruption, events, quiet=given["quiet"])
    sys.exit(status)
