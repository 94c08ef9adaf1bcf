"""``conformance keygen``: generation of a signing key."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def keygen(file: Path) -> None:
    """Generate an Ed25519 key: the private key FILE, readable by you alone, and the public key FILE.pub.

    Existing files are not overwritten.
    """
    from conformance.certificate.keys import KeyFileError, make_keys, public_path
    from conformance.cli.text import usage_error

    try:
        key = make_keys(file)
    except KeyFileError as error:
        raise usage_error(error) from error
    click.echo(f"Wrote {click.format_filename(file)} (keep it secret) and {click.format_filename(public_path(file))}.")
    click.echo(f"The key is {key}.")
