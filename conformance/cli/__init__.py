"""The command line."""

from __future__ import annotations

import signal
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from conformance import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMANDS: Final[Mapping[str, str]] = {
    "run": "Test a target and report what it keeps of the contract.",
    "serve": "Run the reference service as a sandbox.",
    "requirements": "Print the catalogue of requirements.",
    "doctor": "Say what a target file unlocks, without writing to the target.",
    "cleanup": "Undo what an interrupted run has left.",
    "render": "Make other formats from a report.",
    "diff": "Compare two reports.",
    "site": "Build a static site from many reports.",
    "selftest": "Try the suite on faulty and on conforming services.",
    "keygen": "Make a key to sign certificates with.",
    "sign": "Certify the folder of a run.",
    "verify": "Verify a certificate without the target.",
}

_CATCHES_CTRL_C: Final = frozenset({"serve", "selftest"})
"""Commands that end in order by Python's own exception for Ctrl-C; ``run`` watches for signals by itself."""


class _Commands(click.Group):
    """Loads a command's module when it is asked for, so that each starts quickly."""

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


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="conformance")
def main() -> None:
    """Tell whether a service keeps the contract of the organization and engagement interface."""
