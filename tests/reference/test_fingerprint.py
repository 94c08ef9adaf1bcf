"""Recognition of the reference service by its error messages."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from conformance.reference.fingerprint import recognized
from tests.fakes.exchanges import make_exchange

OWN = (
    "The engagement was not found.",
    "The API key is missing or unknown.",
    "An archived engagement is read-only.",
    "The body must be a JSON object.",
    "The field name must be a string.",
    "The field email must be a string.",
)
OTHER = ("No such engagement.", "Unknown key.", "It is archived.", "Not a name.")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        (OWN, "6 of the 6 different error messages are"),
        ((*OWN, *OWN, OTHER[0], ""), "6 of the 8 different error messages are"),
        ((*OWN, *OTHER), None),
        (OWN[:5], "5 of the 5 different"),
        ((*OWN[:4], *OWN[:1]), None),
        ((*OWN[:3], *OWN[4:]), None),
        (("x" * 10_000_000, *OTHER), None),
        ((7, None, {}), None),
        ((), None),
    ],
)
def test_the_reference_service_is_recognized(messages: Sequence[object], found: str | None) -> None:
    """Five of its sentences and three quarters of all messages suffice; a sentence counts once, whatever it names."""
    bodies = [json.dumps({"error": {"message": message}}).encode() for message in messages]
    exchanges = [make_exchange(status=404, body=body) for body in bodies]
    said = recognized([*exchanges, make_exchange(status=200, body=bodies[0] if bodies else b"")])

    assert said is None if found is None else str(said).startswith(found)
