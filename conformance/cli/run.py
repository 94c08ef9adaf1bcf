"""``conformance run``: test a target and report what it keeps of the contract."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any, Final

import click

from conformance.cli.ending import ReasonedCommand
from conformance.cli.interruption import Interruption
from conformance.cli.options import found_file, given_options, warn_of_visible_key
from conformance.cli.output import LastingOutput
from conformance.running.intent import why_not_embedded
from conformance.running.options import Effort, Mode, RunOptions
from conformance.targets.yaml_entries import TargetFileError

_FOR_A_SERVICE: Final = ("api_key", "read_only", "disposable", "wait", "strict", "baseline", "waivers")
"""Options that only make sense for a service of the user's."""


@click.command(cls=ReasonedCommand)
@click.option(
    "--base-url",
    envvar="CONFORMANCE_BASE_URL",
    help="Where the target is.",
)
@click.option(
    "--api-key",
    envvar="CONFORMANCE_API_KEY",
    help="A full key. Better set $CONFORMANCE_API_KEY: others can read command lines.",
)
@click.option("--target", type=click.Path(path_type=Path), metavar="FILE", help="The target file (YAML).")
@click.option("--embedded", is_flag=True, help="Test the embedded reference service.")
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
@click.option("--class", "classes", multiple=True, metavar="ID", help="Judge only this class; may be repeated.")
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Judge only requirements of this id or class (* and ? allowed), operationId or section; may be repeated.",
)
@click.option("--skip", multiple=True, metavar="PATTERN", help="Leave out what --only would choose; may be repeated.")
@click.option("--fail-fast", is_flag=True, help="End the checks at the first failure that is not waived.")
@click.option(
    "--wait", type=click.FloatRange(0), default=0.0, metavar="SECONDS", help="Wait until the service answers at all."
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
@click.option("--strict", is_flag=True, help="Exit with 4 if a chosen requirement was left untested or undecided.")
@click.option("--quiet", is_flag=True, help="Print the verdict and failures only.")
@click.pass_context
def run(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - click gives what the options say
    """Test a target and report what it keeps of the contract.

    Exit status: 0 nothing failed; 1 a requirement failed, or a waiver has expired or is not used; 2 an option or a
    file given is wrong; 3 the target could not be tested, records are left that could be deleted, or the suite itself
    failed; 4 with --strict, a chosen requirement was left untested or undecided; 129, 130 and 143 ended by a signal.
    The last line says why a status is not 0.
    """
    try:
        mode = Mode.of_options(read_only=given["read_only"], disposable=given["disposable"])
        target = _target(context, given)
    except TargetFileError as error:
        raise click.UsageError(str(error)) from None
    warn_of_visible_key(context)
    options = RunOptions(
        **target,
        mode=mode,
        effort=Effort(given["effort"]),
        seed=random.SystemRandom().randrange(2**32) if given["seed"] is None else given["seed"],
        workers=given["workers"],
        max_requests=given["max_requests"],
        max_seconds=given["max_seconds"],
        report=given["report"],
        classes=given["classes"],
        only=given["only"],
        skip=given["skip"],
        wait=given["wait"],
        command=tuple(sys.argv[1:]),
    )
    with Interruption() as interruption, LastingOutput():
        from conformance.cli.conduct import Gate, conduct

        gate = Gate(given["waivers"], given["baseline"], strict=given["strict"], fail_fast=given["fail_fast"])
        status = conduct(options, gate, interruption, quiet=given["quiet"])
    sys.exit(status)


def _target(context: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """The options of a run that say which service is tested.

    Raises:
        TargetFileError: They contradict each other, or name none although one is most likely meant.
    """
    if given["embedded"]:
        if contradicting := given_options(context, "base_url", "api_key", "target"):
            raise TargetFileError(f"--embedded and {contradicting[0]} exclude each other.")
        return {}
    found = found_file(given["target"], given["base_url"])
    target, base_url, api_key = given["target"] or found, given["base_url"], given["api_key"]
    signs = given_options(context, *_FOR_A_SERVICE)
    if target is None and base_url is None and (why := why_not_embedded(os.environ, signs)):
        raise TargetFileError(why)
    return {"base_url": base_url, "api_key": api_key, "target": target, "is_file_found": found is not None}
