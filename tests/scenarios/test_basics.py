"""Creations that several scenarios share."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

import pytest

from conformance.oracle import read
from conformance.scenarios.basics import or_with_long_description, or_with_plain_texts, send_creations
from conformance.wire import requests
from tests.fakes.exchanges import make_exchange
from tests.fakes.runs import FakeRun

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


def ruled(names: str = ".*", descriptions: str | None = ".*") -> FakeRun:
    """Return a run against a service with rules for texts; None forbids descriptions."""
    numbers = count(1)

    def respond(sent: Request) -> Exchange:
        body = make_exchange(sent).sent_object or {}
        described = "description" not in body or (
            descriptions is not None and re.fullmatch(descriptions, body["description"], re.DOTALL)
        )
        if not re.fullmatch(names, body["name"], re.DOTALL) or not described:
            return make_exchange(sent, 422, {"error": {}})
        return make_exchange(sent, 201, {"data": {"id": f"e{next(numbers)}", **body}})

    return FakeRun(respond)


def created(run: FakeRun) -> list[Exchange]:
    """Create two engagements whose names end with a sign, and return the last responses."""
    bodies = [{"name": f"cf-{label}.", "description": f"About {label}"} for label in ("first", "second")]
    return send_creations(run, bodies)


@pytest.mark.parametrize(
    ("names", "descriptions", "is_described", "number"),
    [
        ("[a-z0-9-]*[a-z0-9]", ".*", True, 4),
        ("[a-z0-9-]*[a-z0-9]", "[A-Za-z ]{15,}", True, 6),
        ("[a-z0-9-]*[a-z0-9]", None, False, 8),
        (".*", None, False, 8),
    ],
)
def test_a_rule_for_texts(names: str, descriptions: str | None, number: int, *, is_described: bool) -> None:
    """The sign at the end of a name is left out first, then the description becomes a sentence, then it is left out."""
    run = ruled(names, descriptions)
    assert ["description" in read.data(creation) for creation in created(run)] == [is_described] * 2
    assert len(run.sent) == number


def test_no_text_is_accepted() -> None:
    """The last refusal is returned."""
    assert [creation.status for creation in created(ruled("Audit"))] == [422] * 2


def test_a_plain_request_is_not_repeated() -> None:
    """A refusal of plain texts stays, whatever the body."""
    run = ruled()
    for request in (requests.create_engagement({"name": "cf-a"}), requests.update_organization({"name": 5})):
        refused = make_exchange(request, 422, {"error": {}})
        assert or_with_plain_texts(run, refused) is refused
    assert run.sent == []


@pytest.mark.parametrize(
    ("descriptions", "number"), [("false", 1), ("false .*", 2), (r"[A-Z].*\.", 3), ("none of them", 3)]
)
def test_a_rule_for_descriptions(descriptions: str, number: int) -> None:
    """A refused description becomes longer, and then a sentence; the last response is returned."""
    run = ruled(descriptions=descriptions)
    creation = or_with_long_description(
        run, run.send(requests.create_engagement({"name": "cf-a", "description": "false"}))
    )
    assert creation.accepted is (descriptions != "none of them")
    assert len(run.sent) == number
