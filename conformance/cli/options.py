"""The options that say which target is meant, shared by several commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.target.loading import load_profile
from conformance.target.profile import Mode, Profile
from conformance.target.reading import TargetFileError

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


def profile_of(base_url: str | None, api_key: str | None, target: Path | None, mode: Mode | None = None) -> Profile:
    """The target that the options name.

    Raises:
        TargetFileError: They name none, or one that cannot be used.
    """
    if target is not None:
        return load_profile(target, os.environ, base_url=base_url, api_key=api_key, mode=mode)
    if base_url is None:
        raise TargetFileError("Name the target: --base-url, $CONFORMANCE_BASE_URL or --target.")
    if not api_key:
        raise TargetFileError("A key is needed: set CONFORMANCE_API_KEY, or name it in a target file.")
    return Profile.from_options(base_url, api_key, mode=mode or Mode.DEFAULT)
