"""``conformance requirements``: output of the catalogue."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from conformance.catalogue import Catalogue, load_catalogue
from conformance.cli.listing import print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@click.command()
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print everything as JSON, with open points and statements that cannot be tested.",
)
@click.option("--coverage", is_flag=True, help="Print each requirement with the checks that judge it.")
def requirements(*, as_json: bool, coverage: bool) -> None:
    """Print the catalogue of requirements."""
    catalogue = load_catalogue()
    checks = None
    if coverage:
        from conformance.verdicts.session import checks_by_entry

        checks = checks_by_entry()
    if as_json:
        click.echo(json.dumps(_document(catalogue, checks), indent=2))
    else:
        last = {"Statement": "title"} if checks is None else {"Checks": "checks"}
        columns = {"§": "section", "Requirement": "id", "Class": "conformance_class", "Since": "since", **last}
        entries = catalogue.requirements.values()
        print_table(columns, [asdict(entry) | {"checks": (checks or {}).get(entry.id, ["none"])} for entry in entries])


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
