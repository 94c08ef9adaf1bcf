from __future__ import annotations

import dataclasses

import pytest

from conformance.targets.profile import Mode, Profile
from conformance.targets.yaml_entries import TargetFileError


def test_two_options_make_a_profile() -> None:
    """Base URL and key are a target without a file, named after its host."""
    profile = Profile.from_options("http://127.0.0.1:8080/", "main-key-0001")

    assert (profile.name, profile.base_url) == ("127.0.0.1:8080", "http://127.0.0.1:8080")
    assert (profile.mode, profile.folder) == (Mode.DEFAULT, None)


def test_mode_may_be_given() -> None:
    """An option decides the mode."""
    assert Profile.from_options("https://h", "k", mode=Mode.DISPOSABLE).mode is Mode.DISPOSABLE


@pytest.mark.parametrize(
    ("url", "key", "sentence"),
    [
        ("nonsense", "k", "base_url must be a URL"),
        ("https://h", "", "api_key must not be empty."),
        ("https://h", "two words", "api_key must be a key of visible ASCII characters"),
        ("https://h", "swordfish\n", "api_key must be a key of visible ASCII characters"),
    ],
)
def test_options_that_cannot_be_used_are_named(url: str, key: str, sentence: str) -> None:
    """A bad option is an error with its name and without its value."""
    with pytest.raises(TargetFileError, match=sentence) as caught:
        Profile.from_options(url, key)

    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize(
    ("named", "found", "sentence"),
    [
        (None, "org_2", None),
        (None, None, None),
        ("org_1", "org_1", None),
        ("org_1", "org_2", "The organization must be org_1, but the key belongs to org_2."),
        ("org_1", None, "The organization must be org_1, but the service does not show that of the key."),
    ],
)
def test_another_organization_is_refused(named: str | None, found: str | None, sentence: str | None) -> None:
    """A run that names its organization is refused on any other."""
    profile = dataclasses.replace(Profile.from_options("https://h", "k"), organization=named)

    assert profile.organization_refusal(found) == sentence
