"""``conformance requirements``: output of the catalogue."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from conformance.catalogue import RELEASES, Catalogue, load_catalogue
from conformance.cli.text import open_console

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.catalogue import Requirement


@click.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as JSON, with open points and statements out of reach."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print docs/requirements.md.")
@click.option("--coverage", is_flag=True, help="Print each requirement with the checks that judge it.")
@click.option(
    "--selftest",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="With --coverage --markdown: the summary of a self-test, for the faults that each check found.",
)
def requirements(*, as_json: bool, as_markdown: bool, coverage: bool, selftest: Path | None) -> None:
    """Print the catalogue of requirements; with --coverage --markdown, docs/coverage.md."""
    if selftest is not None and not (coverage and as_markdown):
        raise click.UsageError("--selftest needs --coverage --markdown.")
    if coverage and as_markdown:
        from conformance.selftest.coverage import coverage_lines

        click.echo("\n".join(coverage_lines(selftest)))
        return
    catalogue = load_catalogue()
    checks = None
    if coverage:
        from conformance.verdicts.session import checks_by_entry

        checks = checks_by_entry()
    if as_json:
        click.echo(json.dumps(_document(catalogue, checks), indent=2))
    elif as_markdown:
        click.echo("\n".join(markdown_lines(catalogue)))
    else:
        open_console().print(_table(catalogue, checks))


def markdown_lines(catalogue: Catalogue) -> Iterator[str]:
    """Return the lines of the catalogue as a Markdown document."""
    yield "# Requirements"
    yield ""
    yield (
        "Made by `conformance requirements --markdown`; a test fails when it is stale. Each requirement is in the "
        f"catalogue since release {RELEASES[0]}, unless a later release follows its class."
    )
    for section in catalogue.sections:
        yield from ("", f"## {section.number}. {section.title}")
        judged = [entry for entry in catalogue.requirements.values() if entry.section == section.number]
        observed = [entry for entry in catalogue.open_points.values() if entry.section == section.number]
        beyond = [entry for entry in catalogue.out_of_reach.values() if entry.section == section.number]
        yield from _rows(("Requirement", "Class"), [(f"**{e.id}**<br>{e.title}", _class(e)) for e in judged])
        yield from _rows(
            ("Open point", "Class"), [(f"**{e.id}**<br>{e.question}", e.conformance_class) for e in observed]
        )
        yield from _rows(("Out of reach", "Why"), [(e.title, e.reason) for e in beyond])


def _class(entry: Requirement) -> str:
    return entry.conformance_class + ("" if entry.since == RELEASES[0] else f", since {entry.since}")


def _rows(headings: tuple[str, str], rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Return the lines of a Markdown table; none without rows."""
    if rows:
        yield from ("", f"| {headings[0]} | {headings[1]} |", "|---|---|")
        yield from (f"| {first} | {second} |" for first, second in rows)


def _table(catalogue: Catalogue, checks: Mapping[str, Sequence[str]] | None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("§", "Requirement", "Class", "Since", "Statement" if checks is None else "Checks"):
        table.add_column(heading, overflow="fold")
    for entry in catalogue.requirements.values():
        last = entry.title if checks is None else "\n".join(checks.get(entry.id, ["none"]))
        table.add_row(entry.section, entry.id, entry.conformance_class, entry.since, last)
    return table


def _document(catalogue: Catalogue, checks: Mapping[str, Sequence[str]] | None) -> dict[str, Any]:
    def shown(entry: Any) -> dict[str, Any]:  # noqa: ANN401 - any kind of entry
        members = asdict(entry)
        if "conformance_class" in members:
            members["class"] = members.pop("conformance_class")
        if checks is not None and "reason" not in members:
            members["checks"] = list(checks.get(entry.id, ()))
        return members

    return {
        "sections": [
            {"number": section.number, "title": section.title, "statements": dict(section.statements)}
            for section in catalogue.sections
        ],
        "requirements": [shown(entry) for entry in catalogue.requirements.values()],
        "open_points": [shown(entry) for entry in catalogue.open_points.values()],
        "out_of_reach": [shown(entry) for entry in catalogue.out_of_reach.values()],
    }
