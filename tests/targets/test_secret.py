from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{!r}".format, "%s".__mod__, lambda secret: f"{[secret]}"])
def test_no_way_of_printing_shows_the_value(show: Callable[[Secret], str]) -> None:
    """Every conversion of a secret to a text is the placeholder."""
    assert "swordfish" not in show(Secret("swordfish"))


def test_reveal_returns_the_value() -> None:
    """Only ``reveal`` returns the text."""
    assert Secret("swordfish").reveal() == "swordfish"


def test_secrets_compare_by_value() -> None:
    """Two secrets with one text are equal."""
    assert {Secret("a"): 1} == {Secret("a"): 1}
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"


def test_a_secret_is_not_pickled() -> None:
    """Pickling a secret fails."""
    with pytest.raises(TypeError, match="not written anywhere"):
        pickle.dumps(Secret("swordfish"))
