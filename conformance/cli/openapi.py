"""``conformance openapi``: output of the OpenAPI document."""

from __future__ import annotations

import click

from conformance.interface.openapi import openapi_path


@click.command()
def openapi() -> None:
    """Print the OpenAPI document of the interface, for generators of clients."""
    click.echo(openapi_path().read_bytes(), nl=False)
