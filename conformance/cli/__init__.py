"""The command line."""

from __future__ import annotations

import signal
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from conformance import __version__
from conformance.commit import commit

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMANDS: Final[Mapping[str, str]] = {
    "init": "Write a target file and the skeleton of a provisioner.",
    "run": "Test a target and report which requirements it meets.",
    "serve": "Run the reference service as a sandbox.",
    "requirements": "Print the catalogue of requirements.",
    "explain": "Print a requirement's page: what is sent, what is expected, and an example.",
    "faults": "List the deliberate faults of the reference service.",
    "latitudes": "List the choices of the reference service at open points.",
    "doctor": "Check a target file and its keys without writing to the target.",
    "cleanup": "Undo the changes that an interrupted run left behind.",
    "openapi": "Print the OpenAPI document of the interface.",
    "schema": "Print the JSON Schema of the target file, the waivers or the report.",
    "render": "Convert a report to another format.",
    "diff": "Compare two reports.",
    "site": "Build a static site from many reports.",
    "selftest": "Test the suite itself on faulty and on conforming services.",
    "keygen": "Generate a key for signing certificates.",
    "sign": "Sign a certificate for the folder of a run.",
    "challenge": "Give a vendor a fresh challenge for a run.",
    "countersign": "Add a certifier's signature to a certificate.",
    "verify": "Verify a certificate without the target.",
    "witness": "Repeat a share of a certificate's requirements against the service, and compare.",
}

_CATCHES_CTRL_C: Final = frozenset({"serve", "selftest"})
"""Commands that handle Ctrl-C as ``KeyboardInterrupt``; ``run`` has signal handlers of its own."""


class _Commands(click.Group):
    """A command group that imports a command's module only when needed, so that each starts quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        if cmd_name in _CATCHES_CTRL_C and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command: click.Command = getattr(import_module(f"conformance.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001 - click's signature
    if value:
        known = commit()
        click.echo(f"conformance, version {__version__}" + (f", commit {known}" if known else ""))
        ctx.exit()


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, and the commit if it is known, and exit.",
)
def main() -> None:
    """Test whether a service conforms to the organization and engagement interface."""
