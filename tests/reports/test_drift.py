"""Changes between two runs."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from conformance.reports.drift import compare, drift_json, drift_markdown, drift_text

if TYPE_CHECKING:
    from types import ModuleType

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


@pytest.fixture
def pair(failing: tuple[Report, list[Exchange]], passing: tuple[Report, list[Exchange]]) -> tuple[Report, Report]:
    """A passing run and a failing run of the same service."""
    return passing[0], failing[0]


def test_a_run_does_not_differ_from_itself(failing: tuple[Report, list[Exchange]]) -> None:
    """The output says that there is no difference."""
    drift = compare(failing[0], deepcopy(failing[0]))

    assert not any((drift.regressions, drift.mended, drift.other, drift.observations, drift.unmatched))
    assert drift_text(drift) == "No difference.\n"
    assert "No difference." in drift_markdown(drift)


@pytest.mark.parametrize(
    ("old", "new", "group"),
    [
        ("passed", "failed", "regressions"),
        ("cantTell", "failed", "regressions"),
        ("untested", "failed", "regressions"),
        ("waived", "failed", "regressions"),
        (None, "failed", "regressions"),
        ("failed", "passed", "mended"),
        ("waived", "passed", "mended"),
        ("failed", "cantTell", "other"),
        ("failed", "waived", "other"),
        ("passed", "waived", "other"),
        ("passed", "cantTell", "other"),
        ("passed", "untested", "other"),
        ("cantTell", "passed", "other"),
        ("passed", None, "other"),
        ("failed", None, "other"),
        (None, "passed", "other"),
    ],
)
def test_every_change_of_outcome_has_its_place(
    samples: ModuleType, old: str | None, new: str | None, group: str
) -> None:
    """Each change is in exactly one group: regressions, mended or other."""
    drift = compare(_report(samples, old), _report(samples, new))

    (change,) = getattr(drift, group)
    assert (change.id, change.old, change.new) == ("x", old, new)
    assert sum(len(getattr(drift, name)) for name in ("regressions", "mended", "other")) == 1


def _report(samples: ModuleType, outcome: str | None) -> Report:
    if outcome is None:
        return samples.report([])  # type: ignore[no-any-return]
    waived = outcome == "waived"
    failures = [samples.failure([])] if outcome in {"failed", "waived"} else []
    listed = [
        samples.requirement("x", "Title", outcome="failed" if waived else outcome, waived=waived, failures=failures)
    ]
    return samples.report(listed)  # type: ignore[no-any-return]


def test_observations_that_changed_are_drift(passing: tuple[Report, list[Exchange]]) -> None:
    """Different observations of both runs are drift; an observation of only one run is listed separately."""
    new = deepcopy(passing[0])
    new["observations"][0]["observed"] = "accepted"
    new["observations"][1]["exchanges"] = [9]
    del new["observations"][2]

    drift = compare(passing[0], new)

    assert [(change.id, change.old, change.new) for change in drift.observations] == [
        ("duplicate-name", "rejected with 409 CONFLICT", "accepted")
    ]
    assert [(change.id, change.new) for change in drift.unmatched] == [("success-status-create", None)]
    assert drift.drifted
    assert not drift.regressions


def test_the_renderings_tell_every_change(pair: tuple[Report, Report]) -> None:
    """Text, Markdown and JSON name the same requirements."""
    drift = compare(*pair)
    document = json.loads(drift_json(drift))

    assert set(document) == {"regressions", "mended", "other", "observations", "unmatched"}
    assert len(drift.regressions) == 2
    for change in (*drift.regressions, *drift.other):
        assert change.id in drift_text(drift)
        assert change.id in drift_markdown(drift)
    assert [change["id"] for change in document["regressions"]] == [change.id for change in drift.regressions]


def test_hostile_text_is_harmless_in_every_rendering(samples: ModuleType) -> None:
    """No control characters in the terminal, no markup in Markdown, bounded in both."""
    drift = compare(samples.report(), samples.hostile()[0])

    assert drift_text(drift).replace("\n", "").isprintable()
    tokens = [
        token
        for block in MarkdownIt("gfm-like", {"linkify": False}).parse(drift_markdown(drift))
        for token in (block, *(block.children or []))
    ]
    assert not [
        token for token in tokens if token.type in {"link_open", "image", "html_inline", "html_block", "code_inline"}
    ]
    assert len(drift_markdown(drift)) < 30_000
    json.loads(drift_json(drift))
