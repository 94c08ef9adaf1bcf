"""``conformance countersign``: a certifier's signature of a vendor's certificate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from conformance.cli.certificate_options import certificate_arguments, ensure_distinct, requiring_options
from conformance.cli.claims import judged
from conformance.cli.ending import say_why
from conformance.cli.required_properties import Required
from conformance.cli.text import open_console, plain, usage_error
from conformance.exits import Exit


@click.command()
@certificate_arguments("The public key of the vendor.")
@click.option(
    "--key", "key_file", required=True, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The certifier's private key, from conformance keygen.",
)  # fmt: skip
@click.option("--tsa", metavar="URL", help="The time stamp authority (RFC 3161) to ask; needs --tsa-cert.")
@click.option(
    "--tsa-cert", "tsa_file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The root certificates of the authority (PEM).",
)  # fmt: skip
@requiring_options
def countersign(
    folder: Path,
    vendor_file: Path,
    key_file: Path,
    tsa: str | None,
    tsa_file: Path | None,
    **required: Any,  # noqa: ANN401 - the values of click's options
) -> None:
    """Verify the certificate in DIR and, if it is as required, add the certifier's signature to it.

    With --tsa, certificate.tsr gets a time stamp of the signed certificate.

    Exit status: 0 countersigned; 1, 4 and 5 as for verify; 2 usage; 3 there is no time stamp, and nothing was written.
    """
    from conformance.certificate.countersigning import countersign as countersign_folder
    from conformance.certificate.files import UncertifiableFolder
    from conformance.certificate.keys import KeyFileError, read_private_key, read_public_key
    from conformance.certificate.time_stamps import TimeStampError, read_authorities
    from conformance.certificate.verifying import verify

    if (tsa is None) != (tsa_file is None):
        raise click.UsageError("--tsa and --tsa-cert need each other.")
    try:
        vendor, key = read_public_key(vendor_file), read_private_key(key_file)
        authorities = [] if tsa_file is None else read_authorities(tsa_file)
    except (KeyFileError, TimeStampError) as error:
        raise usage_error(error) from error
    ensure_distinct(vendor, key.public_key())
    console, verified = open_console(soft_wrap=True), verify(folder, vendor)
    if status := judged(console, verified, Required(**required)):
        sys.exit(status)
    try:
        signer = countersign_folder(folder, verified.envelope, key, tsa, authorities)
    except UncertifiableFolder as error:
        raise usage_error(error) from error
    except TimeStampError as error:
        sys.exit(say_why(Exit.UNTESTABLE, f"{error}.", console))
    console.print(plain(f"Countersigned by the key {signer}."))
