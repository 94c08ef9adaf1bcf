"""The rules of engagements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"
ORGANIZATION = "/api/v1/organizations/current"


def names(visitor: Visitor, **params: object) -> list[str]:
    """List the names of engagements."""
    return [item["name"] for item in visitor.get(ENGAGEMENTS, params=params).json()["data"]]


def test_creation_response_has_the_whole_engagement(visitor: Visitor) -> None:
    """A new engagement is active and unchanged."""
    response = visitor.post(ENGAGEMENTS, {"name": "Ärger 🦊", "description": "d"})

    assert response.status_code == 201
    data = response.json()["data"]
    assert data == {**data, "name": "Ärger 🦊", "description": "d", "status": "active", "updatedAt": data["createdAt"]}
    assert visitor.get(visitor.at(data["id"])).json()["data"] == data


def test_patch_changes_only_what_was_sent(visitor: Visitor) -> None:
    """An edit of the name keeps the description, and the reverse."""
    before = visitor.engagement("a", description="b")
    path = visitor.at(before["id"])

    visitor.patch(path, {"name": "c"})
    after = visitor.patch(path, {"description": None}).json()["data"]

    assert after == {**before, "name": "c", "description": None, "updatedAt": after["updatedAt"]}
    assert after["updatedAt"] > before["updatedAt"]


def test_archived_is_read_only_but_readable_and_deletable(visitor: Visitor) -> None:
    """An archived engagement refuses only edits and archiving."""
    path = visitor.archived()
    before = visitor.get(path).json()

    assert visitor.patch(path, {"name": "x"}).status_code == 409
    assert visitor.post(f"{path}/archive").status_code == 409
    assert visitor.get(path).json() == before
    assert visitor.delete(path).json() == {"data": {"deleted": True, "id": before["data"]["id"]}}


def test_archive_refreshes_updated_at(visitor: Visitor) -> None:
    """Archiving counts as a change."""
    engagement = visitor.engagement()

    response = visitor.post(visitor.at(engagement["id"]) + "/archive").json()["data"]

    assert response == {"id": engagement["id"], "status": "archived", "updatedAt": response["updatedAt"]}
    assert response["updatedAt"] > engagement["updatedAt"]


def test_unarchived_can_be_edited_again(visitor: Visitor) -> None:
    """Unarchiving makes an engagement active."""
    path = visitor.archived()

    response = visitor.post(f"{path}/unarchive")

    assert (response.status_code, response.json()["data"]["status"]) == (200, "active")
    assert visitor.patch(path, {"name": "x"}).status_code == 200
    assert visitor.post(f"{path}/unarchive").status_code == 409


def test_deleted_is_gone_everywhere(visitor: Visitor) -> None:
    """A deleted engagement is a 404 for every operation and is not counted."""
    path = visitor.at(visitor.engagement()["id"])
    visitor.delete(path)

    tries = [
        ("GET", path),
        ("PATCH", path),
        ("DELETE", path),
        ("POST", f"{path}/archive"),
        ("POST", f"{path}/unarchive"),
    ]
    assert {visitor.send(method, where, {"name": "x"}).status_code for method, where in tries} == {404}
    assert names(visitor) == []
    assert visitor.get(ORGANIZATION).json()["data"]["engagementCount"] == 0


@pytest.mark.parametrize("kind", ["target", "task", "wikiPage", "report", "threatModel", "apiRequest"])
def test_deletion_takes_subordinates_of_this_engagement_only(visitor: Visitor, kind: str) -> None:
    """The deletion of an engagement deletes its records of each kind, and none of another engagement."""
    gone, stays = visitor.engagement()["id"], visitor.engagement()["id"]
    records = {owner: visitor.rpc("create_subordinate", engagementId=owner, kind=kind)["id"] for owner in (gone, stays)}

    visitor.delete(visitor.at(gone))

    exists = {
        owner: visitor.rpc("subordinate_exists", engagementId=owner, kind=kind, id=record)["exists"]
        for owner, record in records.items()
    }
    assert exists == {gone: False, stays: True}


def test_pages_are_a_partition(visitor: Visitor) -> None:
    """Every engagement is on exactly one page, and meta counts them."""
    for number in range(7):
        visitor.engagement(f"n{number}")

    pages = [visitor.get(ENGAGEMENTS, params={"page": page, "perPage": 3}).json() for page in (1, 2, 3, 4)]

    assert [len(page["data"]) for page in pages] == [3, 3, 1, 0]
    assert len({item["id"] for page in pages for item in page["data"]}) == 7
    assert pages[1]["meta"] == {"total": 7, "page": 2, "perPage": 3, "totalPages": 3}


def test_filter_and_sort_hold_together(visitor: Visitor) -> None:
    """The list filters, then sorts, descending by default."""
    for name in "bca":
        visitor.engagement(name)
    visitor.archived("d")

    assert names(visitor, sort="name") == ["d", "c", "b", "a"]
    assert names(visitor, sort="name", order="asc", status="active") == ["a", "b", "c"]
    assert names(visitor, status="archived") == ["d"]
    assert names(visitor, sort="createdAt", order="asc") == ["b", "c", "a", "d"]
    visitor.patch(
        visitor.at(visitor.get(ENGAGEMENTS, params={"sort": "name", "order": "asc"}).json()["data"][0]["id"]),
        {"name": "z"},
    )
    assert names(visitor, sort="updatedAt")[0] == "z"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": None},
        {"name": 1},
        {"name": True},
        {"name": []},
        {"name": {}},
        {"description": "x"},
        {"name": "a", "description": 1},
        {"name": ""},
        {"name": "  "},
        {"name": "\ud800"},
    ],
)
def test_invalid_creation_creates_nothing(visitor: Visitor, body: dict[str, Any]) -> None:
    """Invalid bodies are refused with VALIDATION_ERROR."""
    content = json.dumps(body)

    response = visitor.send("POST", ENGAGEMENTS, content=content, headers={"Content-Type": "application/json"})

    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert names(visitor) == []


@pytest.mark.parametrize(
    "query",
    [
        "status=nonsense",
        "sort=nonsense",
        "order=nonsense",
        "page=abc",
        "perPage=abc",
        "page=0",
        "perPage=0",
        "page=1.5",
        "perPage=101",
        "page=",
        "status=",
        "page=%D9%A1",
        "page=" + "9" * 5000,
        "status=ACTIVE",
        "order=DESC",
    ],
)
def test_invalid_parameters_are_refused(visitor: Visitor, query: str) -> None:
    """Invalid parameters of the list are refused."""
    assert visitor.get(f"{ENGAGEMENTS}?{query}").status_code == 422


def test_page_far_past_the_end_is_empty(visitor: Visitor) -> None:
    """A page number beyond SQLite's integers returns an empty page."""
    response = visitor.get(f"{ENGAGEMENTS}?page={10**30}")

    assert (response.status_code, response.json()["data"], response.json()["meta"]["page"]) == (200, [], 10**30)


