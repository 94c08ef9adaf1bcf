from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.names import RunNames
from conformance.targets.ownership import CLOCKS_APART, Ownership, OwnershipState, RunTime
from conformance.wire import requests
from conformance.wire.exchange import Exchange, NotSent
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.service import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = Credential.bearer("other_organization", "k")
SCOPED = Credential.bearer("engagements:write", "k")
INVALID = Credential("unknown_key", "Bearer nonsense", invalid=True)
NAME = f"{PREFIX}a"

WRITES: list[Callable[[str], Request]] = [
    lambda identifier: requests.update_engagement(identifier, {"name": f"{PREFIX}b"}),
    requests.archive_engagement,
    requests.unarchive_engagement,
    requests.delete_engagement,
    lambda identifier: requests.delete_engagement(identifier).with_key(SCOPED),
    lambda identifier: requests.delete_engagement(identifier).with_key(INVALID),
]


@pytest.fixture
def ownership(service: Any) -> Ownership:
    """The guard of a service with an engagement of the run and one of another user."""
    service.engagements = {"e_1": NAME, "f_1": "Quarterly audit"}
    guard = Ownership(RunNames(PREFIX), service.send_all)
    service.observers.append(guard)
    return guard


def reads(service: Any) -> list[str]:
    """Return the reads so far."""
    return [
        request.path.partition("?")[0].removeprefix("/api/v1/")
        for request in service.requests
        if request.method == "GET"
    ]


@pytest.mark.parametrize("write", WRITES)
def test_an_engagement_of_the_run_is_read_once_and_written_to(
    ownership: Ownership, service: Any, write: Callable[[str], Request]
) -> None:
    """One read is enough for all later writes."""
    for _ in range(3):
        ownership.ensure([write("e_1")])

    assert reads(service) == ["engagements/e_1"]


@pytest.mark.parametrize("write", WRITES)
def test_another_users_engagement_is_never_written_to(
    ownership: Ownership, service: Any, write: Callable[[str], Request]
) -> None:
    """With any key nothing is sent, and it is not read again."""
    for _ in range(2):
        with pytest.raises(NotSent, match="a read shows that the engagement is not of this run"):
            ownership.ensure([write("e_1"), write("f_1")])

    assert reads(service) == ["engagements/e_1", "engagements/f_1"]


@pytest.mark.parametrize("write", WRITES)
def test_an_id_that_nothing_has_may_be_written_to(
    ownership: Ownership, service: Any, write: Callable[[str], Request]
) -> None:
    """A made-up id is read first."""
    ownership.ensure([write("e_99")])

    assert reads(service) == ["engagements/e_99"]


@pytest.mark.parametrize("status", [400, 403, 422])
def test_an_id_that_is_out_of_reach_is_absent(ownership: Ownership, status: int) -> None:
    """An id of a creation must be readable."""
    for identifier in ("~odd~", "e_9"):
        create = requests.create_engagement({"name": NAME})
        if identifier == "e_9":
            ownership.after(make_exchange(create, 201, {"data": {"id": identifier}}))
        ownership.after(make_exchange(requests.get_engagement(identifier), status, {"error": {}}))

    assert (ownership.state("~odd~"), ownership.state("e_9")) == (OwnershipState.ABSENT, OwnershipState.UNREADABLE)


def test_reads_of_checks_prove_as_well(ownership: Ownership, service: Any) -> None:
    """A read by a check is not repeated, not even for a single-permission key."""
    service.send(requests.get_engagement("e_1").with_key(SCOPED))
    service.requests.clear()

    ownership.ensure([requests.archive_engagement("e_1")])

    assert service.requests == []


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_refusal_for_a_missing_permission_proves_nothing(ownership: Ownership, service: Any, status: int) -> None:
    """A refusal for a missing permission does not prove absence."""
    service.overrides["getEngagement"] = status
    service.send(requests.get_engagement("f_1").with_key(SCOPED))
    service.overrides.clear()

    with pytest.raises(NotSent):
        ownership.ensure([requests.delete_engagement("f_1")])


@pytest.mark.parametrize("responded", [NAME, "Quarterly audit", None])
def test_the_response_to_a_creation_proves_nothing(ownership: Ownership, responded: str | None) -> None:
    """A read shows that a creation returned another user's engagement, whose id is remembered."""
    create = requests.create_engagement({"name": NAME})
    ownership.after(make_exchange(create, 201, {"data": {"id": "f_1", "name": responded}}))

    with pytest.raises(NotSent):
        ownership.ensure([requests.delete_engagement("f_1")])
    assert ownership.foreign_ids == ["f_1"]


