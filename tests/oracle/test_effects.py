"""Effects of a request on an engagement, certain and possible, by request and response."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.oracle import effects
from conformance.oracle.effects import Interval, effects_of
from conformance.wire.exchange import Exchange
from conformance.wire.requests import JSON_HEADERS, Credential
from tests.fakes.exchanges import make_exchange

BEGAN = datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC)
START = BEGAN.timestamp() * 1_000_000
OTHER = Credential.bearer("other_organization", "k")
MAIN = Credential.bearer("api_key", "k")

Effects = list[tuple[str, str | None, bool]]


def request(
    operation: str,
    status: int | None = 200,
    body: object = ...,
    *,
    raw: bytes | None = None,
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS,
    credential: Credential | None = None,
    sent: bool = True,
) -> Exchange:
    """Return a request of half a second with a JSON body, and its response."""
    made = make_exchange(operation, status, {})
    content = raw if raw is not None else None if body is ... else json.dumps(body).encode()
    intended = replace(
        made.request, body=content, headers=headers if content is not None else (), credential=credential
    )
    return replace(made, request=intended, started_at=BEGAN, seconds=0.5, was_sent=sent)


def brief(found: list[effects.Effect]) -> Effects:
    """Return field, value and certainty of each effect."""
    return [(effect.field, effect.value, effect.certain) for effect in found]


# --- times


def test_the_interval_of_a_request() -> None:
    """The interval reaches from request to response, in microseconds."""
    assert Interval.of(request("getEngagement")) == Interval(START, START + 500_000)


@pytest.mark.parametrize(
    ("first", "other", "before", "overlap"),
    [
        (Interval(0, 1), Interval(2, 3), True, False),
        (Interval(0, 2), Interval(2, 3), True, False),
        (Interval(0, 3), Interval(2, 4), False, True),
        (Interval(2, 4), Interval(0, 3), False, True),
        (Interval(0, 9), Interval(2, 3), False, True),
        (Interval(2, 3), Interval(0, 1), False, False),
        (Interval(2, 3), Interval(0, 2), False, False),
        (Interval(0, inf), Interval(5, 6), False, True),
    ],
)
def test_order_and_overlap_of_intervals(first: Interval, other: Interval, *, before: bool, overlap: bool) -> None:
    """Two intervals overlap if neither ended before the other began."""
    assert first.before(other) is before
    assert first.overlaps(other) is overlap
    assert other.overlaps(first) is overlap


# --- responses and keys


@pytest.mark.parametrize(
    ("status", "accepted", "refused"),
    [
        (199, False, False),
        (200, True, False),
        (299, True, False),
        (300, False, False),
        (399, False, False),
        (400, False, True),
        (429, False, True),
        (499, False, True),
        (500, False, False),
        (None, False, False),
    ],
)
def test_accepted_and_refused(status: int | None, *, accepted: bool, refused: bool) -> None:
    """A status is a 2xx, a 4xx, or neither."""
    made = request("updateEngagement", status)

    assert made.accepted is accepted
    assert made.refused is refused


@pytest.mark.parametrize(("credential", "expected"), [(None, True), (MAIN, True), (OTHER, False)])
def test_the_main_key(credential: Credential | None, *, expected: bool) -> None:
    """The main key is used if no other is named."""
    assert request("getEngagement", credential=credential).by_main_key is expected


# --- texts


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("", True),
        ("a", True),
        ("a b c", True),
        ("<b>&\u00e9 \u4e2d \U0001f600", True),
        (" a", False),
        ("a ", False),
        ("a  b", False),
        ("a\tb", False),
        ("a\nb", False),
        ("a\u00a0b", False),
        ("a\u0007b", False),
        ("a\u200db", False),
        ("a\u202eb", False),
        ("a\u2028b", False),
        ("a\u2029b", False),
        ("e\u0301", False),
        ("\ud800", False),
        ("\ue000", False),
        ("\U000e0fff", False),
    ],
)
def test_texts_that_must_read_back_exactly(text: str, *, exact: bool) -> None:
    """Such texts have single blanks, no invisible characters, and normal form C."""
    assert effects.must_read_back_exactly(text) is exact


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("a", False),
        ("0", False),
        ("a" * 9, False),
        ("a" * 10, True),
        ("7" * 10, False),
        ("Quarterly test 2.0", True),
        ("a_b-c a_b-c.", True),
        ("a" * 32, True),
        ("a" * 33, False),
        ("", False),
        (" aaaaaaaaaa", False),
        ("aaaaaaaaaa ", False),
        (".aaaaaaaaaa", False),
        ("aaaaaaaaaa-", False),
        ("aaaaaaaaaa\n", False),
        ("aaaaa/bbbbb", False),
        ("aaaaaaaaaa\u00e9", False),
        ("aaaaaaaaaa\u0663", False),
        (None, False),
        (7, False),
    ],
)
def test_texts_that_must_be_accepted(value: object, *, accepted: bool) -> None:
    """Such texts have a moderate length, letters and digits, and few other characters."""
    assert effects.must_be_accepted(value) is accepted


# --- bodies


def test_the_object_that_a_request_carried() -> None:
    """A request carries a JSON object with the JSON media type."""
    assert request("createEngagement", body={"name": "n"}).sent_object == {"name": "n"}
    assert request("createEngagement", body={}).sent_object == {}


@pytest.mark.parametrize("raw", [None, b"", b"[]", b"null", b'"a"', b"{", b'{"name": "a", "name": "b"}', b"{" * 200])
def test_ambiguous_bodies(raw: bytes | None) -> None:
    """A body that is no object, no JSON, or repeats a name is ambiguous."""
    assert request("createEngagement", raw=raw).sent_object is None


@pytest.mark.parametrize(
    "headers", [(), (("Content-Type", "text/plain"),), (*JSON_HEADERS, ("X-Other", "1")), (("content-type", "a"),)]
)
def test_a_body_with_another_media_type_is_ambiguous(headers: tuple[tuple[str, str], ...]) -> None:
    """A service may parse it in another way."""
    assert request("createEngagement", body={"name": "n"}, headers=headers).sent_object is None


# --- effects


@pytest.mark.parametrize(
    ("operation", "body", "expected"),
    [
        (
            "createEngagement",
            {"name": "n", "description": "d"},
            [("name", "n"), ("description", "d"), ("status", "active"), ("existence", "exists")],
        ),
        (
            "createEngagement",
            {"name": "n"},
            [("name", "n"), ("description", ""), ("status", "active"), ("existence", "exists")],
        ),
        (
            "createEngagement",
            {"name": " n", "description": None, "status": "archived"},
            [("name", None), ("description", ""), ("status", "active"), ("existence", "exists")],
        ),
        (
            "createEngagement",
            ["n"],
            [("name", None), ("description", None), ("status", "active"), ("existence", "exists")],
        ),
        ("updateEngagement", {"name": "n"}, [("name", "n")]),
        ("updateEngagement", {"description": "d", "name": "n"}, [("name", "n"), ("description", "d")]),
        ("updateEngagement", {"description": ""}, [("description", "")]),
        ("updateEngagement", {"name": "a  b"}, [("name", None)]),
        ("updateEngagement", {"status": "archived", "id": "x"}, []),
        ("updateEngagement", {}, []),
        ("archiveEngagement", ..., [("status", "archived")]),
        ("deleteEngagement", ..., [("existence", "deleted")]),
        ("getEngagement", ..., []),
        ("listEngagements", ..., []),
        ("updateCurrentOrganization", {"name": "n"}, []),
        ("removeMember", ..., []),
    ],
)
def test_effects_of_an_accepted_request(operation: str, body: object, expected: list[tuple[str, str | None]]) -> None:
    """The effects are within the interval; a text that the service may change has no known value."""
    for status in (200, 201, 202):
        for credential in (None, MAIN):
            made = request(operation, status, body, credential=credential)
            found = effects_of(made)

            assert brief(found) == [(field, value, True) for field, value in expected]
            assert all(
                effect.interval == Interval(START, START + 500_000) and effect.exchange is made for effect in found
            )


@pytest.mark.parametrize("body", [{"name": None}, {"description": None}])
def test_null_for_a_field_is_open(body: dict[str, object]) -> None:
    """The field may be emptied or left unchanged."""
    (name,) = body

    assert brief(effects_of(request("updateEngagement", 200, body))) == [(name, "", False)]


@pytest.mark.parametrize("value", [7, ["a"], {}])
def test_another_type_for_a_field_is_open(value: object) -> None:
    """If the service accepts it, the new value is unknown."""
    assert brief(effects_of(request("updateEngagement", 200, {"name": value}))) == [("name", None, False)]


@pytest.mark.parametrize("raw", [b"[]", b"{", None])
def test_an_ambiguous_update_may_change_every_text(raw: bytes | None) -> None:
    """Each text may have any value, or be unchanged."""
    made = request("updateEngagement", 200, raw=raw)
    found = effects_of(made)

    assert brief(found) == [("name", None, False), ("description", None, False)]
    assert all(effect.interval == Interval(START, START + 500_000) and effect.exchange is made for effect in found)


CHANGES = pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("createEngagement", {"name": "n"}),
        ("updateEngagement", {"name": "n"}),
        ("archiveEngagement", ...),
        ("unarchiveEngagement", ...),
        ("deleteEngagement", ...),
    ],
)


@CHANGES
@pytest.mark.parametrize("status", [400, 404, 409, 429, 499])
def test_a_refused_request_has_no_effect(operation: str, body: object, status: int) -> None:
    """This holds for every key."""
    for key in (None, MAIN, OTHER):
        assert effects_of(request(operation, status, body, credential=key)) == []


@CHANGES
def test_an_accepted_request_with_another_key_is_possible(operation: str, body: object) -> None:
    """The checks of such keys judge whether it had an effect."""
    found = effects_of(request(operation, 200, body, credential=OTHER))

    assert found
    assert not any(effect.certain for effect in found)


@CHANGES
@pytest.mark.parametrize("status", [None, 302, 500, 502, 504])
def test_a_request_without_a_clear_response_may_happen_at_any_time(
    operation: str, body: object, status: int | None
) -> None:
    """A service may carry it out long after the connection broke."""
    found = effects_of(request(operation, status, body))

    assert found
    assert not any(effect.certain for effect in found)
    assert {effect.interval for effect in found} == {Interval(START, inf)}


@CHANGES
def test_an_unsent_request_has_no_effect(operation: str, body: object) -> None:
    """The connection to send it failed."""
    assert effects_of(request(operation, None, body, sent=False)) == []


@pytest.mark.parametrize("status", [200, 202, 204])
def test_unarchiving_may_make_active(status: int) -> None:
    """Unarchiving may have no effect, or take effect at any time."""
    (effect,) = effects_of(request("unarchiveEngagement", status))

    assert (effect.field, effect.value, effect.certain) == ("status", "active", False)
    assert effect.interval == Interval(START, inf)


@pytest.mark.parametrize(("value", "shown", "fits"), [("a", "a", True), ("a", "b", False), (None, "b", True)])
def test_which_reads_fit_a_change(value: str | None, shown: str, *, fits: bool) -> None:
    """A text that the service may change fits any read."""
    (effect,) = effects_of(request("updateEngagement", 200, {"name": "a"}))

    assert replace(effect, value=value).fits(shown) is fits


@pytest.mark.parametrize(("status", "missed"), [(404, True), (400, False), (200, False), (410, False), (None, False)])
def test_a_404_is_a_miss(status: int | None, *, missed: bool) -> None:
    """A missing response proves nothing."""
    assert make_exchange(status=status).missed is missed


@pytest.mark.parametrize(
    ("value", "echoed"),
    [("a", True), ("two words", True), ("7", True), ("n" * 32, True), ("a-b_c.d", True)]
    + [(value, False) for value in ("", "n" * 33, "two  blanks", " a", "a ", "a<b", "größer", "a\n", None, 7)],
)
def test_texts_that_must_be_echoed(value: object, *, echoed: bool) -> None:
    """A service that accepts short plain texts stores them unchanged."""
    assert effects.must_be_echoed(value) is echoed


@given(st.from_regex(effects._ALWAYS_ACCEPTED, fullmatch=True))
def test_accepted_texts_are_echoed(value: str) -> None:
    """A text that no service refuses is one that no service changes."""
    assert effects.must_be_accepted(value)
    assert effects.must_be_echoed(value)
