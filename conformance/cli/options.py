"""Options that select the target, shared by several commands."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.running.intent import API_KEY, BASE_URL
from conformance.targets.challenge import CHALLENGE
from conformance.targets.connection import VARIABLES, Connection
from conformance.targets.loading import address_in, profile_of
from conformance.targets.yaml_entries import TargetFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.targets.profile import Mode, Profile

FOUND: Final = Path("conformance.yaml")
"""The default target file, in the current directory."""

_HOURS: Final = {"h": 1, "d": 24}


class Challenge(click.ParamType[str]):
    """A challenge, from ``conformance challenge`` or of the certifier's own."""

    name = "challenge"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the challenge."""
        if CHALLENGE.fullmatch(value) is None:
            self.fail("expected 16 to 64 letters, digits, hyphens and underscores.", param, ctx)
        return value


class Age(click.ParamType[timedelta]):
    """A number of days or hours, such as 90d or 12h.

    Args:
        least: The least number of hours.
    """

    name = "age"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def convert(self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the length of time."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([0-9]{1,5})([dh])", value)
        hours = -1 if found is None else int(found[1]) * _HOURS[found[2]]
        if hours < self._least:
            self.fail(f"{value!r} is not an age of {self._least}h or more, such as 12h or 90d.", param, ctx)
        return timedelta(hours=hours)


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--base-url``, ``--api-key`` and ``--target`` to a command."""
    for option in (
        click.option("--target", type=click.Path(path_type=Path), metavar="FILE", help="The target file (YAML)."),
        click.option(
            "--api-key",
            envvar=API_KEY,
            help="A full API key. Prefer $CONFORMANCE_API_KEY: other users can read command lines.",
        ),
        click.option("--base-url", envvar=BASE_URL, help="Base URL of the target."),
    ):
        command = option(command)
    return command


def connection_options(command: Callable[..., Any], user_agent: str = "the suite's") -> Callable[..., Any]:
    """Add the connection options to a command; its help names the ``user_agent`` that is sent by default."""
    file = click.Path(path_type=str)
    for option in (
        click.option("--cert-key", type=file, metavar="FILE", help="The key of the client certificate (PEM)."),
        click.option("--cert", type=file, metavar="FILE", help="A client certificate (PEM)."),
        click.option("--proxy", metavar="URL", help="The http, https or socks5 proxy to use."),
        click.option("--ca-file", type=file, metavar="FILE", help="The certificate authorities to trust (PEM)."),
        click.option("--rate", metavar="N", help="Maximum number of requests per second."),
        click.option("--user-agent", metavar="TEXT", help=f"The User-Agent of every request.  [default: {user_agent}]"),
        click.option("--timeout", metavar="SECONDS", help="Timeout of each request.  [default: 10]"),
        click.option(
            "--header", multiple=True, metavar="'NAME: VALUE'", help="A header to send with every request. Repeatable."
        ),
    ):
        command = option(command)
    return command


def color_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--color`` to a command; ``open_console`` reads the choice from click's context."""

    def choose(context: click.Context, _: click.Parameter, value: str) -> None:
        context.color = {"always": True, "never": False}.get(value)

    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=choose,
        help="Whether to print in colors; auto: on a terminal, or as $NO_COLOR or $FORCE_COLOR says.",
    )(command)


def given_profile(given: Mapping[str, Any], mode: Mode | None = None) -> Profile:
    """Return the target that options, the environment or the target file of the current directory select.

    Raises:
        TargetFileError: They select none that can be used.
    """
    found = found_file(given["target"], given["base_url"])
    return profile_of(
        given["target"] or found,
        os.environ,
        base_url=given["base_url"],
        api_key=given["api_key"],
        mode=mode,
        is_found=found is not None,
        connection=Connection.of(os.environ, {name: given[name] for name in VARIABLES}),
    )


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
    """Return which of these options are on the command line."""
    source = click.core.ParameterSource.COMMANDLINE
    return [name for name in names if context.get_parameter_source(name) is source]


def warn_of_visible_key(context: click.Context) -> None:
    """Print a warning for each option of the command line that contains a secret."""
    for name in given_options(context, "api_key", "header", "proxy"):
        if name != "proxy" or "@" in context.params[name]:
            option, variable = f"--{name.replace('_', '-')}", f"$CONFORMANCE_{name.upper()}"
            click.echo(f"Warning: other users of this machine can read {option}; {variable} is safer.", err=True)
