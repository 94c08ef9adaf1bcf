"""Lists of faults and latitudes, and suggestions for misspelt names."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.reference.faults import all_faults
from conformance.reference.latitude import POINTS


def conformance(*words: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, words)


def test_all_faults_are_listed() -> None:
    """Without a pattern all faults are listed, with their titles and requirements."""
    ended = conformance("faults", "--json")

    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.output) == [
        {"id": identifier, "title": fault.title, "breaks": list(fault.breaks), "module": fault.module}
        for identifier, fault in sorted(all_faults().items())
    ]


def test_all_latitudes_are_listed() -> None:
    """Without a pattern all latitudes are listed, each with its values, the default first."""
    ended = conformance("latitudes", "--json")

    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.output) == [
        {"name": name, "question": POINTS[name].question, "values": list(POINTS[name].values)}
        for name in sorted(POINTS)
    ]


@pytest.mark.parametrize(
    ("pattern", "listed"),
    [
        ("archive-late", {"archive-late"}),
        ("archive-lat*", {"archive-late", "archive-later"}),
        ("rchive-lat", {"archive-late", "archive-later"}),
        ("?rchive-late", {"archive-late"}),
    ],
)
def test_a_pattern_selects(pattern: str, listed: set[str]) -> None:
    """A pattern is an id, a part of one, or one with wildcards."""
    ended = conformance("faults", pattern, "--json")

    assert {entry["id"] for entry in json.loads(ended.output)} == listed


def test_the_table_has_each_requirement_on_a_line() -> None:
    """The table shows the id, the title and every requirement of a fault."""
    ended = conformance("faults", "archive-again-breaks")

    heading, first, second = ended.output.splitlines()
    assert heading.split() == ["Fault", "The", "service", "Breaks", "Module"]
    assert first.split()[0] == "archive-again-breaks"
    assert first.split()[-2:] == ["no-server-error", "lifecycle"]
    assert second.strip() == "archived-again-stays-archived"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("faults", "archive-latr"), "No fault matches 'archive-latr'; did you mean archive-later or archive-late"),
        (("faults", "zzzz"), "No fault matches 'zzzz'.\n"),
        (("latitudes", "pase"), "No latitude matches 'pase'; did you mean pace?"),
        (("serve", "--fault", "archive-latr"), "There is no fault 'archive-latr'; did you mean archive-later or"),
        (("serve", "--fault", "zzzz"), "list them with: conformance faults\n"),
        (("serve", "--latitude", "archive-again=200"), "does not exist; did you mean archive_again"),
        (("serve", "--latitude", "zzzz=1"), "list them with: conformance latitudes\n"),
        (("selftest", "--faults", "drawn-zzzz"), "Draw some with: conformance selftest --drawn 10"),
        (("selftest", "--faults", "zzzz"), "List them with: conformance faults, conformance latitudes"),
    ],
)
def test_a_misspelt_name_gets_a_short_answer(words: tuple[str, ...], message: str) -> None:
    """The error suggests the nearest names, or the command that lists them."""
    ended = conformance(*words)

    assert ended.exit_code == 2
    assert message in ended.output
    assert len(ended.output) < 500
