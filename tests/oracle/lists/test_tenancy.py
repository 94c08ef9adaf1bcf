"""Lists with engagements that another organization's key has made."""

from __future__ import annotations

import pytest

from conformance.oracle.lists.tenancy import expect_apart
from conformance.oracle.outcomes import Evidence, Inapplicable, NonConformity
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange
from tests.oracle.failures import described

KEYS = ("api_key", "other_organization")
SOMEBODY = Credential.bearer("throttled", "k3")


def engagement(identifier: str, second: int = 1) -> dict[str, str]:
    """Return an engagement made in a second."""
    return {"id": identifier, "createdAt": f"2026-03-01T12:00:{second:02}.000Z"}


def made(identifier: str, key: Credential | None = None, second: int = 1) -> Exchange:
    """Return a creation."""
    return make_exchange("createEngagement", 201, {"data": engagement(identifier, second)}, key=key)


def listed(*identifiers: str, key: Credential | None = None, status: int = 200, second: int = 1) -> Exchange:
    """Return a list."""
    items = [{}, *(engagement(identifier, second) for identifier in identifiers)]
    return make_exchange("listEngagements", status, {"data": items, "meta": {}}, key=key)


def test_each_list_holds_its_own(another_key: Credential) -> None:
    """Any list may hold engagements that the run has not made."""
    clean = [listed("a", "x"), listed("b", "x", key=another_key)]

    with Evidence() as evidence:
        expect_apart([made("a"), made("b", another_key), *clean], KEYS)
    assert evidence.exchanges == clean


@pytest.mark.parametrize("turned", [False, True])
def test_a_list_holds_what_another_key_has_made(another_key: Credential, *, turned: bool) -> None:
    """The creation and the list are cited, and all such lists are counted."""
    maker, reader = (None, another_key) if turned else (another_key, None)
    creation, leak, clean = made("b", maker), listed("a", "b", key=reader), listed("a", key=reader)
    run = [listed("q", key=SOMEBODY), creation, made("a", reader), leak, clean, listed("b", key=reader)]

    with Evidence() as evidence, pytest.raises(NonConformity) as raised:
        expect_apart(run, KEYS)
    assert described(raised.value) == (
        "listEngagements returned an engagement that another organization's key has made (2 times in this run)",
        "only engagements of the key's own organization",
        f"an engagement that {'api_key' if turned else 'other_organization'} has made",
        "/data/2",
    )
    assert raised.value.exchanges == (creation, leak)
    assert evidence.exchanges == [clean]


def test_one_list_is_not_counted(another_key: Credential) -> None:
    """The message has no number."""
    with pytest.raises(NonConformity) as raised:
        expect_apart([made("b", another_key), listed("b", "b")], KEYS)
    assert (
        described(raised.value)[0] == "listEngagements returned an engagement that another organization's key has made"
    )


def test_ids_of_each_organization(another_key: Credential) -> None:
    """If both count from 1 on, an equal id alone does not identify an engagement."""
    exchanges = [made("1", another_key, second=1), listed("1", second=2), listed("1", second=1)]

    expect_apart([made("1", second=1), made("2", another_key), *exchanges], KEYS)


@pytest.mark.parametrize("known", [{"id": "1"}, {"id": "1", "createdAt": 7}, {"createdAt": "2026-03-01T12:00:01.000Z"}])
def test_an_id_or_a_time_alone(another_key: Credential, known: dict[str, object]) -> None:
    """Another engagement may have the same id, or the same time."""
    creation = make_exchange("createEngagement", 201, {"data": known}, key=another_key)
    seen = make_exchange("listEngagements", 200, {"data": [known], "meta": {}})

    expect_apart([made("2", another_key), creation, seen], KEYS)


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        [listed("a")],
        [made("a"), listed("a")],
        [made("a"), listed("a", key=SOMEBODY), made("b", SOMEBODY), listed("b")],
        [made("a"), listed("a", key=Credential.bearer("other_organization", "k2"), status=403)],
    ],
)
def test_nothing_to_judge(nothing: list[Exchange]) -> None:
    """Without a list that could hold another key's engagement, the check is inapplicable."""
    with pytest.raises(Inapplicable) as raised:
        expect_apart(nothing, KEYS)
    assert raised.value.message == "No list was requested after another organization's key had made an engagement"
