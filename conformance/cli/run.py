"""``conformance run``: test a target and report what it keeps of the contract."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import click

from conformance.cli.interruption import Interruption
from conformance.cli.options import warn_of_visible_key
from conformance.cli.output import LastingOutput
from conformance.running.options import Effort, Mode, RunOptions
from conformance.target.reading import TargetFileError


@click.command()
@click.option(
    "--base-url",
    envvar="CONFORMANCE_BASE_URL",
    help="Where the target is; without it and --target the embedded reference service.",
)
@click.option(
    "--api-key",
    envvar="CONFORMANCE_API_KEY",
    help="A full key. Better set $CONFORMANCE_API_KEY: others can read command lines.",
)
@click.option("--target", type=click.Path(path_type=Path), metavar="FILE", help="The target file (YAML).")
@click.option(
    "--read-only", is_flag=True, help="Send only GETs, and what a service must refuse for want of a valid key."
)
@click.option(
    "--disposable",
    is_flag=True,
    help="The organization may be renamed, people invited, provisioned members changed and removed.",
)
@click.option(
    "--effort",
    type=click.Choice([effort.value for effort in Effort]),
    default=Effort.STANDARD.value,
    show_default=True,
    help="How much the run may cost.",
)
@click.option("--seed", type=click.IntRange(0), help="Repeat the random choices of an earlier run.")
@click.option("--workers", type=click.IntRange(1, 64), default=8, show_default=True, help="Requests under way at once.")
@click.option("--max-requests", type=click.IntRange(1), help="Send no more requests than this.")
@click.option("--max-seconds", type=click.FloatRange(1), help="Take no longer than this.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the outputs go.  [default: reports/NAME-TIME]",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Judge only requirements whose id matches, * and ? allowed; may be repeated.",
)
@click.option(
    "--waivers",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Known failures that somebody takes responsibility for (YAML).",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="REPORT",
    help="Fail only on what did not fail in this report.json.",
)
@click.option("--strict", is_flag=True, help="Exit with 4 where something was left untested or undecided.")
@click.option("--quiet", is_flag=True, help="Print the verdict and failures only.")
@click.pass_context
def run(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - click gives what the options say
    """Test a target and report what it keeps of the contract.

    Exit status: 0 nothing failed; 1 a requirement failed, or a waiver has expired or is not used; 2 an option or a
    file given is wrong; 3 the target could not be tested, or the suite itself failed; 4 with --strict, something
    was left untested or undecided; 129, 130 and 143 ended by a signal.
    """
    try:
        mode = Mode.asked(read_only=given["read_only"], disposable=given["disposable"])
    except TargetFileError as error:
        raise click.UsageError(str(error)) from None
    if given["base_url"] is None and given["target"] is None and "CONFORMANCE_BASE_URL" in os.environ:
        raise click.UsageError("CONFORMANCE_BASE_URL is empty. Unset it to test the embedded service.")
    warn_of_visible_key(context)
    options = RunOptions(
        base_url=given["base_url"],
        api_key=given["api_key"],
        target=given["target"],
        mode=mode,
        effort=Effort(given["effort"]),
        seed=random.SystemRandom().randrange(2**32) if given["seed"] is None else given["seed"],
        workers=given["workers"],
        max_requests=given["max_requests"],
        max_seconds=given["max_seconds"],
        report=given["report"],
        only=given["only"],
    )
    with Interruption() as interruption, LastingOutput():
        from conformance.cli.conduct import Gate, conduct

        gate = Gate(given["waivers"], given["baseline"], strict=given["strict"])
        status = conduct(options, gate, interruption, quiet=given["quiet"])
    sys.exit(status)
