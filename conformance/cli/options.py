"""Options that select the target, shared by several commands."""

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
"""The default target file, in the current directory."""


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--base-url``, ``--api-key`` and ``--target`` to a command."""
    for option in (
        click.option("--target", type=click.Path(path_type=Path), metavar="FILE", help="The target file (YAML)."),
        click.option(
            "--api-key",
            envvar="CONFORMANCE_API_KEY",
            help="A full API key. Prefer $CONFORMANCE_API_KEY: other users can read command lines.",
        ),
        click.option("--base-url", envvar="CONFORMANCE_BASE_URL", help="Base URL of the target."),
    ):
        command = option(command)
    return command


def found_file(target: Path | None, base_url: str | None) -> Path | None:
    """Return the target file of the current directory if nothing else selects a service.

    Print the file and the address that requests go to, as the user gave neither.
    """
    if target is not None or base_url is not None or BASE_URL in os.environ or not FOUND.is_file():
        return None
    try:
        requests = f"; requests go to {address_in(FOUND, os.environ)}"
    except TargetFileError:  # loading the whole file reports the error
        requests = ""
    click.echo(f"Target file: {FOUND}{requests}")
    return FOUND


def given_options(context: click.Context, *names: str) -> list[str]:
    """Return which of these options are on the command line, in their written form."""
    source = click.core.ParameterSource.COMMANDLINE
    return [f"--{name.replace('_', '-')}" for name in names if context.get_parameter_source(name) is source]


def warn_of_visible_key(context: click.Context) -> None:
    """Print a warning if the command line contains a key."""
    if context.get_parameter_source("api_key") is click.core.ParameterSource.COMMANDLINE:
        click.echo("Warning: other users of this machine can read --api-key; $CONFORMANCE_API_KEY is safer.", err=True)