def test_a_list_proves_nothing_where_reads_work(ownership: Ownership, service: Any) -> None:
    """Items that show another user's engagement under a name of the run are not believed."""
    service.listed_as["f_1"] = NAME
    service.send(requests.list_engagements(page=1, perPage=100))

    with pytest.raises(NotSent):
        ownership.ensure([requests.delete_engagement("f_1")])


@pytest.mark.parametrize("key", [None, SCOPED, OTHER, INVALID], ids=["main", "scoped", "other", "invalid"])
@pytest.mark.parametrize("status", [200, 204, 503, None])
def test_an_id_is_read_again_after_any_deletion_was_sent(
    ownership: Ownership,
    service: Any,
    key: Credential | None,
    status: int | None,
) -> None:
    """After any deletion the id may be another user's."""
    ownership.ensure([requests.archive_engagement("e_1")])
    deletion = requests.delete_engagement("e_1")
    ownership.after(make_exchange(deletion if key is None else deletion.with_key(key), status, {}))
    service.engagements["e_1"] = "Quarterly audit 2"

    with pytest.raises(NotSent, match="not of this run"):
        ownership.ensure([requests.delete_engagement("e_1")])


@pytest.mark.parametrize("key", [SCOPED, INVALID], ids=["scoped", "invalid"])
def test_a_read_after_a_refused_deletion_counts(ownership: Ownership, service: Any, key: Credential) -> None:
    """A refused deletion may have been carried out, and the id reused."""
    ownership.ensure([requests.archive_engagement("e_1")])
    ownership.after(make_exchange(requests.delete_engagement("e_1").with_key(key), 401, {}))
    ownership.ensure([requests.archive_engagement("e_1")])
    assert reads(service) == ["engagements/e_1"]

    service.engagements["e_1"] = "Quarterly audit 2"
    service.send(requests.get_engagement("e_1"))

    with pytest.raises(NotSent, match="not of this run"):
        ownership.ensure([requests.delete_engagement("e_1")])


@pytest.mark.parametrize("is_reused", [False, True])
def test_a_creation_time_tells_an_edited_engagement_from_a_reused_id(
    ownership: Ownership, service: Any, *, is_reused: bool
) -> None:
    """An edit may remove the mark of the run; an id that was reused shows a later creation time."""
    archive, created_at = requests.archive_engagement("e_1"), "2025-10-09T08:53:20.000Z"
    service.made_at["e_1"] = created_at
    ownership.ensure([archive])
    ownership.after(make_exchange(requests.delete_engagement("e_1").with_key(SCOPED), 403, {}))

    service.engagements["e_1"] = "true"
    service.made_at["e_1"] = "2025-10-09T08:53:25.000Z" if is_reused else created_at
    service.send(requests.get_engagement("e_1"))

    assert (ownership.state("e_1") is OwnershipState.OWN) is not is_reused
    with pytest.raises(NotSent) if is_reused else nullcontext():
        ownership.ensure([archive])


def test_a_read_that_was_under_way_during_the_deletion_proves_nothing(ownership: Ownership) -> None:
    """A read in flight during the deletion may show the earlier engagement."""
    read = make_exchange(requests.get_engagement("e_1"), 200, {"data": {"id": "e_1", "name": NAME}})
    deletion = make_exchange(requests.delete_engagement("e_1"), 200, {"data": {"deleted": True}})
    later = make_exchange(requests.get_engagement("e_1"), 200, {"data": {"id": "e_1", "name": NAME}})

    ownership.after(replace(deletion, seconds=0.01))
    ownership.after(replace(read, started_at=deletion.started_at))
    assert ownership.state("e_1") is None
    ownership.after(replace(later, started_at=deletion.started_at + timedelta(seconds=1)))
    assert ownership.state("e_1") is OwnershipState.OWN


def test_an_id_is_read_again_once_a_creation_names_it(ownership: Ownership, service: Any) -> None:
    """An absent id is read again after a creation returned it."""
    ownership.ensure([requests.delete_engagement("e_2")])
    service.made = 1
    service.send(requests.create_engagement({"name": NAME}))
    assert ownership.state("e_2") is None

    ownership.ensure([requests.delete_engagement("e_2")])

    assert ownership.state("e_2") is OwnershipState.OWN


RANDOM_ID = "e_8f14e45fceea167a5a36"


