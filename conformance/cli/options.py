"""The options that say which target is meant, shared by several commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.running.intent import BASE_URL
from conformance.targets.loading import address_in
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND: Final = Path("conformance.yaml")
"""The target file that a command finds by itself in the current directory."""


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--base-url``, ``--api-key`` and ``--target`` to a command."""
    for option in (
        click.option("--target", type=click.Path(path_type=Path), metavar="FILE", help="The target file (YAML)."),
        click.option("--api-key", envvar="CONFORMANCE_API_KEY", help="A full key; $CONFORMANCE_API_KEY is safer."),
        click.option("--base-url", envvar="CONFORMANCE_BASE_URL", help="Where the target is."),
    ):
        command = option(command)
    return command


def found_file(target: Path | None, base_url: str | None) -> Path | None:
    """Return the target file of the current directory if nothing else names a service.

    Say so, and where requests will go: nobody has named either.
    """
    if target is not None or base_url is not None or BASE_URL in os.environ or not FOUND.is_file():
        return None
    try:
        requests = f"; requests go to {address_in(FOUND, os.environ)}"
    except TargetFileError:  # told by whoever reads the whole file
        requests = ""
    click.echo(f"Target file: {FOUND}{requests}")
    return FOUND


def given_options(context: click.Context, *names: str) -> list[str]:
    """Return those of some options that the command line gives, as they are written there."""
    source = click.core.ParameterSource.COMMANDLINE
    return [f"--{name.replace('_', '-')}" for name in names if context.get_parameter_source(name) is source]


def warn_of_visible_key(context: click.Context) -> None:
    """Say so where a key stands on the command line."""
    if context.get_parameter_source("api_key") is click.core.ParameterSource.COMMANDLINE:
        click.echo("Warning: other users of this machine can read --api-key; $CONFORMANCE_API_KEY is safer.", err=True)