def test_own_values_are_not_honoured(visitor: Visitor) -> None:
    """A client cannot set identifier, status or times."""
    forged = {"id": "x", "status": "archived", "createdAt": "2001-01-01T00:00:00.000Z", "updatedAt": "x"}

    created = visitor.engagement("a", **forged)
    edited = visitor.patch(visitor.at(created["id"]), {"description": "d", **forged}).json()["data"]

    assert created["status"] == edited["status"] == "active"
    assert edited["id"] == created["id"] != "x"
    assert edited["createdAt"] == created["createdAt"] != forged["createdAt"]


@pytest.mark.parametrize(
    "text",
    [
        "  two  blanks  ",
        "e\u0301",
        "\x00\n\t\x1b",
        "\u200d\u202e",
        "🏳️‍🌈",
        "'; DROP TABLE engagements; --",
        "<b>&amp;",
        '\\"',
        "x" * 100_000,
    ],
)
def test_text_reads_back_exactly(visitor: Visitor, text: str) -> None:
    """Accepted text is stored unchanged."""
    created = visitor.engagement(text, description=text)

    read = visitor.get(visitor.at(created["id"])).json()["data"]

    assert (read["name"], read["description"]) == (text, text)


def test_time_never_goes_back(visitor: Visitor) -> None:
    """UpdatedAt keeps its value if the clock is set back."""
    engagement = visitor.engagement()
    visitor.clock.seconds -= 3600

    edited = visitor.patch(visitor.at(engagement["id"]), {"name": "x"}).json()["data"]

    assert edited["updatedAt"] == engagement["updatedAt"]
