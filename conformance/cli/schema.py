"""``conformance schema``: output of the JSON Schemas of files that people and programs write and read."""

from __future__ import annotations

from importlib import resources
from typing import Final

import click

SCHEMAS: Final = ("target", "waivers", "report")


@click.command()
@click.argument("name", metavar="NAME", type=click.Choice(SCHEMAS))
def schema(name: str) -> None:
    """Print the JSON Schema NAME: target (the target file), waivers or report (report.json)."""
    click.echo(schema_text(name), nl=False)


def schema_text(name: str) -> str:
    """Return the text of a JSON Schema of the package."""
    return resources.files("conformance").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
