"""Open points, and the choices of an implementation."""

from __future__ import annotations

from pathlib import Path

import pytest

import conformance.reference
from conformance.reference.latitude import POINTS, Latitude


def test_every_point_is_consulted_in_one_place() -> None:
    """The service names each point once; columns and paths with the same names do not count."""
    modules = Path(conformance.reference.__path__[0]).glob("*.py")
    sources = [path.read_text() for path in modules if path.name not in ("store.py", "routes.py")]

    places = {name: sum(source.count(f'"{name}"') for source in sources) for name in POINTS}

    assert {name: count for name, count in places.items() if count != 1} == {}


def test_there_are_many_points() -> None:
    """There are many open points, and each has at least two values."""
    assert len(POINTS) >= 45
    assert all(len(set(point.values)) == len(point.values) >= 2 for point in POINTS.values())
    assert all(point.question.endswith("?") for point in POINTS.values())


def test_latitude_is_read_strictly() -> None:
    """The error about a mistyped setting names the nearest or the permitted ones."""
    with pytest.raises(ValueError, match=r"open point 'nonsense' does not exist; list them with: conformance latit"):
        Latitude({"nonsense": "1"})
    with pytest.raises(ValueError, match=r"open point 'archive-again' does not exist; did you mean archive_again"):
        Latitude({"archive-again": "200"})
    with pytest.raises(ValueError, match=r"has no value '204'\. Use one of: 201, 200, 202"):
        Latitude({"create_status": "204"})
    with pytest.raises(ValueError, match="name=value"):
        Latitude.parse(["create_status"])
    with pytest.raises(ValueError, match="set twice"):
        Latitude.parse(["create_status=200", "create_status=202"])


def test_latitude_does_not_change() -> None:
    """A latitude is immutable."""
    given = {"create_status": "200"}
    latitude = Latitude(given)
    given["create_status"] = "202"

    assert latitude["create_status"] == "200"
    assert latitude.deviations == {"create_status": "200"}
    with pytest.raises(TypeError):
        latitude["create_status"] = "202"  # type: ignore[index]
