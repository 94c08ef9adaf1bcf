"""``conformance verify``: whether a certificate holds, without its target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.certificate.verifying import Verified

_MOST_TOLD: Final = 20


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--public-key", "key_file", required=True, metavar="FILE.pub", type=click.Path(dir_okay=False, path_type=Path),
    help="The public key of whoever you trust to sign.",
)  # fmt: skip
def verify(folder: Path, key_file: Path) -> None:
    """Verify the certificate in the folder of a run: signature, files, report, and the recording judged again.

    Exit status: 0 every claim holds; 1 one does not; 2 usage.
    """
    from rich.console import Console

    from conformance.certificate.keys import KeyFileError, read_public_key
    from conformance.certificate.verifying import verify as verify_folder
    from conformance.cli.text import usage_error

    try:
        key = read_public_key(key_file)
    except KeyFileError as error:
        raise usage_error(error) from error
    verified = verify_folder(folder, key)
    _print(Console(file=sys.stdout, highlight=False, soft_wrap=True), verified)
    sys.exit(0 if verified.holds else 1)


def _print(console: Console, verified: Verified) -> None:
    from conformance.certificate.statement import CLAIMS
    from conformance.cli.text import plain

    for claim in verified.claims:
        console.print(plain(f"✓ {claim.text}" if claim.holds else f"✗ {claim.text}", "green" if claim.holds else "red"))
        for fault in claim.faults[:_MOST_TOLD]:
            console.print(plain(f"    {fault}", limit=1000))
        if (more := len(claim.faults) - _MOST_TOLD) > 0:
            console.print(plain(f"    and {more} more"))
    if not verified.holds or verified.predicate is None:
        console.print(plain("The certificate does not hold.", "bold red"))
        return
    said = verified.predicate[CLAIMS]
    for reservation in said["reservations"]:
        console.print(plain(f"! Signed although: {reservation}", "yellow", limit=1000))
    attained = ", ".join(said["classes_attained"]) or "no class"
    sentence = f"The certificate holds: {said['target']['name']} is {said['verdict']}; attained: {attained}."
    console.print(plain(sentence, "bold"))
