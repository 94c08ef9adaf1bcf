"""Markers for the requirement that a check judges."""

from __future__ import annotations

import pytest

from conformance.catalogue import load_catalogue


def requirement(identifier: str) -> pytest.MarkDecorator:
    """Mark a check with the requirement that it judges.

    Raises:
        KeyError: The catalogue has no such requirement.
    """
    return pytest.mark.requirement(load_catalogue().requirements[identifier].id)


def observes(*identifiers: str) -> pytest.MarkDecorator:
    """Mark a test with the open points that it observes; it judges nothing.

    Raises:
        KeyError: The catalogue has no such open point.
    """
    points = load_catalogue().open_points
    return pytest.mark.observes(*[points[identifier].id for identifier in identifiers])
