"""``conformance verify``: verification of a certificate without its target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from conformance.cli.certificate_options import certificate_arguments, ensure_distinct, requiring_options
from conformance.cli.claims import judged
from conformance.cli.required_properties import Required
from conformance.cli.text import open_console, usage_error


@click.command()
@certificate_arguments("The public key of the signer that you trust.")
@click.option(
    "--countersigned-by", "certifier_file", metavar="FILE.pub", type=click.Path(dir_okay=False, path_type=Path),
    help="The public key of the certifier who must have countersigned.",
)  # fmt: skip
@click.option(
    "--tsa-cert", "tsa_file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The root certificates (PEM) of the time stamp authority whose time stamp is required.",
)  # fmt: skip
@requiring_options
def verify(
    folder: Path,
    vendor_file: Path,
    certifier_file: Path | None,
    tsa_file: Path | None,
    **required: Any,  # noqa: ANN401 - the values of click's options
) -> None:
    """Verify the certificate in the folder of a run: signature, files and report, and re-evaluate the recording.

    A claim is recomputed, stated by the vendor, or not recomputed here because other versions are installed.

    Exit status: 0 no claim is wrong, and the certificate is as required; 1 a claim is wrong; 2 usage; 4 no claim is
    wrong, but the certificate is not as required; 5 another release of the suite must judge the recording.
    """
    from conformance.certificate.keys import KeyFileError, read_public_key
    from conformance.certificate.time_stamps import TimeStampError, read_authorities
    from conformance.certificate.verifying import verify as verify_folder

    try:
        key = read_public_key(vendor_file)
        certifier = None if certifier_file is None else read_public_key(certifier_file)
        authorities = [] if tsa_file is None else read_authorities(tsa_file)
    except (KeyFileError, TimeStampError) as error:
        raise usage_error(error) from error
    ensure_distinct(key, certifier)
    verified = verify_folder(folder, key, certifier, authorities)
    demanded = Required(**required, countersigned=certifier is not None, stamped=bool(authorities))
    sys.exit(judged(open_console(soft_wrap=True), verified, demanded))
