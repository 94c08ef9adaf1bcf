from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{!r}".format, "%s".__mod__, lambda secret: f"{[secret]}"])
def test_no_way_of_printing_shows_the_value(show: Callable[[Secret], str]) -> None:
    """Whatever turns a secret into text turns it into the same placeholder."""
    assert "swordfish" not in show(Secret("swordfish"))


def test_the_value_is_given_when_asked_for() -> None:
    """Only ``reveal`` gives the text."""
    assert Secret("swordfish").reveal() == "swordfish"


def test_secrets_compare_by_value() -> None:
    """Two secrets of one text are one key in a table."""
    assert {Secret("a"): 1} == {Secret("a"): 1}
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"


def test_a_secret_is_not_pickled() -> None:
    """Sending a secret to another process fails."""
    with pytest.raises(TypeError, match="not written anywhere"):
        pickle.dumps(Secret("swordfish"))
