"""Options of the commands that verify a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.catalogue import CLASSES
from conformance.cli.challenge import register_option
from conformance.cli.options import Age, Challenge
from conformance.cli.required_properties import EFFORTS, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def certificate_arguments(key: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the folder of a certificate, and the key that must have signed it, to a command.

    Args:
        key: The help of the key.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        file, folder = click.Path(dir_okay=False, path_type=Path), click.Path(True, file_okay=False, path_type=Path)
        command = click.option("--public-key", "vendor_file", required=True, metavar="FILE.pub", type=file, help=key)(
            command
        )
        return click.argument("folder", metavar="DIR", type=folder)(command)

    return add


def ensure_distinct(vendor: Ed25519PublicKey, certifier: Ed25519PublicKey | None) -> None:
    """Ensure that a vendor does not certify its own run.

    Raises:
        click.UsageError: Both keys are the same.
    """
    if vendor == certifier:
        raise click.UsageError("The vendor's key and the certifier's are the same.")


def requiring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of ``Required`` to a command."""
    for option in (
        register_option("--challenges", "The list of challenges given; a missing file is ignored."),
        click.option(
            "--challenge",
            type=Challenge(),
            metavar="TEXT",
            help="The challenge from which the run's seed must be derived.",
        ),
        click.option("--max-age", type=Age(), help="Maximum time since the end of the run, such as 90d or 12h."),
        click.option("--effort", type=click.Choice(EFFORTS), help="Minimum effort of the run."),
        click.option(
            "--require-class",
            "classes",
            multiple=True,
            metavar="ID",
            type=click.Choice(list(CLASSES)),
            help="A class that must be attained. Repeatable.",
        ),
        click.option(
            "--require",
            "verdict",
            type=click.Choice(list(VERDICTS)),
            default="conformant",
            show_default=True,
            help="The verdict that the certificate must state: conformant, at least inconclusive, or any.",
        ),
    ):
        command = option(command)
    return command