def test_that_nothing_has_a_random_id_holds_for_seconds(
    ownership: Ownership, service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An absent id that no service assigns twice is read again after some seconds."""
    now = [100.0]
    monkeypatch.setattr("conformance.targets.ownership.time.monotonic", lambda: now[0])
    ownership.ensure([requests.delete_engagement(RANDOM_ID)])
    service.engagements[RANDOM_ID] = "Another user's"
    ownership.ensure([requests.delete_engagement(RANDOM_ID)])

    now[0] += 6

    with pytest.raises(NotSent):
        ownership.ensure([requests.delete_engagement(RANDOM_ID)])


def test_a_short_absent_id_is_read_before_each_write(ownership: Ownership, service: Any) -> None:
    """A service that counts may assign the id of a deleted engagement to the next one."""
    ownership.ensure([requests.delete_engagement("e_2")])
    service.engagements["e_2"] = "Another user's"

    with pytest.raises(NotSent):
        ownership.ensure([requests.delete_engagement("e_2")])


@pytest.mark.parametrize(("identifier", "is_another"), [("e_1", True), (RANDOM_ID, False)])
def test_a_short_id_of_the_run_is_read_again(
    identifier: str, ownership: Ownership, service: Any, monkeypatch: pytest.MonkeyPatch, *, is_another: bool
) -> None:
    """Another user may delete an engagement of the run, and create one that gets its number; no random id repeats."""
    now = [100.0]
    monkeypatch.setattr("conformance.targets.ownership.time.monotonic", lambda: now[0])
    service.engagements[identifier], service.made_at[identifier] = NAME, "2025-10-09T08:53:20.000Z"
    archive = requests.archive_engagement(identifier)
    ownership.ensure([archive])
    now[0] += 1
    ownership.ensure([archive])
    ownership.ensure([archive])
    assert len(reads(service)) == (2 if is_another else 1)

    service.engagements[identifier], service.made_at[identifier] = "Quarterly audit", "2025-10-09T08:53:25.000Z"
    now[0] += 1

    assert ownership.is_certain(identifier) is not is_another
    if is_another:
        with pytest.raises(NotSent):
            ownership.ensure([archive])


@pytest.mark.parametrize(
    ("first", "second", "is_read"),
    [
        ("urn:acme:engagement:8", "urn:acme:engagement:9", True),
        ("RW5nYWdlbWVudDowMDAwNTc=", "RW5nYWdlbWVudDowMDAwNTg=", True),
        ("ENG-2026-000000000042", "ENG-2026-000000000043", True),
        (RANDOM_ID, "e_8f14e4c20ad4d76fe9775", False),
        ("01JDWQ3Z5KAAAAAAAAAAAAAAAA", "01JDWQ3Z5KBBBBBBBBBBBBBBBB", False),
    ],
    ids=["urn", "base64", "zeros", "random", "time and random"],
)
def test_a_long_id_that_differs_from_another_in_its_end_may_be_a_number(
    first: str, second: str, ownership: Ownership, service: Any, monkeypatch: pytest.MonkeyPatch, *, is_read: bool
) -> None:
    """A service may hide a number in a long id, and assign it again."""
    now = [100.0]
    monkeypatch.setattr("conformance.targets.ownership.time.monotonic", lambda: now[0])
    for identifier in (first, second):
        service.engagements[identifier] = NAME
        create = requests.create_engagement({"name": NAME})
        ownership.after(make_exchange(create, 201, {"data": {"id": identifier, "name": NAME}}))
    ownership.ensure([requests.archive_engagement(first)])
    service.engagements[first], service.made_at[first] = "Quarterly audit", "2025-10-09T08:53:25.000Z"
    now[0] += 1

    with pytest.raises(NotSent) if is_read else nullcontext():
        ownership.ensure([requests.delete_engagement(first)])


def test_an_absent_engagement_that_was_changed_is_read_again(ownership: Ownership, service: Any) -> None:
    """If a change of an absent engagement succeeds, another user may have it."""
    ownership.ensure([requests.archive_engagement(RANDOM_ID)])
    service.engagements[RANDOM_ID] = "Another user's"
    ownership.after(make_exchange(requests.archive_engagement(RANDOM_ID), 200, {}))

    with pytest.raises(NotSent):
        ownership.ensure([requests.unarchive_engagement(RANDOM_ID)])


def test_a_change_in_its_own_organization_says_nothing_of_another(ownership: Ownership, service: Any) -> None:
    """An engagement of the other organization stays absent in the main one when its own key changes it."""
    archive = requests.archive_engagement(RANDOM_ID)
    ownership.ensure([archive])
    shown = {"data": {"id": RANDOM_ID, "name": NAME}}
    ownership.after(make_exchange(requests.get_engagement(RANDOM_ID).with_key(OTHER), 200, shown))

    ownership.after(make_exchange(archive.with_key(OTHER), 200, {}))
    ownership.ensure([archive.with_key(OTHER)])

    assert reads(service) == [f"engagements/{RANDOM_ID}"]


def test_a_creation_time_of_any_type_is_read(ownership: Ownership, service: Any) -> None:
    """A faulty service may show a list; the name shows the owner."""
    service.made_at["e_1"] = ["2026-01-01"]
    for _ in range(2):
        service.send(requests.get_engagement("e_1"))

    assert ownership.state("e_1") is OwnershipState.OWN


def test_an_id_that_another_user_got_meanwhile_is_left_alone(ownership: Ownership, service: Any) -> None:
    """A user may delete the run's engagement, and create one that gets its id: name and creation time show it."""
    service.made_at["e_1"] = "2026-01-01T00:00:00.000Z"
    service.send(requests.get_engagement("e_1"))
    service.engagements["e_1"], service.made_at["e_1"] = "Quarterly audit", "2026-01-01T00:00:05.000Z"
    service.send(requests.get_engagement("e_1"))

    with pytest.raises(NotSent, match="not of this run"):
        ownership.ensure([requests.delete_engagement("e_1")])


def test_an_engagement_that_was_renamed_stays_the_runs(ownership: Ownership, service: Any) -> None:
    """A changed name does not change a known owner."""
    ownership.ensure([requests.update_engagement("e_1", {"name": ""})])
    service.engagements["e_1"] = ""
    service.send(requests.get_engagement("e_1"))

    ownership.ensure([requests.delete_engagement("e_1")])


@pytest.mark.parametrize(
    ("created_at", "is_own"),
    [
        ("2026-01-01T12:00:00.000Z", True),
        ("2026-01-01T11:56:00.000Z", True),
        ("2026-01-01T12:04:00.000Z", True),
        ("2026-01-01T14:00:00+02:00", True),
        ("2026-01-01T12:00:00", True),
        (1767268800, True),
        (1767268800000, True),
        ("2026-01-01T11:54:00.000Z", False),
        ("2026-01-01T12:06:00.000Z", False),
        ("2025-01-01T12:00:00.000Z", False),
        (0, False),
        (None, True),
        ("yesterday", True),
        ([], True),
        (True, True),
        ("9" * 400, True),
        (1e400, False),
    ],
)
def test_an_engagement_is_as_young_as_the_run(ownership: Ownership, created_at: object, *, is_own: bool) -> None:
    """An engagement older than the run is not the run's, by the service's Date."""
    read = make_exchange(
        requests.get_engagement("f_1"), 200, {"data": {"id": "f_1", "name": NAME, "createdAt": created_at}},
        headers=(("Date", "Thu, 01 Jan 2026 12:00:00 GMT"),),
    )  # fmt: skip
    ownership.after(read)

    assert (ownership.state("f_1") is OwnershipState.OWN) is is_own


@pytest.mark.parametrize(
    "data",
    [
        {"id": "e_2", "name": NAME},
        {},
        [],
        None,
    ],
)
def test_a_read_of_something_else_proves_nothing(ownership: Ownership, data: object) -> None:
    """A response with another id, or without data, proves nothing."""
    ownership.after(make_exchange(requests.get_engagement("f_1"), 200, {"data": data}))

    assert ownership.state("f_1") is OwnershipState.UNREADABLE


def test_a_description_of_the_run_proves_as_well(ownership: Ownership) -> None:
    """A description of the run is enough."""
    data = {"id": "e_5", "name": " ", "description": NAME}
    ownership.after(make_exchange(requests.get_engagement("e_5"), 200, {"data": data}))

    assert ownership.state("e_5") is OwnershipState.OWN


@pytest.mark.parametrize(
    ("item", "is_own"),
    [
        ({"name": NAME, "createdAt": "t"}, True),
        ({"name": f"{PREFIX}b", "createdAt": "t"}, False),
        ({"name": NAME, "createdAt": "u"}, False),
        ({"name": "Quarterly audit", "createdAt": "t"}, False),
    ],
)
def test_without_reads_an_item_that_agrees_with_its_creation_counts(
    service: Any, item: dict[str, str], *, is_own: bool
) -> None:
    """The list is only read if reads by id fail."""
    create = requests.create_engagement({"name": NAME})

    def send_all(sent: list[Request]) -> list[Exchange]:
        exchanges = [
            make_exchange(request, 200, {"data": [{"id": "e_1", **item}], "meta": {}})
            if request.operation.id == "listEngagements"
            else make_exchange(request, 500, {"error": {}})
            for request in sent
        ]
        for exchange in exchanges:
            guard.after(exchange)
        return exchanges

    guard = Ownership(RunNames(PREFIX), send_all)  # type: ignore[arg-type]  # a list is a sequence
    guard.after(make_exchange(create, 201, {"data": {"id": "e_1", "name": NAME, "createdAt": "t"}}))

    if is_own:
        guard.ensure([requests.delete_engagement("e_1")])
        return
    with pytest.raises(NotSent, match="no read shows"):
        guard.ensure([requests.delete_engagement("e_1")])


def test_each_organization_has_its_own_engagements(ownership: Ownership, service: Any) -> None:
    """With the key of another organization the same id may be another engagement, so it is read with that key too."""
    ownership.ensure([requests.delete_engagement("e_1").with_key(OTHER)])

    assert [request.credential for request in service.requests] == [None, OTHER]


def test_another_organizations_key_is_not_tried_on_another_users_engagement(ownership: Ownership) -> None:
    """A faulty service may accept an invalid key, so the engagement is read."""
    ownership.after(make_exchange(requests.get_engagement("f_1").with_key(OTHER), 404, {"error": {}}))

    with pytest.raises(NotSent):
        ownership.ensure([requests.delete_engagement("f_1").with_key(OTHER)])


def test_a_key_of_yet_another_organization_reads_for_itself(ownership: Ownership, service: Any) -> None:
    """A throttled key of another organization reads its engagements itself."""
    throttled = Credential.bearer("throttled", "k")
    for key, organization in ((None, "org_1"), (throttled, "org_2")):
        read_request = requests.get_organization() if key is None else requests.get_organization().with_key(key)
        ownership.after(make_exchange(read_request, 200, {"data": {"id": organization}}))

    ownership.ensure([requests.delete_engagement("e_1").with_key(throttled)])

    assert [request.credential for request in service.requests] == [None, throttled]


@pytest.mark.parametrize(
    ("body", "is_sent"),
    [
        (b'{"name": "Quarterly audit"}', False),
        (b'{"name": ""}', False),
        (b'{"name": "  ", "description": "x"}', False),
        (f'{{"name": "", "description": "{NAME}"}}'.encode(), True),
        (f'{{"name": "{NAME}"}}'.encode(), True),
        (b'{"name": 7}', True),
        (b"{}", True),
        (b"[]", True),
        (b"{", True),
        (b"", True),
    ],
)
def test_a_creation_is_recognizable_as_the_runs(ownership: Ownership, body: bytes, *, is_sent: bool) -> None:
    """A valid creation must have the run's prefix; an invalid one need not."""
    create = requests.create_engagement({}).with_body(body)
    if is_sent:
        ownership.ensure([create])
        return
    with pytest.raises(NotSent, match="name and description do not show it"):
        ownership.ensure([create])


def test_an_unreadable_engagement_is_not_written_to(ownership: Ownership, service: Any) -> None:
    """Without a response nothing is proved."""
    service.overrides |= {"getEngagement": None, "listEngagements": None}

    with pytest.raises(NotSent, match="no read shows"):
        ownership.ensure([requests.delete_engagement("e_1")])


def test_a_clock_that_jumps_widens_the_time_of_the_run() -> None:
    """The run lasts from the earliest to the latest Date, with some minutes for clocks that differ."""
    run_time = RunTime()

    assert run_time.covers("2026-01-01T00:00:00.000Z") is False  # nothing was answered yet
    assert run_time.covers(None) is True


def test_the_time_of_an_earlier_run_stays_as_it_was() -> None:
    """An engagement created during cleanup is not the run's."""
    run_time = RunTime((1_000_000.0, 1_000_060.0))
    run_time.learn(make_exchange(requests.get_organization(), 200))

    ends = (1_000_000.0 - CLOCKS_APART, 1_000_060.0 + CLOCKS_APART)
    assert [run_time.covers(moment) for moment in ends] == [True, True]
    assert [run_time.covers(moment) for moment in (ends[0] - 1, ends[1] + 1)] == [False, False]


def test_many_threads_may_ask_at_once(ownership: Ownership) -> None:
    """All forms of a time are equal."""
    refused: list[str] = []

    def ask() -> None:
        for _ in range(50):
            ownership.ensure([requests.archive_engagement("e_1")])
            try:
                ownership.ensure([requests.archive_engagement("f_1")])
            except NotSent as withheld:
                refused.append(str(withheld))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(refused) == 200
