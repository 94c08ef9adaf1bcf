"""Subjects of the self-test."""

from __future__ import annotations

import pytest

from conformance.cli.selftest import _announcement, _subjects
from conformance.reference.faults import Fault, all_faults
from conformance.reference.latitude import POINTS, Latitude
from conformance.reference.service import Service
from conformance.running.options import Effort
from conformance.selftest import subjects
from conformance.selftest.pairwise import all_pairs
from conformance.selftest.subjects import EXCLUDED, HARD, Subject


def test_every_fault_is_a_subject() -> None:
    """Without a pattern every fault is a subject and names its requirement."""
    found = subjects.faults()

    assert {subject.id for subject in found} == set(all_faults())
    assert all(subject.kind == "fault" and subject.breaks and not subject.choices for subject in found)


def test_pattern_selects_faults() -> None:
    """A pattern selects the faults whose ids match."""
    assert {subject.id for subject in subjects.faults("archived-edit-4*")} == {"archived-edit-401", "archived-edit-404"}
    assert subjects.faults("none") == []


def test_drawn_faults_are_subjects() -> None:
    """Drawn faults come from their seed, or from an id, and need no socket; an unknown id is an error."""
    found = subjects.drawn(3, 1)
    (named,) = subjects.faults(found[0].id)

    assert named == found[0]
    assert [subject.kind for subject in found] == ["drawn"] * 3
    assert all(subject.is_faulty and subject.breaks and not subject.is_about_transport for subject in found)
    assert {subject.id for subject in _subjects((), (), None, 1, (3, 1))} == {subject.id for subject in found}
    assert {subject.kind for subject in _subjects(("archive-*",), (), None, 1, (3, 1))} == {"fault", "drawn"}
    with pytest.raises(LookupError, match="drawn-x"):
        subjects.faults("drawn-x")


def test_every_value_of_every_open_point_is_a_subject() -> None:
    """Each value that is not the default has a subject of its own, after the default service."""
    found = subjects.latitudes()

    assert len(found) == 1 + sum(len(point.values) - 1 for point in POINTS.values())
    assert found[0] == Subject("default", "latitude", found[0].title)
    assert all(
        len(subject.choices) == 1 and Latitude(subject.choices).deviations == subject.choices for subject in found[1:]
    )


def test_pattern_selects_values() -> None:
    """A pattern selects the choices that match."""
    assert [subject.id for subject in subjects.latitudes("pace=*")] == ["pace=slow", "pace=uneven"]


def test_hard_choices_exist() -> None:
    """Hard choices are values of latitudes."""
    assert all(value in POINTS[name].values for name, value in HARD)
    assert Subject("x", "latitude", "", choices={"rate_limit": "tight"}).is_hard
    assert not Subject("x", "latitude", "", choices={"company": "busy"}).is_hard


def test_mixtures_come_from_the_seed() -> None:
    """The same seed gives the same services, another seed others; each chooses at every latitude."""
    assert subjects.mixtures(3, 1) == subjects.mixtures(3, 1)
    assert subjects.mixtures(3, 1) != subjects.mixtures(3, 2)
    assert all(subject.choices.keys() == POINTS.keys() for subject in subjects.mixtures(3, 1))


def test_every_two_choices_meet() -> None:
    """The covering services contain every allowed pair of choices, and no excluded one."""
    covering = subjects.covering(1)

    assert subjects.share_of_pairs(covering) == 1
    assert subjects.share_of_pairs(covering[:-1]) < 1
    assert all(
        Latitude(subject.choices) and EXCLUDED.isdisjoint(subjects.pairs(subject.choices)) for subject in covering
    )


def test_every_two_choices_of_transport_meet_on_connections() -> None:
    """A few services with a socket cover all transport pairs; random services need no socket."""
    covering = subjects.covering(1)
    of_transport = {name: POINTS[name].values for name in subjects.TRANSPORT}
    on_connections = [subject for subject in covering if subject.is_about_transport]

    met = {pair for subject in on_connections for pair in subjects.pairs(subject.choices)}

    assert set(all_pairs(of_transport)) <= met
    assert len(on_connections) < len(covering) / 2
    assert not any(subject.is_about_transport for subject in subjects.mixtures(5, 1))


def test_mixtures_exclude_what_must_not_meet() -> None:
    """Random services contain no excluded pair."""
    assert all(EXCLUDED.isdisjoint(subjects.pairs(subject.choices)) for subject in subjects.mixtures(30, 5))


def test_share_of_pairs_of_nothing() -> None:
    """The share of no services is 0."""
    assert subjects.share_of_pairs([]) == 0
    assert 0 < subjects.share_of_pairs(subjects.mixtures(1, 1)) < 0.2


def test_patterns_add_up() -> None:
    """Several patterns select faults and choices, each once."""
    found = _subjects(("page-*", "page-*"), ("default", "pace=*"), 0, 1)

    kinds = [(identifier.kind, identifier.id) for identifier in found]
    assert len(set(kinds)) == len(kinds)
    assert [identifier for kind, identifier in kinds if kind == "latitude"] == ["default", "pace=slow", "pace=uneven"]
    assert {identifier.partition("-")[0] for kind, identifier in kinds if kind == "fault"} == {"page"}


@pytest.mark.parametrize(
    ("patterns", "values", "latitudes", "kinds"),
    [
        ((), (), None, {"fault", "latitude", "combination"}),
        (("archive-*",), (), None, {"fault"}),
        ((), ("pace=*",), None, {"latitude"}),
        ((), (), 3, {"combination"}),
        (("archive-*",), ("pace=*",), 3, {"fault", "latitude", "combination"}),
    ],
    ids=["nothing chosen", "faults", "values", "combinations", "all three"],
)
def test_a_choice_leaves_the_other_kinds_out(
    patterns: tuple[str, ...], values: tuple[str, ...], latitudes: int | None, kinds: set[str]
) -> None:
    """``--faults X`` tries X and nothing else, and likewise for the other choices."""
    assert {subject.kind for subject in _subjects(patterns, values, latitudes, 1)} == kinds


def test_chosen_requirements_leave_out_the_faults_of_others() -> None:
    """``--only X`` tries the faults that break X, and conforming services."""
    found = _subjects((), (), None, 1, only=("archive-keeps-content",))

    assert {subject.kind for subject in found} == {"fault", "latitude", "combination"}
    assert all("archive-keeps-content" in subject.breaks for subject in found if subject.is_faulty)


def test_the_number_of_trials_and_their_time_are_announced() -> None:
    """The announcement counts the kinds, and estimates the time from the number of cores."""
    found = _subjects(("archive-late", "archive-later"), ("pace=slow",), 0, 1)

    assert _announcement(found, 2, 0, Effort.QUICK) == "3 trials (2 faults, 1 latitude), about 10 seconds"
    assert _announcement(subjects.drawn(2, 1), 2, 0, Effort.QUICK) == "2 trials (2 drawn faults), about 10 seconds"
    assert _announcement(found * 100, 2, 0, Effort.QUICK) == "300 trials (200 faults, 100 latitudes), about 5 minutes"
    assert _announcement(found * 100, 2, 1000, Effort.STANDARD).endswith("about 19 minutes")


def test_a_fault_breaks_requirements_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt requirement is refused with a suggestion, before anything is tried."""
    misspelt = Fault("reads-twice", "It reads.", ("get-engagement-field",), Service)
    monkeypatch.setattr("conformance.selftest.subjects.all_faults", lambda: {misspelt.id: misspelt})

    with pytest.raises(LookupError, match="breaks get-engagement-field, which is no requirement; did you mean get-eng"):
        subjects.faults("reads-*")
