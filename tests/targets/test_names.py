from __future__ import annotations

import random
import re

import pytest

from conformance.targets.names import PREFIX, RunNames


def test_a_fresh_prefix_has_forty_random_bits() -> None:
    """The prefix is eight base32 characters between ``cf-`` and a hyphen, one of them a digit: it is no word."""
    for _ in range(40):
        prefix = RunNames.fresh().prefix
        assert re.fullmatch(r"cf-[a-z2-7]{8}-", prefix)
        assert re.search("[2-7]", prefix)
        assert PREFIX.fullmatch(prefix)


def test_a_fresh_prefix_is_proved_by_its_origin_alone() -> None:
    """A reader of the prefix in the service cannot derive its origin."""
    names = RunNames.fresh()

    assert names.is_proved
    assert names.origin is not None
    assert names.origin not in repr(names)
    for origin in (None, "", names.origin.upper() + "A", "0" * 32, names.prefix, "\u0660" * 32):
        assert not RunNames(names.prefix, origin).is_proved


def test_runs_with_one_seed_have_different_names() -> None:
    """The seed of a run does not decide its prefix."""
    prefixes = set()
    for _ in range(50):
        random.seed(1)
        prefixes.add(RunNames.fresh().prefix)

    assert len(prefixes) == 50


def test_names_and_addresses_begin_with_the_prefix() -> None:
    """Every object of a run has its prefix."""
    names = RunNames("cf-abcdefg2-")

    assert names.name("archive") == "cf-abcdefg2-archive"
    assert names.address("one", "example.com") == "cf-abcdefg2-one@example.com"


@pytest.mark.parametrize(
    ("text", "owned"),
    [
        ("cf-abcdefg2-x", True),
        ("  CF-Abcdefg2-X", True),
        ("\uff43f-abcdefg2-x", True),
        ("\ufffd\u200b\x00cf-abcdefg2-x", True),
        ("Copy of cf-abcdefg2-x (1)", False),
        ("x cf-abcdefg2-x", False),
        ("cf-abcdefg2", False),
        ("cf-abcdefg2x", False),
        ("cf-abcdefg3-x", False),
        ("", False),
        (None, False),
        (["cf-abcdefg2-x"], False),
    ],
)
def test_a_run_owns_what_begins_with_its_prefix(text: object, *, owned: bool) -> None:
    """Case and blanks are ignored; a prefix inside a text does not count."""
    assert RunNames("cf-abcdefg2-").owns(text) is owned


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"name": "cf-abcdefg2-a", "description": None}, True),
        ({"name": " CF-Abcdefg2-a"}, True),
        ({"name": "odd", "description": "cf-abcdefg2-a"}, True),
        ({"name": "odd", "description": "of cf-abcdefg2-a"}, False),
        ({"name": "a", "description": ""}, False),
        ({}, False),
    ],
)
def test_a_resource_of_a_run_has_its_prefix(item: dict[str, object], *, expected: bool) -> None:
    """The name or the description has the prefix."""
    assert RunNames("cf-abcdefg2-").owns_engagement(item) is expected
