"""Assertions of checks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.oracle import expect, read
from conformance.oracle.laws.registry import LAWS
from conformance.oracle.outcomes import CantTell, Evidence, NonConformity
from conformance.oracle.timestamps import parse_timestamp
from conformance.wire.exchange import Exchange, NoResponse
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import described


@pytest.mark.parametrize(
    ("operation", "status", "right"),
    [
        ("getEngagement", 200, True),
        ("getEngagement", 201, False),
        ("getEngagement", 404, False),
        ("createEngagement", 200, True),
        ("createEngagement", 202, True),
        ("createEngagement", 302, False),
        ("deleteEngagement", 204, False),
        ("archiveEngagement", 409, False),
    ],
)
def test_success_is_exactly_200_if_the_interface_says_so(operation: str, status: int, *, right: bool) -> None:
    """Operations without a stated status succeed with any 2xx."""
    made = make_exchange(operation, status, {"data": {}})

    if right:
        assert expect.success(made) is made
    else:
        with pytest.raises(NonConformity, match=f"returned {status}"):
            expect.success(made)


@pytest.mark.parametrize(
    ("status", "right"),
    [(400, True), (403, True), (409, True), (405, True), (401, False), (404, False), (200, False), (500, False)],
)
def test_refused_excludes_statuses_of_other_causes(status: int, *, right: bool) -> None:
    """Any 4xx but 401, 404 and 429 is a refusal."""
    made = make_exchange("updateEngagement", status, {})

    if right:
        expect.refused(made)
    else:
        with pytest.raises(NonConformity):
            expect.refused(made)


def test_a_failure_shows_the_error_code() -> None:
    """The actual value is the status with its code."""
    made = make_exchange("getEngagement", 409, {"error": {"code": "CONFLICT"}})

    with pytest.raises(NonConformity) as raised:
        expect.success(made)

    assert raised.value.actual == "409 CONFLICT"


@pytest.mark.parametrize("status", [502, 503, 504, None])
def test_gateway_responses_are_never_judged(status: int | None) -> None:
    """A gateway's response, or none, ends every assertion."""
    made = make_exchange("getEngagement", status, {})

    for assertion in (
        expect.success,
        expect.refused,
        read.data,
        LAWS["no-server-error"].judge,
        LAWS["rate-limit-headers-present"].judge,
    ):
        with pytest.raises(NoResponse):
            assertion(made)


def test_true_is_not_one() -> None:
    """Equality distinguishes booleans from numbers."""
    with pytest.raises(NonConformity):
        expect.equal("deleted", 1, True, make_exchange())


def test_assertions_record_evidence() -> None:
    """The evidence of a check is what its assertions judged."""
    first, second = make_exchange(number=1), make_exchange(number=2)

    with Evidence() as evidence:
        expect.success(first)
        expect.equal("name", "a", "a", second)

    assert evidence.exchanges == [first, second]


@pytest.mark.parametrize(
    ("before", "after", "right"),
    [
        ({"description": None}, {}, True),
        ({"description": ""}, {"description": None}, True),
        ({"description": "a"}, {"description": None}, False),
        ({"name": "a"}, {"name": "b"}, False),
        ({"name": "a"}, {"name": "a"}, True),
    ],
)
def test_unchanged_equates_no_and_empty_description(
    before: dict[str, object], after: dict[str, object], *, right: bool
) -> None:
    """Absent, null and empty descriptions are equal; other differences are changes."""
    if right:
        expect.unchanged("it", before, after, ("name", "description"), make_exchange())
    else:
        with pytest.raises(NonConformity):
            expect.unchanged("it", before, after, ("name", "description"), make_exchange())


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2026-01-31T23:59:59.999Z", True),
        ("2024-02-29T00:00:00.000Z", True),
        ("2026-02-29T00:00:00.000Z", False),
        ("2026-01-31T23:59:59Z", False),
        ("2026-01-31T23:59:59.999999Z", False),
        ("2026-01-31T23:59:59.999+00:00", False),
        ("2026-01-31t23:59:59.999z", False),
        ("2026-01-31 23:59:59.999Z", False),
        ("2026-01-31T24:00:00.000Z", False),
        ("2026-01-31T23:59:59.999Z\n", False),
        ("٢٠٢٦-01-31T23:59:59.999Z", False),
    ],
)
def test_timestamps_have_exactly_one_format(text: str, *, right: bool) -> None:
    """A timestamp has milliseconds, a capital T and Z, and a real date."""
    assert (parse_timestamp(text) is not None) is right


ONE_EXCHANGE_ASSERTIONS = (
    expect.success,
    expect.refused,
    read.success,
    read.body,
    read.data,
    read.items,
    read.meta,
    lambda made: read.number(made, "total"),
    *(law.judge for law in LAWS.values()),
)

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["active", "owner", "2026-01-01T00:00:00.000Z"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "data",
                    "meta",
                    "error",
                    "id",
                    "code",
                    "message",
                    "statusCode",
                    "settings",
                    "status",
                    "role",
                    "total",
                    "page",
                    "perPage",
                    "totalPages",
                    "createdAt",
                    "slug",
                    "email",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)
OPERATION = st.sampled_from(
    [
        "getCurrentOrganization",
        "listMembers",
        "listEngagements",
        "getEngagement",
        "createEngagement",
        "archiveEngagement",
        "deleteEngagement",
    ]
)
QUERIES = st.sampled_from(
    [
        (),
        (("status", "active"), ("sort", "createdAt")),
        (("page", "2"), ("perPage", "5"), ("role", "owner")),
        (("page", "x"),),
    ]
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Date", "Content-Type"]),
        st.text(max_size=30) | st.integers().map(str),
    ),
    max_size=6,
).map(tuple)


