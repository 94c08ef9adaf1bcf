"""``conformance verify``: verification of a certificate without its target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from conformance.cli.requiring import Required, judged, requiring_options
from conformance.cli.text import open_console, usage_error


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--public-key", "key_file", required=True, metavar="FILE.pub", type=click.Path(dir_okay=False, path_type=Path),
    help="The public key of the signer that you trust.",
)  # fmt: skip
@requiring_options
def verify(folder: Path, key_file: Path, **required: Any) -> None:  # noqa: ANN401 - the values of click's options
    """Verify the certificate in the folder of a run: signature, files and report, and judge the recording again.

    A claim is recomputed, stated by the vendor, or not recomputed here because other versions are installed.

    Exit status: 0 no claim is wrong, and the certificate is as required; 1 a claim is wrong; 2 usage; 4 no claim is
    wrong, but the certificate is not as required; 5 another release of the suite must judge the recording.
    """
    from conformance.certificate.keys import KeyFileError, read_public_key
    from conformance.certificate.verifying import verify as verify_folder

    try:
        key = read_public_key(key_file)
    except KeyFileError as error:
        raise usage_error(error) from error
    sys.exit(judged(open_console(soft_wrap=True), verify_folder(folder, key), Required(**required)))
