"""``conformance sign``: certificate for the folder of a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from conformance.cli.text import printable, usage_error
from conformance.exits import Exit


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--key", "key_file", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The private key, from conformance keygen.",
)  # fmt: skip
@click.option(
    "--subject-digest",
    metavar="sha256:...",
    help="Digest of the build under test; the certificate cites it unverified.",
)
@click.option("--replace", is_flag=True, help="Replace the certificate that the folder holds.")
@click.option("--anyway", is_flag=True, help="Sign a run that would be refused, with the reasons in the statement.")
def sign(folder: Path, key_file: Path, subject_digest: str | None, *, replace: bool, anyway: bool) -> None:
    """Sign the folder of a run: write certificate.dsse.json and certificate.html to DIR.

    A run is refused if it was interrupted, waived, inconclusive or not conformant, or if re-evaluating its
    recorded exchanges gives other outcomes. Exit status: 0 signed; 1 refused; 2 usage.
    """
    from conformance.certificate.files import UncertifiableFolder
    from conformance.certificate.keys import KeyFileError, read_private_key
    from conformance.certificate.signing import Refused
    from conformance.certificate.signing import sign as sign_folder
    from conformance.certificate.statement import CLAIMS, build_digest
    from conformance.replay.recording import NotJudgeable
    from conformance.reports.sealing import ENVELOPE

    try:
        build_digest(subject_digest)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--subject-digest") from error
    if not replace and os.path.lexists(folder / ENVELOPE):
        raise click.UsageError(f"{folder} holds a certificate. --replace replaces it.")
    try:
        signed = sign_folder(folder, read_private_key(key_file), build=subject_digest, anyway=anyway)
    except (KeyFileError, NotJudgeable, UncertifiableFolder) as error:
        raise usage_error(error) from error
    except Refused as refusal:
        click.echo("Not signed:", err=True)
        for reason in refusal.reasons:
            click.echo(f"  {printable(reason, limit=1000)}", err=True)
        sys.exit(Exit.FAILED)
    claims = signed.statement["predicate"][CLAIMS]
    attained = ", ".join(claims["classes_attained"]) or "no class"
    click.echo(f"Signed by the key {signed.key}: {claims['verdict']}, {attained}.")
    for reason in claims["reservations"]:
        click.echo(f"  although: {printable(reason, limit=1000)}")