@given(body=ODD, operation=OPERATION, status=st.integers(100, 999), query=QUERIES, headers=HEADERS)
def test_assertions_are_total_over_json(
    body: object,
    operation: str,
    status: int,
    query: tuple[tuple[str, str], ...],
    headers: tuple[tuple[str, str], ...],
) -> None:
    """For any JSON body, an assertion returns or raises one of its own exceptions."""
    _apply_all(make_exchange(operation, status, body, query=query, headers=headers))


@given(raw=st.binary(max_size=200), operation=OPERATION, status=st.integers(100, 999))
def test_assertions_are_total_over_bytes(raw: bytes, operation: str, status: int) -> None:
    """For any bytes, an assertion returns or raises one of its own exceptions."""
    _apply_all(make_exchange(operation, status, body=raw))


def _apply_all(made: Exchange) -> None:
    for assertion in ONE_EXCHANGE_ASSERTIONS:
        try:
            assertion(made)
        except (NonConformity, CantTell, NoResponse):
            continue


def test_one_of_some_statuses() -> None:
    """The failure lists the permitted statuses; the exchange is evidence."""
    response = make_exchange(status=409)
    with Evidence() as evidence:
        assert expect.status_in(response, 200, 409) is response
    assert evidence.exchanges == [response]

    with pytest.raises(NonConformity) as raised:
        expect.status_in(response, 200, 404)
    assert described(raised.value) == ("getEngagement returned 409", "200 or 404", "409", None)
    assert raised.value.exchanges == (response,)


BEFORE, SHOWN = (
    make_exchange(status=200, body={"data": {"name": "before"}}, number=1),
    make_exchange(status=200, body={"data": {"id": "e1", "name": "new", "count": 3}}, number=2),
)


@pytest.mark.parametrize(
    ("holding", "failing", "failure"),
    [
        (
            lambda: expect.field("name", "new", BEFORE, SHOWN),
            lambda: expect.field("name", "before", BEFORE, SHOWN),
            ('name is not "before"', '"before"', '"new"', "/data/name"),
        ),
        (
            lambda: expect.other_than("count", 4, "it is what was sent", BEFORE, SHOWN),
            lambda: expect.other_than("count", 3, "it is what was sent", BEFORE, SHOWN),
            ("it is what was sent", "another count than 3", "3", "/data/count"),
        ),
        (
            lambda: expect.exists("the member", {"id": "m1"}, BEFORE, SHOWN),
            lambda: expect.exists("the member", None, BEFORE, SHOWN),
            ("the member is gone", "the member, as before", "none", None),
        ),
        (
            lambda: expect.not_listed("a deleted engagement", set(), BEFORE, SHOWN),
            lambda: expect.not_listed("a deleted engagement", {"e1", "e2"}, BEFORE, SHOWN),
            ("a deleted engagement is in the list", "a list without a deleted engagement", "2 in the list", "/data"),
        ),
        (
            lambda: expect.distinct_ids("two engagements", ["e1", "e2"], BEFORE, SHOWN),
            lambda: expect.distinct_ids("two engagements", ["e1", "e2", "e1"], BEFORE, SHOWN),
            ("two engagements have the same id", "a separate identifier for each", "e1", "/data/id"),
        ),
    ],
    ids=["field", "other-than", "exists", "not-listed", "distinct-ids"],
)
def test_words_over_several_responses(
    holding: Callable[[], object], failing: Callable[[], object], failure: tuple[str, str, str, str | None]
) -> None:
    """Each holds, or fails with the expected and the actual value; all responses are evidence."""
    with Evidence() as evidence:
        holding()
    assert list(evidence.exchanges) == [BEFORE, SHOWN]

    with pytest.raises(NonConformity) as raised:
        failing()
    assert described(raised.value) == failure
    assert raised.value.exchanges == (BEFORE, SHOWN)


@pytest.mark.parametrize(
    ("word", "permitted", "expected"),
    [
        (lambda made: expect.found(made, "the engagement"), {200, 202, 403, 409, 500}, "the engagement"),
        (expect.success_or_conflict, {200, 202, 409}, "any 2xx or 409"),
    ],
    ids=["found", "success-or-conflict"],
)
@pytest.mark.parametrize("status", [200, 202, 403, 404, 409, 500])
def test_words_about_a_status(
    word: Callable[[Exchange], Exchange], permitted: set[int], expected: str, status: int
) -> None:
    """Each permits some statuses, and returns the exchange."""
    response = make_exchange(status=status)

    if status in permitted:
        assert word(response) is response
    else:
        with pytest.raises(NonConformity) as raised:
            word(response)
        assert described(raised.value) == (f"getEngagement returned {status}", expected, str(status), None)


@pytest.mark.parametrize("body", [{}, {"data": {"name": 5}}, {"data": []}])
def test_a_field_that_cannot_be_read_is_undecided(body: object) -> None:
    """Another requirement judges whether a field is there and a text; without data, no field can be judged."""
    shown = make_exchange(status=200, body=body, number=3)

    with pytest.raises(CantTell):
        expect.field("name", "new", BEFORE, shown)
    if body != {"data": {"name": 5}}:
        with pytest.raises(CantTell):
            expect.other_than("name", "old", "it is old", BEFORE, shown)


def test_nothing_is_judged_without_a_response() -> None:
    """No word that reads a response judges a gateway's."""
    lost = make_exchange(status=503)

    for word in (
        lambda: expect.field("name", "new", lost),
        lambda: expect.other_than("name", "new", "it is new", lost),
        lambda: expect.found(lost, "the engagement"),
        lambda: expect.success_or_conflict(lost),
    ):
        with pytest.raises(NoResponse):
            word()
