from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from conformance.targets.secret import Secret, without_likely_keys

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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("token sk_live_51H8xQ2eZv expired", "token <withheld> expired"),
        ("at 2026-11-29T22:56:53Z", "at 2026-11-29T22:56:53Z"),
        (
            'File "/usr/lib/python3.11/json/decoder.py", line 355',
            'File "/usr/lib/python3.11/json/decoder.py", line 355',
        ),
        ("~/tools/staging2/admin_client2.py", "<withheld>"),
        ("/var/keys/4f9a7c2e81d04b6f", "<withheld>"),
        ("/4f9a7c2e81/d04b6f9", "<withheld>"),
        ("a/usr/lib/python3.11", "<withheld>"),
    ],
)
def test_texts_that_may_be_keys_are_withheld(text: str, shown: str) -> None:
    """Times and paths are shown, unless a folder of the path may be a key."""
    assert without_likely_keys(text) == shown
