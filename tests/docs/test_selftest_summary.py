"""Summary of self-tests, and the pages generated from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.selftest import results
from conformance.selftest.figures import Figures
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Trial
from docs.selftest_pages import (
    BEGIN,
    END,
    convictions,
    coverage_lines,
    merged,
    read,
    summary,
    table,
    trial_of,
    with_table,
    write,
)
from tests.selftest.samples import RUN, VALUE

FAULT = Subject("archived-edit-401", "fault", "An edit is refused with 401.", ("archived-edit-refused",))
OTHER = Subject("archived-edit-404", "fault", "An edit is refused with 404.", ("archived-edit-refused",))


def convicted(subject: Subject, *checks: str) -> Trial:
    """Return a trial in which these checks found the fault."""
    (requirement,) = subject.breaks
    return Trial(
        subject,
        reported={requirement: [f"{check}: wrong" for check in checks]} if checks else {},
        detecting={requirement: sorted(checks)} if checks else {},
        requests=100,
        found_after=10 if checks else None,
    )


def document(*trials: Trial) -> dict[str, object]:
    """Return the content of selftest.json of these trials."""
    figures = Figures()
    for trial in trials:
        figures.add(trial)
    found: dict[str, object] = json.loads(json.dumps(results.document(figures, RUN)))
    return found


def test_trials_come_back_from_their_entries() -> None:
    """An entry of selftest.json gives the same trial."""
    made = convicted(FAULT, "test_a::test_b")

    assert [trial_of(entry) for entry in document(made)["trials"]] == [made]  # type: ignore[attr-defined]


def test_summary_of_two_self_tests() -> None:
    """Each subject counts once in the figures, with its first trial; all convictions count."""
    first = document(convicted(FAULT, "test_a::test_b"), Trial(VALUE, requests=7))
    second = document(convicted(FAULT, "test_a::test_c"), convicted(OTHER))

    made = summary([first, second])

    assert made["figures"]["faults"] == 2
    assert made["figures"]["latitudes"] == 1
    assert made["figures"]["requests"] == 207
    assert made["bad"] == {OTHER.id: "survived"}
    assert not made["good"]
    assert made["convictions"] == {
        FAULT.id: {"archived-edit-refused": ["test_a::test_b", "test_a::test_c"]},
        OTHER.id: {},
    }
    assert convictions(made) == {
        ("archived-edit-refused", "test_a::test_b"): 1,
        ("archived-edit-refused", "test_a::test_c"): 1,
    }


def test_a_self_test_of_some_faults_is_merged() -> None:
    """Its faults are renewed or added, and what they are reported as; the figures of conforming services stay."""
    earlier = summary([document(convicted(FAULT, "test_a::test_b"), convicted(OTHER), Trial(VALUE, requests=7))])
    new = Subject("archived-edit-500", "fault", "An edit is refused with 500.", ("archived-edit-refused",))

    renewed = merged(earlier, [document(convicted(OTHER, "test_a::test_c"))])
    added = merged(renewed, [document(convicted(new))])

    assert (earlier["bad"], renewed["bad"], added["bad"]) == ({OTHER.id: "survived"}, {}, {new.id: "survived"})
    assert (earlier["good"], renewed["good"], added["good"]) == (False, True, False)
    assert [made["figures"]["faults"] for made in (earlier, renewed, added)] == [2, 2, 3]
    assert [made["figures"]["killed"] for made in (earlier, renewed, added)] == [1, 2, 2]
    assert added["figures"]["named_share"] == 0.6667
    assert (renewed["figures"]["reported_mean"], added["figures"]["reported_mean"]) == (1.0, 0.667)
    assert added["figures"]["precision_mean"] == 0.667
    assert added["figures"]["latitudes"] == 1
    assert added["figures"]["requests"] == earlier["figures"]["requests"]
    assert list(added["convictions"]) == sorted({FAULT.id, OTHER.id, new.id})
    assert added["convictions"][OTHER.id] == {"archived-edit-refused": ["test_a::test_c"]}
    assert len(added["runs"]) == 3


def test_summary_keeps_convictions_of_faults_that_met_few_checks() -> None:
    """Earlier convictions are kept for faults that met only a few checks now."""
    earlier = summary([document(convicted(FAULT, "test_a::test_b"), convicted(OTHER, "test_a::test_b"))])
    few = replace(convicted(FAULT, "test_a::test_c"), whole=False)

    made = summary([document(few, convicted(OTHER, "test_a::test_c"))], earlier)

    assert made["convictions"] == {
        FAULT.id: {"archived-edit-refused": ["test_a::test_b", "test_a::test_c"]},
        OTHER.id: {"archived-edit-refused": ["test_a::test_c"]},
    }


def test_written_summary_is_read_back(tmp_path: Path) -> None:
    """The written summary has a line for each fault."""
    made = summary([document(convicted(FAULT, "test_a::test_b"), convicted(OTHER))])
    path = tmp_path / "selftest.json"

    write(made, path)

    assert read(path) == made
    assert sum(line.startswith('  "archived-edit-') for line in path.read_text().splitlines()) == 2


def test_other_files_are_no_summary(tmp_path: Path) -> None:
    """A file of another format is refused."""
    path = tmp_path / "selftest.json"
    path.write_text(json.dumps(document(convicted(FAULT))))

    with pytest.raises(ValueError, match="no summary"):
        read(path)


def test_table_stands_between_its_marks() -> None:
    """The table between the marks is replaced; a second call changes nothing."""
    made = summary([document(convicted(FAULT, "test_a::test_b"))])

    page = with_table(f"before\n{BEGIN}\nold\n{END}\nafter\n", made)

    assert page == "\n".join(("before", BEGIN, "", *table(made), "", END, "after", ""))
    assert "| Faults | 1 |" in page
    assert with_table(page, made) == page


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_page_without_its_marks_is_refused(page: str) -> None:
    """A page without each mark exactly once is refused."""
    with pytest.raises(ValueError, match="must have the marks"):
        with_table(page, summary([document(convicted(FAULT))]))


def test_coverage_lists_checks_convictions_and_faults(tmp_path: Path) -> None:
    """A line contains the requirement, its checks with their convictions, and its faults."""
    path = tmp_path / "summary.json"
    check = "test_s3_archiving::test_edit_of_archived_engagement_is_refused"
    write(summary([document(convicted(FAULT, check), convicted(OTHER, check))]), path)

    (line,) = [line for line in coverage_lines(path) if line.startswith("| **archived-edit-refused** |")]

    assert f"`{check}` (2)" in line
    assert f"**{FAULT.id}**" in line
