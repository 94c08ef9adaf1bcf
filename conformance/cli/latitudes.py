"""``conformance latitudes``: list of the reference service's choices at the points that the interface leaves open."""

from __future__ import annotations

import click

from conformance.cli.listing import as_json_option, matching, print_entries


@click.command()
@click.argument("pattern", default="*")
@as_json_option
def latitudes(pattern: str, *, as_json: bool) -> None:
    """List the latitudes whose name contains PATTERN, or matches it with * and ?.

    Use one with: serve --latitude NAME=VALUE, selftest --values NAME=VALUE. The first value is the default.
    """
    from conformance.reference.latitude import POINTS

    entries = [
        {"name": name, "question": POINTS[name].question, "values": list(POINTS[name].values)}
        for name in matching(pattern, POINTS, "latitude")
    ]
    print_entries({"Latitude": "name", "Open point": "question", "Values": "values"}, entries, as_json=as_json)
