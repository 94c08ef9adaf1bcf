"""What the suite is tried on."""

from __future__ import annotations

from conformance.cli.selftest import _subjects
from conformance.reference.faults import all_faults
from conformance.reference.latitude import POINTS, Latitude
from conformance.selftest import subjects
from conformance.selftest.pairwise import all_pairs
from conformance.selftest.subjects import EXCLUDED, HARD, Subject


def test_every_fault_is_a_subject() -> None:
    """Without a pattern every fault is tried, and names what has to be reported."""
    found = subjects.faults()

    assert {one.id for one in found} == set(all_faults())
    assert all(one.kind == "fault" and one.breaks and not one.choices for one in found)


def test_pattern_selects_faults() -> None:
    """A pattern with a star keeps the faults whose ids match."""
    assert {one.id for one in subjects.faults("archived-edit-4*")} == {"archived-edit-401", "archived-edit-404"}
    assert subjects.faults("none") == []


def test_every_value_of_every_open_point_is_a_subject() -> None:
    """Each value that is not the default stands alone once, beside the service of defaults."""
    found = subjects.latitudes()

    assert len(found) == 1 + sum(len(point.values) - 1 for point in POINTS.values())
    assert found[0] == Subject("default", "latitude", found[0].title)
    assert all(len(one.choices) == 1 and Latitude(one.choices).deviations == one.choices for one in found[1:])


def test_pattern_selects_values() -> None:
    """A pattern with a star keeps the choices that match."""
    assert [one.id for one in subjects.latitudes("pace=*")] == ["pace=slow", "pace=uneven"]


def test_hard_choices_exist() -> None:
    """What is documented as hard are values of open points."""
    assert all(value in POINTS[name].values for name, value in HARD)
    assert Subject("x", "latitude", "", choices={"company": "busy"}).is_hard
    assert not Subject("x", "latitude", "", choices={"company": "none"}).is_hard


def test_mixtures_come_from_the_seed() -> None:
    """The same seed gives the same services, another one gives others, and each chooses at every point."""
    assert subjects.mixtures(3, 1) == subjects.mixtures(3, 1)
    assert subjects.mixtures(3, 1) != subjects.mixtures(3, 2)
    assert all(one.choices.keys() == POINTS.keys() for one in subjects.mixtures(3, 1))


def test_every_two_choices_meet() -> None:
    """The covering services let every pair of choices meet that may, and none that must not."""
    covering = subjects.covering(1)

    assert subjects.share_of_pairs(covering) == 1
    assert subjects.share_of_pairs(covering[:-1]) < 1
    assert all(Latitude(one.choices) and EXCLUDED.isdisjoint(subjects.pairs(one.choices)) for one in covering)


def test_every_two_choices_of_transport_meet_on_connections() -> None:
    """A few services with a socket are enough for that, and those that choose by chance need none."""
    covering = subjects.covering(1)
    of_transport = {name: POINTS[name].values for name in subjects.TRANSPORT}
    on_connections = [one for one in covering if one.is_about_transport]

    met = {pair for one in on_connections for pair in subjects.pairs(one.choices)}

    assert set(all_pairs(of_transport)) <= met
    assert len(on_connections) < len(covering) / 2
    assert not any(one.is_about_transport for one in subjects.mixtures(5, 1))


def test_mixtures_exclude_what_must_not_meet() -> None:
    """What would leave nothing to try is not drawn."""
    assert all(EXCLUDED.isdisjoint(subjects.pairs(one.choices)) for one in subjects.mixtures(30, 5))


def test_share_of_pairs_of_nothing() -> None:
    """Without a service no two choices meet."""
    assert subjects.share_of_pairs([]) == 0
    assert 0 < subjects.share_of_pairs(subjects.mixtures(1, 1)) < 0.2


def test_patterns_add_up() -> None:
    """Faults and choices of several patterns are tried, each once."""
    found = _subjects(("page-*", "page-*"), ("default", "pace=*"), 0, 1)

    kinds = [(one.kind, one.id) for one in found]
    assert len(set(kinds)) == len(kinds)
    assert [one for kind, one in kinds if kind == "latitude"] == ["default", "pace=slow", "pace=uneven"]
    assert {one.partition("-")[0] for kind, one in kinds if kind == "fault"} == {"page"}


def test_none_leaves_a_kind_out() -> None:
    """No fault has that name, and no choice."""
    assert _subjects(("none",), ("none",), 0, 1) == []
