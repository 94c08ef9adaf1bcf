"""``conformance faults``: list of the deliberate faults of the reference service."""

from __future__ import annotations

import click

from conformance.cli.completion import complete_fault
from conformance.cli.listing import as_json_option, matching, print_entries


@click.command()
@click.argument("pattern", default="*", shell_complete=complete_fault)
@as_json_option
def faults(pattern: str, *, as_json: bool) -> None:
    """List the faults whose id contains PATTERN, or matches it with * and ?.

    Use an ID with: serve --fault ID, selftest --faults ID. A fault is made for the first requirement that it breaks.
    """
    from conformance.reference.faults import all_faults

    known = all_faults()
    entries = [
        {"id": fault.id, "title": fault.title, "breaks": list(fault.breaks), "module": fault.module}
        for fault in map(known.__getitem__, matching(pattern, known, "fault"))
    ]
    print_entries(
        {"Fault": "id", "The service": "title", "Breaks": "breaks", "Module": "module"}, entries, as_json=as_json
    )
