"""Redactor of a target: secrets that can be hidden, and weak ones."""

from __future__ import annotations

import pytest

from conformance.running.connect import redactor_of
from conformance.targets.profile import Profile
from conformance.targets.secret import Secret


def profile(key: str = "the-key-0123456789", header: str = "of-the-gateway-1") -> Profile:
    """Return a target with a header."""
    return Profile(
        name="Staging EU", base_url="https://eu.service.test", api_key=Secret(key), headers={"X-Gate": Secret(header)}
    )


@pytest.mark.parametrize(
    "value",
    [
        "https://eu.service.test", "https://EU.service", "eu.service.test/api/v1/engagements", "staging eu", "page=12",
        "?page=1&perPage=100", "status=active", "100000", "HTTP/1.1", "application/json",
    ],
)  # fmt: skip
def test_a_header_that_outputs_say_anyway_is_weak(value: str) -> None:
    """An address, a name, a query, a number or a common word is weak; the report names it."""
    redactor = redactor_of(profile(header=value))

    assert redactor.weak == ["header:X-Gate"]
    assert redactor.find(value.encode()) == []


@pytest.mark.parametrize("key", ["eu.service", "page=1", "<script>alert(1)</script>", "perPage=100&sort=name"])
def test_a_key_that_every_run_sends_is_weak(key: str) -> None:
    """It could not be hidden in requests, as texts that were sent must read back."""
    assert redactor_of(profile(key=key)).weak == ["api_key"]


@pytest.mark.parametrize("secret", ["Staging EU", "key0123456789", "the-key-0123456789"])
def test_other_keys_are_none(secret: str) -> None:
    """A key is hidden even if it is the target's name or looks like a sample key."""
    redactor = redactor_of(profile(key=secret))

    assert redactor.weak == []
    assert redactor.text(f"({secret})") == "(<api_key>)"


def test_other_headers_are_hidden() -> None:
    """The replacement names the header, also if the wire's settings add it again."""
    redactor = redactor_of(profile())
    redactor.add("header X-Gate", "of-the-gateway-1")

    assert redactor.text("of-the-gateway-1") == "<header:X-Gate>"
