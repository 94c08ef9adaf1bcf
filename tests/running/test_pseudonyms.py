"""Pseudonyms: what they keep of a text, and what they leave in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.running.pseudonyms import Pseudonyms
from conformance.targets.names import RunNames, normalized
from tests.fakes.exchanges import make_exchange

PREFIX = "cf-k3vq7t2a-"
NAMES = RunNames(PREFIX)
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


def _pseudonyms(*engagements: Any, members: Any = ()) -> Pseudonyms:
    listed = make_exchange("listEngagements", body={"data": list(engagements), "meta": {}})
    people = make_exchange("listMembers", body={"data": list(members), "meta": {}}, number=2)
    return Pseudonyms([listed, people], [], NAMES)


def _shown(pseudonyms: Pseudonyms, operation: str, data: Any, **more: Any) -> Any:
    """Return the data of a response with pseudonyms."""
    exchange = pseudonyms.exchange(make_exchange(operation, body={"data": data, "meta": {}}, number=3, **more))
    assert exchange.received is not None
    return json.loads(exchange.received.body)["data"]


@given(st.lists(TEXTS, unique_by=normalized, max_size=6))
def test_a_pseudonym_keeps_what_is_judged(texts: list[str]) -> None:
    """Length, case, order beside the run's own names, and which texts are equal, stay; no text is the run's own."""
    names = [text for text in texts if normalized(text) and not NAMES.owns(text)]
    items = [{"id": f"e{number}", "name": name} for number, name in enumerate(names)]
    shown = [item["name"] for item in _shown(_pseudonyms(*items), "listEngagements", items)]

    assert [len(text) for text in shown] == [len(text) for text in names]
    assert [text.casefold() < PREFIX for text in shown] == [text.casefold() < PREFIX for text in names]
    assert len({normalized(text) for text in shown}) == len(names)
    assert not any(map(NAMES.owns, shown))


def test_many_short_names_stay_different() -> None:
    """If no pseudonym of the length is left, it is longer."""
    items = [{"id": str(number), "name": chr(0x4E00 + number)} for number in range(100)]
    shown = [item["name"] for item in _shown(_pseudonyms(*items), "listEngagements", items)]

    assert len({*shown}) == len(items)
    assert not {*shown} & {item["name"] for item in items if len(shown) == 1}


def test_letter_case_and_blanks_are_related_as_before() -> None:
    """A service that shows a text in other case, or with merged blanks, is judged as before."""
    spellings = ["Ana  Lopez", "ana lopez", "ANA LOPEZ"]
    items = [{"id": str(number), "name": name} for number, name in enumerate(spellings)]
    first, second, third = [item["name"] for item in _shown(_pseudonyms(*items), "listEngagements", items)]

    assert " ".join(first.split()).lower() == second
    assert second.upper() == third


def test_own_engagements_and_what_is_judged_stay() -> None:
    """Names of the run, ids, states and times are in no pseudonym."""
    own = {"id": "e1", "name": f"{PREFIX}made", "description": "Ana Lopez", "status": "active"}
    other = {"id": "e2", "name": "Ana Lopez", "status": "archived", "createdAt": "2026-01-01T00:00:00.000Z"}
    made = _shown(_pseudonyms(own, other), "listEngagements", [own, other])

    assert {**made[0], "description": ""} == {**own, "description": ""}
    assert {**made[1], "name": ""} == {**other, "name": ""}
    assert made[0]["description"] == made[1]["name"] != "Ana Lopez"


def test_an_engagement_is_the_runs_own_under_any_name() -> None:
    """The id and the time of its creation show it."""
    data = {"id": "e1", "name": "Oddly shown", "createdAt": "2026-01-01T00:00:00.000Z"}
    created = make_exchange("createEngagement", 201, {"data": data})
    shown = _shown(Pseudonyms([created], [], NAMES), "getEngagement", data)

    assert shown == data


def test_a_person_is_replaced_wherever_the_service_shows_one() -> None:
    """That includes sentences, further members, and short names in sentences."""
    person = {"id": "u1", "name": "Mira", "email": "mira@hidden.example", "role": "member", "phone": "+49 1234"}
    pseudonyms = _pseudonyms(members=[person])
    error = {"error": {"code": "CONFLICT", "message": "Mira <mira@hidden.example> is a member.", "statusCode": 409}}
    exchange = pseudonyms.exchange(make_exchange("inviteMember", 409, error, number=3))
    shown = _shown(pseudonyms, "getEngagement", {"id": "e", "name": f"{PREFIX}a", "createdBy": person})["createdBy"]

    assert exchange.received is not None
    message = json.loads(exchange.received.body)["error"]["message"]
    assert message == f"{shown['name']} <{shown['email']}> is a member."
    assert {*shown.values()} & {"Mira", "mira@hidden.example", "+49 1234"} == set()
    assert (shown["id"], shown["role"]) == ("u1", "member")
    assert pseudonyms.line({"check": "c", "asked": "the mail to mira@hidden.example", "told": "Mira"})["asked"] == (
        f"the mail to {shown['email']}"
    )


@pytest.mark.parametrize("body", [b"\xff{", b'{"data": [{"name": "Ana Lopez"', b"Ana Lopez <ana@hidden.example>"])
def test_a_body_that_is_no_json_shows_no_known_text(body: bytes) -> None:
    """It is replaced as text."""
    person = {"id": "u1", "name": "Ana Lopez", "email": "ana@hidden.example"}
    changed = _pseudonyms(members=[person]).exchange(make_exchange("listMembers", body=body, number=3))

    assert changed.received is not None
    assert len(changed.received.body) == len(body)
    assert b"Ana" not in changed.received.body
    assert b"hidden" not in changed.received.body
