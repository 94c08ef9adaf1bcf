from __future__ import annotations

import random
import re

import pytest

from conformance.target.names import RunNames


def test_a_fresh_prefix_has_forty_random_bits() -> None:
    """The prefix is eight base32 characters between ``cf-`` and a hyphen."""
    assert re.fullmatch(r"cf-[a-z2-7]{8}-", RunNames.fresh().prefix)


def test_runs_with_one_seed_have_different_names() -> None:
    """The seed of a run does not decide its prefix."""
    prefixes = set()
    for _ in range(50):
        random.seed(1)
        prefixes.add(RunNames.fresh().prefix)

    assert len(prefixes) == 50


def test_names_and_addresses_begin_with_the_prefix() -> None:
    """Everything that a run creates can be told by its name."""
    names = RunNames("cf-abcdefgh-")

    assert names.name("archive") == "cf-abcdefgh-archive"
    assert names.address("one", "example.com") == "cf-abcdefgh-one@example.com"


@pytest.mark.parametrize(
    ("name", "owned"),
    [
        ("cf-abcdefgh-x", True),
        ("  cf-abcdefgh-x", True),
        ("cf-abcdefgh", False),
        ("x cf-abcdefgh-x", False),
        ("CF-ABCDEFGH-x", False),
        ("", False),
        (None, False),
        (7, False),
    ],
)
def test_a_run_owns_what_bears_its_prefix(name: object, *, owned: bool) -> None:
    """A name is the run's if it begins with the prefix, blanks aside; no other value is."""
    assert RunNames("cf-abcdefgh-").owns(name) is owned
