"""Coverage of the catalogue: the checks and the faults of each requirement."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from conformance.catalogue import load_catalogue
from conformance.reference.faults import all_faults
from conformance.selftest.summary import read
from conformance.verdicts.session import checks_by_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Pair = tuple[str, str]
"""A requirement and a check that judges it."""


def judging() -> dict[str, list[str]]:
    """Return the checks of every requirement, named as in results."""
    known = load_catalogue().requirements
    found = checks_by_entry()
    return {name: [check.replace(".py::", "::") for check in found.get(name, ())] for name in known}


def convictions(content: Mapping[str, Mapping[str, Mapping[str, list[str]]]]) -> Counter[Pair]:
    """Return the number of faulty services that each check reported for each requirement.

    Args:
        content: A summary of a self-test.
    """
    return Counter(
        (requirement, check)
        for found in content["convictions"].values()
        for requirement, checks in found.items()
        for check in checks
    )


def coverage_lines(selftest: Path | None) -> Iterator[str]:
    """Return the lines of docs/coverage.md.

    Args:
        selftest: The summary of a self-test; without it there are no numbers of convictions.

    Raises:
        ValueError: The file is no such summary.
    """
    catalogue, checks, breaking = load_catalogue(), judging(), _breaking()
    convicted = convictions(read(selftest)) if selftest is not None else None
    yield "# Coverage"
    yield ""
    yield (
        "Each requirement with the checks that judge it, the number of faulty services that each check reported for "
        "it, and the faults that break it, in bold those made for it. "
        "Made by `tox -e coverage-table`; a test fails when it is stale."
    )
    for section in catalogue.sections:
        entries = [entry for entry in catalogue.requirements.values() if entry.section == section.number]
        if entries:
            yield from (
                "",
                f"## {section.number}. {section.title}",
                "",
                "| Requirement | Checks | Faults |",
                "|---|---|---|",
            )
        for entry in entries:
            judged = "<br>".join(_check(entry.id, check, convicted) for check in checks[entry.id])
            yield f"| **{entry.id}** | {judged} | {', '.join(breaking[entry.id])} |"


def _check(requirement: str, check: str, convicted: Counter[Pair] | None) -> str:
    return f"`{check}`" if convicted is None else f"`{check}` ({convicted[requirement, check]})"


def _breaking() -> dict[str, list[str]]:
    """Return the faults of each requirement, those made for it first."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    beside: defaultdict[str, list[str]] = defaultdict(list)
    for identifier, fault in sorted(all_faults().items()):
        named[fault.breaks[0]].append(f"**{identifier}**")
        for requirement in fault.breaks[1:]:
            beside[requirement].append(identifier)
    return defaultdict(list, {name: named[name] + beside[name] for name in {*named, *beside}})
