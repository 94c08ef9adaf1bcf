"""The options that say which target is meant, shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--base-url``, ``--api-key`` and ``--target`` to a command."""
    for option in (
        click.option("--target", type=click.Path(path_type=Path), metavar="FILE", help="The target file (YAML)."),
        click.option("--api-key", envvar="CONFORMANCE_API_KEY", help="A full key; $CONFORMANCE_API_KEY is safer."),
        click.option("--base-url", envvar="CONFORMANCE_BASE_URL", help="Where the target is."),
    ):
        command = option(command)
    return command


def warn_of_visible_key(context: click.Context) -> None:
    """Say so where a key stands on the command line."""
    if context.get_parameter_source("api_key") is click.core.ParameterSource.COMMANDLINE:
        click.echo("Warning: other users of this machine can read --api-key; $CONFORMANCE_API_KEY is safer.", err=True)
