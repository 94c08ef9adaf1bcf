"""``conformance challenge``: a fresh challenge of a certifier, and the list of those given."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.files import DOCUMENT, read_file
from conformance.reports.text import load_json
from conformance.targets.challenge import fresh_challenge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REGISTER: Final = Path("challenges.jsonl")
"""The default list of the challenges given, in the current directory."""


def register_option(name: str, text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option for the list of the challenges given.

    Args:
        name: The option.
        text: Its help.
    """
    file = click.Path(dir_okay=False, path_type=Path)
    return click.option(name, "register", metavar="FILE", default=REGISTER, show_default=True, type=file, help=text)


@click.command()
@register_option("--list", "The list of challenges, to which the new one is added.")
@click.option("--to", "vendor", metavar="NAME", help="The recipient of the challenge, for the list.")
def challenge(register: Path, vendor: str | None) -> None:
    """Print a fresh challenge for one run of a vendor, and add it to the list of those given.

    The vendor gives it to run --challenge, and the certifier to verify --challenge.
    """
    fresh = fresh_challenge()
    entry = {"challenge": fresh, "to": vendor, "given_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    with register.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(entry) + "\n")
    click.echo(fresh)


def given(register: Path, text: str, began: str) -> str | None:
    """Return whether and when a challenge was given, as a sentence; None without a list.

    Args:
        register: The list.
        text: The challenge.
        began: When the run began, UTC in ISO 8601.
    """
    if not register.exists():
        return None
    try:
        entry = next((entry for entry in _entries(register) if entry.get("challenge") == text), None)
    except OSError as error:
        return f"{register} cannot be read: {error.strerror}."
    if entry is None:
        return f"{register} does not have the challenge {text}."
    time, vendor = str(entry.get("given_at")), entry.get("to")
    early = f", after the run began at {began}" if began < time else ""
    return f"{register}: the challenge was given{f' to {vendor}' if vendor else ''} at {time}{early}."


def _entries(register: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a list that are JSON objects."""
    for line in read_file(register, DOCUMENT).splitlines():
        try:
            entry = load_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry
