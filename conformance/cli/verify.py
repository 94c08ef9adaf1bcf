"""``conformance verify``: verification of a certificate without its target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.catalogue import CLASSES
from conformance.cli.text import open_console, plain, usage_error
from conformance.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from conformance.certificate.verifying import Verified

_MOST_FAULTS: Final = 20
_CONFORMANT: Final = "conformant"


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--public-key", "key_file", required=True, metavar="FILE.pub", type=click.Path(dir_okay=False, path_type=Path),
    help="The public key of the signer that you trust.",
)  # fmt: skip
@click.option(
    "--require",
    type=click.Choice([_CONFORMANT]),
    help="The verdict that the certificate must state.  [default, without --require-class]",
)
@click.option(
    "--require-class", "classes", multiple=True, metavar="ID", type=click.Choice(list(CLASSES)),
    help="A class that must be attained; without --require any verdict is accepted. Repeatable.",
)  # fmt: skip
def verify(folder: Path, key_file: Path, *, require: str | None, classes: tuple[str, ...]) -> None:
    """Verify the certificate in the folder of a run: signature, files and report, and judge the recording again.

    Exit status: 0 every claim holds and the service is conformant; 1 a claim does not hold; 2 usage; 4 every claim
    holds, but the service is not conformant or has not attained a required class.
    """
    from conformance.certificate.keys import KeyFileError, read_public_key
    from conformance.certificate.verifying import verify as verify_folder

    try:
        key = read_public_key(key_file)
    except KeyFileError as error:
        raise usage_error(error) from error
    console, verified = open_console(soft_wrap=True), verify_folder(folder, key)
    _print_claims(console, verified)
    if not verified.holds or verified.predicate is None:
        console.print(plain("Exit 1: The certificate does not hold.", "bold red"))
        sys.exit(Exit.FAILED)
    sys.exit(_accepted(console, verified.predicate, [_CONFORMANT] if require or not classes else [], classes))


def _print_claims(console: Console, verified: Verified) -> None:
    for claim in verified.claims:
        console.print(plain(f"✓ {claim.text}" if claim.holds else f"✗ {claim.text}", "green" if claim.holds else "red"))
        for fault in claim.faults[:_MOST_FAULTS]:
            console.print(plain(f"    {fault}", limit=1000))
        if (more := len(claim.faults) - _MOST_FAULTS) > 0:
            console.print(plain(f"    and {more} more"))


def _accepted(console: Console, predicate: Mapping[str, Any], verdicts: list[str], classes: tuple[str, ...]) -> Exit:
    """Print the verdict and which requirements of the user it does not meet; return the exit status."""
    from conformance.certificate.statement import CLAIMS

    claims = predicate[CLAIMS]
    for reservation in claims["reservations"]:
        console.print(plain(f"! Signed although: {reservation}", "yellow", limit=1000))
    attained = ", ".join(claims["classes_attained"]) or "no class"
    sentence = f"The certificate holds: {claims['target']['name']} is {claims['verdict']}; attained: {attained}."
    console.print(plain(sentence, "bold"))
    if missing := list(_missing(claims, verdicts, classes)):
        console.print(plain(f"Exit 4: required is {', '.join(missing)}.", "bold red"))
        return Exit.UNDECIDED
    return Exit.OK


def _missing(claims: Mapping[str, Any], verdicts: list[str], classes: tuple[str, ...]) -> Iterator[str]:
    """Yield each required verdict and class that the certificate does not state."""
    yield from (verdict for verdict in verdicts if claims["verdict"] != verdict)
    yield from (f"the class {name}" for name in classes if name not in claims["classes_attained"])
