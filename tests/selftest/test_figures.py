"""Figures of trials and their output files."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.selftest import results
from conformance.selftest.figures import Figures, TrialState, precision, state_of
from conformance.selftest.subjects import HARD, Subject
from conformance.selftest.trial import Trial
from tests.selftest.samples import RUN, VALUE

if TYPE_CHECKING:
    from pathlib import Path

FAULT = Subject("second-page-lost", "fault", "The second page is lost.", ("pages", "total"))


DRAWN = Subject("drawn-x", "drawn", "Every third page is lost.", ("pages", "total"))


def trial(subject: Subject, *reported: str, **more: Any) -> Trial:
    """Return a trial of 100 requests that reported these requirements."""
    return Trial(subject, reported={name: [f"test_{name}: wrong"] for name in reported}, requests=100, **more)


@pytest.mark.parametrize(
    ("made", "state"),
    [
        (trial(FAULT, "pages"), TrialState.KILLED),
        (trial(FAULT, "other", "pages"), TrialState.KILLED),
        (trial(FAULT, "total"), TrialState.MISNAMED),
        (trial(FAULT), TrialState.SURVIVED),
        (trial(DRAWN, "other"), TrialState.FOUND),
        (trial(DRAWN), TrialState.OVERLOOKED),
        (trial(DRAWN, errors=("KeyError",)), TrialState.BROKEN),
        (trial(VALUE), TrialState.KEPT),
        (trial(VALUE, "pages"), TrialState.FALSE_ALARM),
        (trial(FAULT, "pages", errors=("KeyError",)), TrialState.BROKEN),
        (trial(VALUE, left=("engagement 7 is still there",)), TrialState.BROKEN),
        (Trial(VALUE), TrialState.BROKEN),
    ],
)
def test_state_of_a_trial(made: Trial, state: TrialState) -> None:
    """A fault is killed if its first requirement is reported; a conforming service is kept if none is."""
    assert state_of(made) is state


def test_precision_is_the_share_of_what_was_expected() -> None:
    """Precision is the share of reported requirements that the fault breaks."""
    breaks = {"pages", "total"}
    assert precision(breaks, ["pages"]) == 1
    assert precision(breaks, ["pages", "total", "other", "more"]) == pytest.approx(0.5)
    assert precision(breaks, []) == 0


def test_a_fault_is_tried_again_where_the_first_trial_missed_it() -> None:
    """The repetition replaces a missed fault's trial; conforming services are not repeated."""
    figures = Figures()
    for made in (trial(FAULT), trial(VALUE, "pages"), trial(VALUE)):
        figures.add(made)

    assert figures.to_repeat() == [FAULT]
    assert figures.repeat(trial(FAULT, "pages")) is TrialState.KILLED
    assert figures.to_repeat() == []
    assert (figures.summary()["faults"], figures.summary()["killed"], figures.summary()["survived"]) == (1, 1, 0)
    assert (figures.summary()["repeated"], figures.summary()["false_alarms"]) == (1, 1)
    assert [made.alone for made in figures.trials] == [False, False, True]


def test_summary_counts() -> None:
    """The summary counts trials by state, and averages over found faults."""
    figures = Figures()
    for made in (
        trial(FAULT, "pages", found_after=10),
        trial(FAULT, "pages", "other", "more", found_after=30),
        trial(FAULT),
        trial(VALUE),
        trial(VALUE, undecided={"pages": "It was too slow."}),
    ):
        figures.add(made)

    summary = figures.summary()

    assert (summary["faults"], summary["killed"], summary["survived"], summary["misnamed"]) == (3, 2, 1, 0)
    assert summary["named_share"] == pytest.approx(2 / 3, abs=1e-4)
    assert (summary["reported_mean"], summary["reported_most"], summary["found_after_median"]) == (2, 3, 20)
    assert summary["precision_mean"] == pytest.approx((1 + 1 / 3) / 2, abs=1e-3)
    assert (summary["latitudes"], summary["false_alarms"], summary["undecided"]) == (2, 0, 1)
    assert not figures.good


def test_nothing_wrong_is_good() -> None:
    """Killed faults and kept services are good; a false alarm is not."""
    figures = Figures()
    figures.add(trial(FAULT, "pages"))
    figures.add(trial(VALUE))
    assert figures.good

    figures.add(trial(VALUE, "pages"))
    assert not figures.good


def test_drawn_faults_are_counted_apart() -> None:
    """Drawn faults have a share of their own, do not count for the success, and are not repeated."""
    figures = Figures()
    for made in (trial(FAULT, "pages"), trial(DRAWN, "total"), trial(replace(DRAWN, id="drawn-y"))):
        figures.add(made)
    content = results.document(figures, RUN)

    assert (content["figures"]["faults"], content["figures"]["drawn"], content["figures"]["drawn_found"]) == (1, 2, 1)
    assert content["overlooked"] == ["drawn-y"]
    assert content["good"]
    assert figures.to_repeat() == []
    assert figures.coverage().keys() == {"pages", "total"}
    assert figures.coverage()["pages"]["reported_for"] == [FAULT.id]
    assert ("Share of drawn faults found", "50.0%") in results.rows(content)
    assert "- `drawn-y`" in results.markdown(content)


def test_avoidable_undecided_requirements_are_named() -> None:
    """Each has its service and its reason; those of a service that cannot be judged whole are left out."""
    figures = Figures()
    hard = replace(VALUE, id="hard", choices=dict([min(HARD)]))
    for subject in (VALUE, hard, FAULT):
        figures.add(trial(subject, undecided={"pages": "It did not respond."}))
    content = results.document(figures, RUN)

    assert content["avoidable"] == {VALUE.id: {"pages": "It did not respond."}}
    assert content["figures"]["undecided"] == 1
    assert f"- {VALUE.id}: pages: It did not respond." in results.markdown(content)


def test_a_self_test_without_drawn_faults_has_no_share_of_them() -> None:
    """Figures of drawn faults are left out if there were none."""
    figures = Figures()
    figures.add(trial(FAULT, "pages"))
    content = results.document(figures, RUN)

    assert not [label for label, _ in results.rows(content) if "rawn" in label]
    assert "rawn" not in results.markdown(content)


def test_coverage_by_requirement() -> None:
    """Each requirement lists the faults that break it and those that it was reported for."""
    figures = Figures()
    figures.add(trial(FAULT, "pages"))

    assert figures.coverage() == {
        "pages": {"broken_by": [FAULT.id], "reported_for": [FAULT.id]},
        "total": {"broken_by": [FAULT.id], "reported_for": []},
    }


def test_files_of_a_self_test(tmp_path: Path) -> None:
    """The files contain the figures and the unwanted trials, with markup escaped."""
    hostile = Subject("odd", "fault", "<script>alert(1)</script>", ("pages",))
    figures = Figures()
    figures.add(trial(FAULT, "pages"))
    figures.add(trial(hostile, "other"))

    results.write(results.document(figures, RUN), tmp_path)

    content = json.loads((tmp_path / "selftest.json").read_text("utf-8"))
    page, text = (tmp_path / "selftest.html").read_text("utf-8"), (tmp_path / "selftest.md").read_text("utf-8")
    assert (content["format"], content["good"], len(content["trials"])) == (results.FORMAT, False, 2)
    assert content["figures"]["misnamed"] == 1
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "**odd** (misnamed)" in text
    assert "required: pages" in text
    assert FAULT.id not in text
