"""Examples of faults, and their lookup by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.faults import all_faults, fault_by_id
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"
MEMBERS = "/api/v1/organizations/current/members"


def test_every_fault_is_a_service_with_a_sentence() -> None:
    """A fault names the requirements that it breaks and has a sentence as its title."""
    for identifier, fault in all_faults().items():
        assert fault_by_id(identifier) == fault
        assert issubclass(fault.service, Service)
        assert fault.service is not Service
        assert fault.title.endswith(".")
        assert fault.breaks


def test_an_unknown_fault_names_the_list() -> None:
    """The error about an id that is not near any other names the command that lists them."""
    with pytest.raises(LookupError, match="list them with: conformance faults"):
        fault_by_id("nonsense")


def edit_of_archived(visitor: Visitor) -> object:
    """Return the status of an edit of an archived engagement."""
    return visitor.patch(visitor.archived(), {"name": "x"}).status_code


def filtered(visitor: Visitor) -> object:
    """Return the total of archived engagements if none is archived."""
    visitor.engagement()
    return visitor.get(f"{ENGAGEMENTS}?status=archived").json()["meta"]["total"]


def full_page(visitor: Visitor) -> object:
    """Return the number of pages of a list that fits on one page."""
    return visitor.get(f"{MEMBERS}?perPage=3").json()["meta"]["totalPages"]


def envelope(visitor: Visitor) -> object:
    """Return the statusCode of an error."""
    return visitor.get(f"{ENGAGEMENTS}/none").json()["error"]["statusCode"]


def limits_of_404(visitor: Visitor) -> object:
    """Return whether a 404 has X-RateLimit-Limit."""
    return "X-RateLimit-Limit" in visitor.get(f"{ENGAGEMENTS}/none").headers


def second_page(visitor: Visitor) -> object:
    """Count the different items on two pages of one item."""
    visitor.engagement("a")
    visitor.engagement("b")
    pages = [visitor.get(f"{ENGAGEMENTS}?perPage=1&page={page}").json()["data"] for page in (1, 2)]
    return len({item["id"] for page in pages for item in page})


def deleted(visitor: Visitor) -> object:
    """Return the total after a deletion."""
    visitor.delete(visitor.at(visitor.engagement()["id"]))
    return visitor.get(ENGAGEMENTS).json()["meta"]["total"]


def times_of_new(visitor: Visitor) -> object:
    """Compare the times of a new engagement."""
    new = visitor.engagement()
    return new["createdAt"] == new["updatedAt"]


def archive_time(visitor: Visitor) -> object:
    """Compare the times before and after an archive."""
    new = visitor.engagement()
    return visitor.post(visitor.at(new["id"]) + "/archive").json()["data"]["updatedAt"] > new["updatedAt"]


def unknown_of_unknown_key(visitor: Visitor) -> object:
    """Return the status of a read of an unknown engagement with an unknown key."""
    return visitor.get(f"{ENGAGEMENTS}/none", key="unknown").status_code


def owners(visitor: Visitor) -> object:
    """Count the owners."""
    return visitor.get(f"{MEMBERS}?role=owner").json()["meta"]["total"]


def task_of_deleted(visitor: Visitor) -> object:
    """Return whether a task of a deleted engagement exists."""
    owner = visitor.engagement()["id"]
    task = visitor.rpc("create_subordinate", engagementId=owner, kind="task")["id"]
    visitor.delete(visitor.at(owner))
    return visitor.rpc("subordinate_exists", engagementId=owner, kind="task", id=task)["exists"]


@pytest.mark.parametrize(
    ("identifier", "probe", "right", "wrong"),
    [
        ("archived-editable", edit_of_archived, 409, 200),
        ("status-filter-ignored", filtered, 0, 1),
        ("total-pages-too-many", full_page, 1, 2),
        ("status-code-string", envelope, 404, "404"),
        ("not-found-without-limits", limits_of_404, True, False),
        ("second-page-repeats", second_page, 2, 1),
        ("deleted-still-listed", deleted, 0, 1),
        ("created-updated-later", times_of_new, True, False),
        ("archive-keeps-updated-at", archive_time, True, False),
        ("lookup-before-authentication", unknown_of_unknown_key, 401, 404),
        ("role-filter-ignored", owners, 1, 3),
        ("cascade-leaves-tasks", task_of_deleted, False, True),
    ],
)
def test_fault_is_visible(
    visit: Callable[..., Visitor], identifier: str, probe: Callable[[Visitor], object], right: object, wrong: object
) -> None:
    """The honest service gives the right result, and the faulty service the wrong one."""
    assert probe(visit()) == right
    assert probe(visit(fault=fault_by_id(identifier))) == wrong


def test_a_misspelt_fault_names_the_near_ones() -> None:
    """The error about a misspelt id does not list all faults."""
    with pytest.raises(LookupError, match=r"did you mean archived-editable") as caught:
        fault_by_id("archive-editable")

    assert len(str(caught.value)) < 300
