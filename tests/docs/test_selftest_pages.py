"""Pages made from self-tests: they are fresh, and each check has failed for a faulty service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.reference.faults import all_faults
from docs.selftest_pages import convictions, coverage_lines, judging, read, with_table

ROOT = Path(__file__).parent.parent.parent
SUMMARY = ROOT / "docs" / "selftest.json"


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    """Return the summary of self-tests in the repository."""
    return read(SUMMARY)


@pytest.fixture(scope="module")
def checks() -> dict[str, list[str]]:
    """Return the checks of every requirement."""
    return judging()


def test_the_table_is_fresh(committed: dict[str, Any]) -> None:
    """The table between the marker comments is the one that docs/selftest.json gives."""
    page = (ROOT / "docs" / "selftest.md").read_text("utf-8")

    assert page == with_table(page, committed)


def test_the_coverage_is_fresh() -> None:
    """docs/coverage.md follows from the catalogue, the checks, the faults and docs/selftest.json."""
    assert (ROOT / "docs" / "coverage.md").read_text("utf-8") == "\n".join(coverage_lines(SUMMARY)) + "\n"


def test_every_check_has_convicted_a_service(committed: dict[str, Any], checks: dict[str, list[str]]) -> None:
    """Each check has failed for a faulty service, so each check can fail."""
    detecting = {check for _, check in convictions(committed)}

    assert sorted({check for found in checks.values() for check in found} - detecting) == []


def test_every_requirement_was_found_broken(committed: dict[str, Any], checks: dict[str, list[str]]) -> None:
    """Each requirement was reported for at least one faulty service."""
    assert sorted(checks.keys() - {requirement for requirement, _ in convictions(committed)}) == []


def test_the_summary_is_of_this_suite(committed: dict[str, Any], checks: dict[str, list[str]]) -> None:
    """The summary names no fault, requirement or check that no longer exists."""
    known = {(requirement, check) for requirement, found in checks.items() for check in found}

    assert sorted(committed["convictions"].keys() - all_faults().keys()) == []
    assert sorted(convictions(committed).keys() - known) == []


def test_no_conforming_service_was_accused(committed: dict[str, Any]) -> None:
    """The committed self-test has no false alarm."""
    assert committed["figures"]["latitudes"] > 0
    assert committed["figures"]["false_alarms"] == 0
