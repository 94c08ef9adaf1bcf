"""``conformance challenge``: a fresh challenge of a certifier."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from conformance.targets.challenge import fresh_challenge


@click.command()
@click.option(
    "--list", "register", metavar="FILE", default="challenges.jsonl", show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The list of challenges, to which the new one is added.",
)  # fmt: skip
@click.option("--to", "vendor", metavar="NAME", help="The recipient of the challenge, for the list.")
def challenge(register: Path, vendor: str | None) -> None:
    """Print a fresh challenge for one run of a vendor, and add it to the list of those given.

    The vendor gives it to run --challenge, and the certifier to verify --challenge.
    """
    fresh = fresh_challenge()
    given = {"challenge": fresh, "to": vendor, "given_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    with register.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(given) + "\n")
    click.echo(fresh)
