"""``conformance witness``: a certifier's own run of a share of a certificate's requirements."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.cli.certificate_options import certificate_arguments, ensure_distinct
from conformance.cli.claims import judged
from conformance.cli.ending import say_why
from conformance.cli.interruption import Interruption
from conformance.cli.options import (
    Challenge,
    color_option,
    connection_options,
    found_file,
    target_options,
    warn_of_visible_key,
)
from conformance.cli.output import lasting_output
from conformance.cli.required_properties import Required
from conformance.cli.text import open_console, plain, usage_error
from conformance.exits import Exit
from conformance.reports.wording import counted
from conformance.running.intent import options_of
from conformance.targets.challenge import fresh_challenge, seed_of
from conformance.targets.profile import Mode
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.certificate.witnessing import Comparison
    from conformance.cli.conduct import RunEnd
    from conformance.running.options import RunOptions

USER_AGENT: Final = "Mozilla/5.0"
"""The User-Agent without ``--user-agent``: the beginning of every browser's."""
_COMPARABLE: Final = frozenset({Exit.OK, Exit.FAILED, Exit.UNDECIDED})
_ANY: Final = Required(verdict="any", classes=(), effort=None, max_age=None, challenge=None)


@click.command()
@certificate_arguments("The public key of the vendor.")
@target_options
@click.option("--read-only", is_flag=True, help="As for run.")
@click.option("--disposable", is_flag=True, help="As for run.")
@click.option(
    "--share", type=click.FloatRange(0, 1, min_open=True), default=0.1, show_default=True,
    help="The share of the decided requirements to repeat.",
)  # fmt: skip
@click.option(
    "--challenge", type=Challenge(), metavar="TEXT",
    help="The text from which the share and the seed are derived.  [default: that of the certificate, or a fresh one]",
)  # fmt: skip
@click.option(
    "--key", "key_file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The certifier's private key, to sign the result in DIR/witness.dsse.json.",
)  # fmt: skip
@click.option(
    "--report", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the witness's own run.  [default: DIR-witness]",
)  # fmt: skip
@partial(connection_options, user_agent=USER_AGENT)
@color_option
@click.pass_context
def witness(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - the values of click's options
    """Verify the certificate in DIR, repeat a share of its requirements against the service, and compare.

    The certifier names the service and keys in a target file of its own. The run follows the rules of run: it writes
    a journal and undoes its changes.

    It compares the outcomes of the share, and the observations that both runs made and that do not vary between runs
    of one service. No verdict follows from the result.

    Exit status: 0 the witness agrees; 4 it differs; 1 and 5 as for verify; 2 usage; 3 the target could not be tested,
    or records are left; 129, 130 and 143 a signal ended the run.
    """
    from conformance.certificate.envelope import opened, sealed
    from conformance.certificate.keys import KeyFileError, read_private_key, read_public_key
    from conformance.certificate.verifying import verify
    from conformance.certificate.witnessing import attestation, compared, drawn
    from conformance.reports.atomic_files import place
    from conformance.reports.sealing import WITNESS
    from conformance.reports.text import json_bytes

    warn_of_visible_key(context)
    try:
        options = _options(given)
        vendor = read_public_key(given["vendor_file"])
        key = None if given["key_file"] is None else read_private_key(given["key_file"])
    except (TargetFileError, KeyFileError) as error:
        raise usage_error(error) from error
    ensure_distinct(vendor, None if key is None else key.public_key())
    console, verified = open_console(soft_wrap=True), verify(given["folder"], vendor)
    if (status := judged(console, verified, _ANY)) or verified.recording is None:
        sys.exit(status)
    challenge = given["challenge"] or verified.recording.inputs.options.challenge or fresh_challenge()
    share = drawn(verified.recording.report, challenge, given["share"])
    if not share:
        sys.exit(say_why(Exit.UNTESTABLE, "the certificate's run decided no requirement.", console))
    options = replace(
        options,
        challenge=challenge,
        seed=seed_of(challenge),
        effort=verified.recording.inputs.options.effort,
        only=share,
    )
    console.print(plain(f"The witness repeats {counted(len(share), 'requirement')}, drawn from {challenge}."))
    end = _run(options)
    report, status = end.report, end.status
    if report is None or status not in _COMPARABLE:
        sys.exit(say_why(Exit.UNTESTABLE if status in _COMPARABLE else status, end.why, console))
    certified, tested = (found["target"]["base_url"] for found in (verified.recording.report, report))
    if certified != tested:
        console.print(plain(f"! The certificate is about {certified}, and the witness's run about {tested}.", "yellow"))
    comparison = compared(verified.recording.report, report)
    status = _printed(console, comparison)
    if key is not None and status is not Exit.UNTESTABLE:
        envelope = sealed(json_bytes(attestation(opened(verified.envelope, vendor), report, comparison)), key)
        try:
            place({given["folder"] / WITNESS: envelope})
        except OSError as error:
            raise click.UsageError(f"{given['folder'] / WITNESS} cannot be written: {error.strerror}.") from error
    sys.exit(status)


def _options(given: dict[str, Any]) -> RunOptions:
    """Return the options of the run that do not follow from the certificate.

    Raises:
        TargetFileError: They select no service.
    """
    folder, found = given["folder"].resolve(), found_file(given["target"], given["base_url"])
    if (given["target"] or found or given["base_url"]) is None:
        raise TargetFileError("Name the service: --target FILE or --base-url URL.")
    service = options_of(given, os.environ, found)
    return replace(
        service,
        connection=replace(service.connection, usual_agent=USER_AGENT),
        mode=Mode.of_options(read_only=given["read_only"], disposable=given["disposable"]),
        report=given["report"] or folder.parent / f"{folder.name}-witness",
    )


def _run(options: RunOptions) -> RunEnd:
    """Carry out the witness's run."""
    from conformance.cli.conduct import carry_out
    from conformance.cli.events import EventLog
    from conformance.cli.gate import GateOptions

    with Interruption() as interruption, lasting_output():
        return carry_out(options, GateOptions(), interruption, EventLog(None), quiet=False)


def _printed(console: Console, comparison: Comparison) -> Exit:
    """Print a comparison and return the exit status."""
    if comparison.open:
        names = ", ".join(comparison.open)
        console.print(plain(f"? not compared, because only one of the runs decided them: {names}.", limit=1000))
    for difference in comparison.differences:
        console.print(plain(f"! {difference}", "yellow", limit=1000))
    if comparison.differences:
        extent = f"{len(comparison.differences)} of {comparison.extent}"
        return say_why(Exit.UNDECIDED, f"the witness differs in {extent}. No verdict follows from that.", console)
    if not comparison.outcomes:
        return say_why(Exit.UNTESTABLE, "the witness could decide none of the requirements.", console)
    console.print(plain(f"The witness agrees: {comparison.extent} are the same. No verdict follows from that.", "bold"))
    return Exit.OK
