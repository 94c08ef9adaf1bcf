"""Parallel requests."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Final

from conformance.reference.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"

SORTING_AND_WRITING: Final = dedent("""
    from threading import Thread
    from conformance.reference.queries import EngagementQuery
    from conformance.reference.records import Engagement, Organization, Subordinate
    from conformance.reference.store import Store

    store = Store()
    store.add_organization(Organization("o", "o", "o", "free", False, False, False, 0, 0))
    with store.transaction():
        for number in range(1000):
            store.add_engagement(Engagement(str(number), "o", f"n{number * 7919 % 1000}", None, "active", 0, 0))
    sorted_by_name = EngagementQuery("o", 0, 100, sort="name", collation="FOLDED")
    threads = [
        Thread(target=lambda: [store.engagements(sorted_by_name) for _ in range(20)]),
        Thread(target=lambda: [store.add_subordinate(Subordinate(str(n), "0", "task")) for n in range(2000)]),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")


def test_parallel_edits_of_different_fields_both_take_effect(visitor: Visitor) -> None:
    """Parallel edits of different fields do not undo each other."""
    for number in range(20):
        path = visitor.at(visitor.engagement("n", description="d")["id"])
        wanted = {"name": f"n{number}", "description": f"d{number}"}

        responses = visitor.together([("PATCH", path, {field: value}) for field, value in wanted.items()])

        assert [response.status_code for response in responses] == [200, 200]
        read = visitor.get(path).json()["data"]
        assert {field: read[field] for field in wanted} == wanted


def test_parallel_creations_are_all_kept(visitor: Visitor) -> None:
    """Every parallel creation has its own identifier and is listed."""
    responses = visitor.together([("POST", ENGAGEMENTS, {"name": f"n{number}"}) for number in range(50)])

    ids = {response.json()["data"]["id"] for response in responses}
    listed = {item["id"] for item in visitor.get(ENGAGEMENTS, params={"perPage": 100}).json()["data"]}
    assert len(ids) == 50
    assert ids == listed


def test_nothing_is_edited_after_an_archive(visitor: Visitor) -> None:
    """The archived engagement has the edits that succeeded during a parallel archiving."""
    path = visitor.at(visitor.engagement("n0")["id"])
    edits = [("PATCH", path, {"name": f"n{number}"}) for number in range(1, 6)]

    visitor.together([*edits, ("POST", f"{path}/archive", None), *edits])
    before = visitor.get(path).json()

    assert {response.status_code for response in visitor.together(edits)} == {409}
    assert visitor.get(path).json() == before


def test_two_services_on_one_file_do_not_lose_edits(visit: Callable[..., Visitor], tmp_path: Path) -> None:
    """A second process on the same database sees and keeps the changes of the first."""
    first, second = (visit(store=Store(str(tmp_path / "shared.db"))) for _ in range(2))
    path = first.at(first.engagement("n")["id"])

    assert second.patch(path, {"description": "d"}).status_code == 200
    assert first.patch(path, {"name": "m"}).json()["data"]["description"] == "d"


def test_a_thread_that_writes_waits_for_one_that_compares() -> None:
    """Sorting and writing threads do not deadlock; they have their own process, which a deadlock would stop."""
    subprocess.run([sys.executable, "-c", SORTING_AND_WRITING], check=True, timeout=60)
