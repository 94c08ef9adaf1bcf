"""Lists of faults and latitudes: selection by a pattern, and output as a table or as JSON."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from conformance.cli.text import open_console
from conformance.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def matching(pattern: str, known: Iterable[str], kind: str) -> list[str]:
    """Return the names that match a pattern, sorted.

    A pattern without ``*`` and ``?`` is a name, or else a part of one.

    Raises:
        click.UsageError: No name matches.
    """
    names = sorted(known)
    is_whole = pattern in names or any(sign in pattern for sign in "*?[")
    found = [name for name in names if fnmatchcase(name, pattern if is_whole else f"*{pattern}*")]
    if not found:
        raise click.UsageError(f"No {kind} matches {pattern!r}{suggestion(pattern, names)}")
    return found


def print_entries(columns: Mapping[str, str], entries: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print entries as JSON or as a table; see ``print_table``."""
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
    else:
        print_table(columns, entries)


def print_table(columns: Mapping[str, str], entries: Iterable[Mapping[str, Any]]) -> None:
    """Print entries as a table.

    Args:
        columns: The headings, each with the name of its member.
        entries: The entries; a list has a line for each item.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in columns:
        table.add_column(heading, overflow="fold")
    for entry in entries:
        values = (entry[member] for member in columns.values())
        table.add_row(*("\n".join(value) if isinstance(value, list) else value for value in values))
    open_console().print(table)
