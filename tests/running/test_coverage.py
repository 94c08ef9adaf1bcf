"""Combinations of operation, key and state that a run reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.running.coverage import Cell, possible, reached, shares
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.exchanges import make_exchange

if TYPE_CHECKING:
    from conformance.wire.exchange import Exchange

OTHER = Credential.bearer("other_organization", "key-of-another")
READING = Credential.bearer("engagements:read", "key-that-reads")
NO_KEY = Credential("no_key", None, invalid=True)
WRONG = Credential("unknown_key", "Bearer wrong", invalid=True)
MEMBER = Credential.bearer("member_1", "key-of-a-member")


def exchanges(*sent: tuple[str, int, Credential | None] | tuple[str, int]) -> list[Exchange]:
    """Return exchanges with these operations, statuses and keys; each response shows the same id and name."""
    return [
        make_exchange(
            operation, status, {"data": {"id": "eng_1", "name": "Acme"}}, key=key[0] if key else None, number=n
        )
        for n, (operation, status, *key) in enumerate(sent, 1)
    ]


def states(*sent: tuple[str, int]) -> list[str]:
    """Return the states in which reads with the main key find an engagement, after its creation and requests."""
    everything = [("createEngagement", 201), *(each for one in sent for each in (one, ("getEngagement", 200)))]
    cells: list[str] = []
    for length in range(len(everything)):
        new = reached(exchanges(*everything[: length + 1])) - reached(exchanges(*everything[:length]))
        cells += [cell.state for cell in new if cell.operation == "getEngagement"]
    return cells


def test_the_states_of_an_engagement() -> None:
    """The accepted requests about an engagement decide its state, and a refused edit while it is archived."""
    path = [
        *(("updateEngagement", 200), ("archiveEngagement", 200), ("updateEngagement", 409)),
        *(("unarchiveEngagement", 200), ("archiveEngagement", 200), ("deleteEngagement", 200)),
    ]
    assert states(*path) == ["edited", "archived", "edit refused", "unarchived", "archived again", "deleted"]


@pytest.mark.parametrize(
    ("key", "status", "kind"),
    [
        (None, 200, "main"), (READING, 200, "engagements:read"), (OTHER, 404, "other_organization"),
        (NO_KEY, 401, "none"), (WRONG, 401, "wrong"), (MEMBER, 200, "member"), (None, 429, "throttled"),
    ],
)  # fmt: skip
def test_the_kinds_of_keys(key: Credential | None, status: int, kind: str) -> None:
    """A key counts by what it is, and beyond its limit as throttled."""
    sent = exchanges(("createEngagement", 201), ("getEngagement", status, key))
    assert Cell("getEngagement", kind, "new") in reached(sent)


def test_the_states_of_a_member() -> None:
    """A member is changed, changed back and removed, and its key is that of a removed member then."""
    sent = exchanges(
        ("updateMemberRole", 200), ("removeMember", 200), ("removeMember", 404), ("listEngagements", 401, MEMBER)
    )
    cells = reached(sent)
    assert {cell.state for cell in cells if cell.operation == "removeMember"} == {"changed", "removed"}
    assert Cell("listEngagements", "removed member", "first name") in cells


def test_a_role_is_changed_back() -> None:
    """The first role that the run sets is not the one before."""
    changes = (requests.update_member_role("u_1", {"role": role}) for role in ("admin", "member"))
    sent = [*(make_exchange(change, 200) for change in changes), make_exchange(requests.remove_member("u_1"), 403)]
    assert [state for _, _, state in sorted(reached(sent))] == ["changed back", "changed", "made"]


def test_the_shares() -> None:
    """All combinations give whole shares; a single one gives a triple and three pairs."""
    everything = possible()
    pairs, triples = shares(everything)["pairs"], {"reached": len(everything), "possible": len(everything)}
    assert pairs["reached"] == pairs["possible"]
    assert shares(everything)["triples"] == triples
    assert shares([next(iter(everything))]) == {"pairs": pairs | {"reached": 3}, "triples": triples | {"reached": 1}}
    assert shares([Cell("getEngagement", "main", "no such state")]) == {
        "pairs": pairs | {"reached": 0},
        "triples": triples | {"reached": 0},
    }


@pytest.mark.parametrize("body", [{"data": [{"name": "Acme"}]}, {"data": {"name": ["Acme"]}}, b"[", [], ...])
def test_an_organization_that_cannot_be_read(body: object) -> None:
    """A response without a readable organization does not disturb the count."""
    sent = make_exchange("getCurrentOrganization", 200, body)
    assert reached([sent]) == {Cell("getCurrentOrganization", "main", "first name")}
