from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.targets.journal import Journal
from conformance.targets.journal_entries import Action, ChangeState, Entry
from conformance.targets.recorder import JournalRecorder
from conformance.wire import requests
from conformance.wire.exchange import NotSent
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import make_exchange
from tests.fakes.service import BASE_URL, MAIN_KEY, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable


OTHER = Credential.bearer("other_organization", "k")


@pytest.fixture
def recorder(journal: Journal) -> JournalRecorder:
    """The recorder of the journal."""
    return JournalRecorder(journal)


@pytest.fixture
def see(recorder: JournalRecorder) -> Callable[..., None]:
    """Passes a request and its response to the recorder."""

    def seeing(request: Request, status: int | None, body: object = None) -> None:
        recorder.ensure_harmless([request])
        recorder.before(request)
        recorder.after(make_exchange(request, status, body))

    return seeing


def create(name: object = f"{PREFIX}a") -> Request:
    """A creation with that name."""
    return requests.create_engagement({"name": name})


def created(made_id: object = "e_1", name: object = f"{PREFIX}a") -> dict[str, object]:
    """The answer to a creation."""
    return {"data": {"id": made_id, "name": name}}


def only(journal: Journal) -> Entry:
    """Return the only entry."""
    (entry,) = journal.entries()
    return entry


def test_a_creation_is_written_before_it_is_sent(journal: Journal, recorder: JournalRecorder) -> None:
    """The name is in the journal before the request is sent."""
    recorder.before(create())

    entry = only(Journal.read(journal._file.path.parent))
    assert (entry.action, entry.subject, entry.state) == (Action.CREATE_ENGAGEMENT, f"{PREFIX}a", ChangeState.INTENDED)


def test_the_response_to_a_creation_gives_the_id(journal: Journal, see: Callable[..., None]) -> None:
    """Afterwards the engagement is known by its id."""
    see(create(), 201, created())

    assert (only(journal).id, only(journal).state) == ("e_1", ChangeState.DONE)


def test_an_id_that_no_request_can_have_is_not_kept(journal: Journal, see: Callable[..., None]) -> None:
    """Megabytes of ids would make the journal too large for a cleanup."""
    see(create(), 201, created("x" * 1_000_000))

    assert (only(journal).id, only(journal).state) == (None, ChangeState.INTENDED)
    assert len(journal.changed(str)) < 10_000


@pytest.mark.parametrize("status", [None, 500, 503, 302, 429])
def test_a_creation_without_a_verdict_stays_intended(
    journal: Journal, see: Callable[..., None], status: int | None
) -> None:
    """Without the service's response the entry stays intended."""
    see(create(), status, {})

    assert only(journal).state is ChangeState.INTENDED


@pytest.mark.parametrize("body", [{}, {"data": {}}, {"data": {"id": True}}, {"data": {"id": ""}}, [], b"\xff"])
def test_a_creation_without_an_id_stays_intended(journal: Journal, see: Callable[..., None], body: object) -> None:
    """A success without an id stays to be found by its name."""
    see(create(), 201, body)

    assert only(journal).state is ChangeState.INTENDED


def test_an_id_that_is_a_number_is_recorded_as_text(journal: Journal, see: Callable[..., None]) -> None:
    """A number as an id is recorded as a text."""
    see(create(), 201, {"data": {"id": 7}})

    assert (only(journal).id, only(journal).state) == ("7", ChangeState.DONE)


@pytest.mark.parametrize("status", [400, 401, 403, 409, 422])
def test_a_refused_creation_is_noted_as_such(journal: Journal, see: Callable[..., None], status: int) -> None:
    """A 4xx is recorded as refused, and undoing verifies it."""
    see(create(), status, {})

    assert only(journal).state is ChangeState.REFUSED


def test_a_429_that_was_sought_is_a_refusal(journal: Journal, recorder: JournalRecorder) -> None:
    """A 429 that was expected is a refusal."""
    request = Request(operation=create().operation, body=create().body, expects_429=True)
    recorder.before(request)
    recorder.after(make_exchange(request, 429, {}))

    assert only(journal).state is ChangeState.REFUSED


def test_a_repetition_belongs_to_its_request(journal: Journal, recorder: JournalRecorder) -> None:
    """A retried creation is one entry, with the id of the second attempt."""
    recorder.before(create())
    recorder.after(make_exchange(create(), 429, {}))
    recorder.after(replace(make_exchange(create(), 201, created()), attempt=2))

    assert only(journal).id == "e_1"


def test_equal_requests_under_way_are_entries_of_their_own(journal: Journal, recorder: JournalRecorder) -> None:
    """Two creations of one name get both their ids."""
    for _ in range(2):
        recorder.before(create())
    for made_id in ("e_1", "e_2"):
        recorder.after(make_exchange(create(), 201, created(made_id)))

    assert sorted(str(entry.id) for entry in journal.entries()) == ["e_1", "e_2"]


@pytest.mark.parametrize("status", [200, 204, 404, 410])
def test_a_deletion_settles_its_creation(journal: Journal, see: Callable[..., None], status: int) -> None:
    """A deleted engagement, or one that was gone, is settled."""
    see(create(), 201, created())

    see(requests.delete_engagement("e_1"), status, {})

    assert journal.pending() == []


@pytest.mark.parametrize("status", [None, 403, 409, 500, 503])
def test_a_deletion_that_failed_settles_nothing(journal: Journal, see: Callable[..., None], status: int | None) -> None:
    """Without a successful deletion the entry stays pending."""
    see(create(), 201, created())

    see(requests.delete_engagement("e_1"), status, {})

    assert [entry.id for entry in journal.pending()] == ["e_1"]


SCOPED = Credential.bearer("engagements:delete", "k")
NO_KEY = Credential("none", None)


@pytest.mark.parametrize(
    ("credential", "status"), [(OTHER, 200), (OTHER, 404), (NO_KEY, 200), (NO_KEY, 404), (SCOPED, 404)]
)
def test_a_deletion_with_another_key_settles_nothing(
    journal: Journal, see: Callable[..., None], credential: Credential, status: int
) -> None:
    """A 404 for another organization's or a single-permission key settles nothing."""
    see(create(), 201, created())

    see(requests.delete_engagement("e_1").with_key(credential), status, {})

    assert [entry.id for entry in journal.pending()] == ["e_1"]


def test_a_deletion_with_a_key_of_the_organization_settles_its_creation(
    journal: Journal, see: Callable[..., None]
) -> None:
    """A deletion with a key that has the permission settles the entry."""
    see(create(), 201, created())

    see(requests.delete_engagement("e_1").with_key(SCOPED), 200, {})

    assert journal.pending() == []


def test_each_organization_settles_its_own(journal: Journal, see: Callable[..., None]) -> None:
    """An engagement of the other organization is settled by a deletion with its key."""
    see(create().with_key(OTHER), 201, created())

    see(requests.delete_engagement("e_1").with_key(OTHER), 200, {})

    assert journal.pending() == []


def test_a_renaming_remembers_the_first_name(journal: Journal, see: Callable[..., None]) -> None:
    """After several renamings the name before the run is recorded."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(requests.update_organization({"name": "B"}), 200, {"data": {}})
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "B"}})
    see(requests.update_organization({"name": "C"}), 200, {"data": {}})

    assert journal.place.organization == "org_1"
    assert [entry.before for entry in journal.pending()] == ["Acme", "Acme"]


@pytest.mark.parametrize("shown_by", ["the response", "a read"])
def test_a_name_that_became_another_is_noted(journal: Journal, see: Callable[..., None], shown_by: str) -> None:
    """The name right after a renaming counts as the run's, and a later one does not."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(
        requests.update_organization({"name": " B "}),
        200,
        {"data": {"name": "B"} if shown_by == "the response" else {}},
    )
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "B"}})
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Another user's"}})

    assert [entry.became for entry in journal.pending()] == ["B"]


@pytest.mark.parametrize(("shown", "became"), [("", ""), ("null", "null"), ("Another user's", None)])
def test_an_update_without_a_name_gives_no_name(
    journal: Journal, see: Callable[..., None], shown: str, became: str | None
) -> None:
    """The name after an update without one may be another user's, given meanwhile; a careless service removes it."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(requests.update_organization({}), 200, {"data": {"name": shown}})

    assert [entry.became for entry in journal.pending()] == [became]


def test_a_name_after_the_run_is_not_the_runs(journal: Journal, see: Callable[..., None]) -> None:
    """Somebody may have named the organization before a cleanup, which must leave that name alone."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(requests.update_organization({"name": "B"}), 200, {"data": {}})
    journal.close()
    with closing(Journal.claim(journal._file.path.parent, MAIN_KEY)) as claimed:
        shown = {"data": {"id": "org_1", "name": "Another user's"}}
        JournalRecorder(claimed).after(make_exchange(requests.get_organization(), 200, shown))

        assert [entry.became for entry in claimed.pending()] == [None]


def test_the_service_is_noted_with_its_time(journal: Journal, see: Callable[..., None]) -> None:
    """The journal has the organization, its service and the start of the run."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "createdAt": "2020-01-01T00:00:00.000Z"}})

    place = journal.place
    assert (place.base_url, place.organization, place.created_at) == (BASE_URL, "org_1", "2020-01-01T00:00:00.000Z")
    assert place.since is not None


@pytest.mark.parametrize(
    ("body", "subject"),
    [
        ({"name": f"{PREFIX}a", "description": f"{PREFIX}b"}, f"{PREFIX}a"),
        ({"name": "  ", "description": f"{PREFIX}b"}, f"{PREFIX}b"),
        ({"name": "  ", "description": "b"}, "  "),
    ],
)
def test_the_name_or_description_with_the_prefix_is_recorded(
    journal: Journal, recorder: JournalRecorder, body: object, subject: str
) -> None:
    """The name or description with the run's prefix is recorded."""
    recorder.before(requests.create_engagement(body))

    assert only(journal).subject == subject


def test_naming_back_settles_every_renaming(journal: Journal, see: Callable[..., None]) -> None:
    """Restoring the first name settles the entries."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(requests.update_organization({"name": "B"}), 200, {"data": {}})
    see(requests.update_organization({"name": "C"}), None)
    see(requests.update_organization({"name": "Acme"}), 200, {"data": {}})

    assert journal.pending() == []


def test_a_name_that_was_read_after_a_renaming_is_not_the_first(journal: Journal, see: Callable[..., None]) -> None:
    """Without an earlier read the first name is unknown."""
    see(requests.update_organization({"name": "B"}), 200, {"data": {}})
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "B"}})
    see(requests.update_organization({"name": "C"}), 200, {"data": {}})

    assert [entry.before for entry in journal.pending()] == [None, None]


def test_an_organization_whose_name_is_hidden_is_not_renamed(journal: Journal, see: Callable[..., None]) -> None:
    """A name with a hidden text could not be restored, so a renaming is refused."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "<header:X-Tenant> Ltd"}})

    with pytest.raises(NotSent, match="could not be restored"):
        see(requests.update_organization({"name": "B"}), 200, {"data": {}})
    assert journal.pending() == []


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["Acme", "Acme Holding"], "another user renamed the organization during the run"),
        (["cf-zzzzzz22-organization"], "the organization has a name of another run"),
        (["CF-ZZZZZZ22- organization"], "the organization has a name of another run"),
    ],
)
def test_a_name_that_another_user_may_want_is_not_overwritten(
    journal: Journal, see: Callable[..., None], names: list[str], reason: str
) -> None:
    """Restoring the name before would undo what another user, or another run, did or will do."""
    for name in names:
        see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": name}})
        see(requests.update_organization({"name": "B"}), 401) if name == "Acme" else None

    with pytest.raises(NotSent, match=reason):
        see(requests.update_organization({"name": "C"}), 200, {"data": {}})
    assert len(journal.pending()) == len(names) - 1


@pytest.mark.parametrize(
    ("sent", "shown", "then"), [(False, "False", "B"), ({"a": 1}, '{"a": 1}', "B"), (5, "5", "Acme")]
)
def test_a_name_that_a_refused_renaming_has_given_is_the_runs(
    journal: Journal, see: Callable[..., None], sent: object, shown: str, then: str
) -> None:
    """A faulty service may rename although it refuses that, and the name before may be restored."""
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(requests.update_organization({"name": sent}), 422)
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": shown}})

    see(requests.update_organization({"name": then}), 200, {"data": {}})

    assert [entry.subject for entry in journal.pending()] == ([] if then == "Acme" else ["B", None])


@pytest.mark.parametrize("status", [200, 422, None])
def test_the_name_before_is_not_restored_over_another_users(
    journal: Journal, see: Callable[..., None], status: int | None
) -> None:
    """The run has renamed the organization, or tried to, and another user did so later; that name stays."""
    back = requests.update_organization({"name": "Acme"})
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(requests.update_organization({"name": f"{PREFIX}b"}), status, {"data": {"name": f"{PREFIX}b"}})
    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Another user's"}})

    with pytest.raises(NotSent, match="another user renamed the organization"):
        see(back, 200, {"data": {}})
    assert [entry.became for entry in journal.pending()] == [None]

    see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": "Acme"}})
    see(back, 200, {"data": {}})
    assert journal.pending() == []


def test_a_late_read_of_a_name_of_the_run_does_not_count(journal: Journal, see: Callable[..., None]) -> None:
    """A response that shows a name of the run after the restoration does not stop renamings."""
    for name in ("Acme", f"{PREFIX}organization"):
        see(requests.get_organization(), 200, {"data": {"id": "org_1", "name": name}})
    see(requests.update_organization({"name": f"{PREFIX}b"}), 200, {"data": {}})

    assert only(journal).before == "Acme"


@pytest.mark.parametrize(
    "hidden",
    [
        requests.delete_engagement("<header:X-Tenant>-1"),
        requests.get_engagement("a<environment:ORG>"),
        requests.update_organization({"name": "<provisioner:2>"}),
    ],
)
def test_nothing_is_sent_with_a_placeholder(see: Callable[..., None], hidden: requests.Request) -> None:
    """A request with a placeholder would address another resource."""
    with pytest.raises(NotSent, match="the target file hides"):
        see(hidden, 200, {"data": {}})


def test_a_role_change_remembers_the_role_before(journal: Journal, see: Callable[..., None]) -> None:
    """The first listed role is recorded, and restoring it settles the change."""
    odd = [{"id": 7}, {"id": {"a": 1}, "role": "admin"}, "x"]
    see(requests.list_members(), 200, {"data": [{"id": "u_1", "role": "member"}, *odd]})
    see(requests.update_member_role("u_1", {"role": "admin"}), 200, {"data": {}})
    see(requests.list_members(), 200, {"data": [{"id": "u_1", "role": "admin"}]})
    assert [(entry.before, entry.wanted) for entry in journal.pending()] == [("member", "admin")]

    see(requests.update_member_role("u_1", {"role": "member"}), 200, {"data": {}})

    assert journal.pending() == []


def test_a_refused_role_change_leaves_nothing(journal: Journal, see: Callable[..., None]) -> None:
    """A refused change of the owner's role needs no undoing."""
    see(requests.update_member_role("u_0", {"role": "admin"}), 409, {})

    assert journal.pending() == []


def test_removing_a_member_of_the_run_settles_everything_about_them(journal: Journal, see: Callable[..., None]) -> None:
    """Removing a created member settles its entries."""
    journal.member_made("u_9", "member", "")
    see(requests.update_member_role("u_9", {"role": "admin"}), 200, {"data": {}})

    see(requests.remove_member("u_9"), 200, {"data": {"removed": True}})

    assert journal.pending() == []
    assert journal.lasting() == []


def test_removing_another_member_lasts(journal: Journal, see: Callable[..., None]) -> None:
    """A removed member of the target file is listed as lasting."""
    see(requests.remove_member("u_1"), 200, {"data": {"removed": True}})

    assert journal.lasting() == ["The member u_1 was removed."]


def test_invitations_are_written_down(journal: Journal, see: Callable[..., None]) -> None:
    """The address of an invitation is listed as lasting."""
    see(requests.invite_member({"email": "a@x", "role": "member"}), 201, {"data": {}})
    see(requests.invite_member({"email": 7}), 422, {})

    assert journal.lasting() == ["a@x was invited; an invitation expires after seven days."]


@pytest.mark.parametrize(
    "sent",
    [
        requests.get_engagement("e_1"),
        requests.update_engagement("e_1", {"name": "x"}),
        requests.archive_engagement("e_1"),
        requests.list_engagements(),
        Request(operation=create().operation, probe=("POST", "/api/v1/engagements/e/tasks")),
    ],
)
def test_requests_without_undoing_have_no_entry(journal: Journal, see: Callable[..., None], sent: Request) -> None:
    """Reads, edits of own engagements and probes have no entry."""
    see(sent, 200, created())

    assert journal.entries() == []


def test_a_long_name_is_cut_in_the_journal(journal: Journal, recorder: JournalRecorder) -> None:
    """Only the beginning of a long name is recorded."""
    recorder.before(create(PREFIX + "x" * 100_000))

    assert only(journal).subject == (PREFIX + "x" * 100_000)[:200]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 5000, b'{"name": 7}', b'{"name": null}'])
def test_any_body_is_written_down(journal: Journal, recorder: JournalRecorder, body: bytes) -> None:
    """A creation with an invalid body has an entry without a name."""
    recorder.before(create().with_body(body))

    assert only(journal).subject is None


def test_the_journal_holds_no_key(journal: Journal, see: Callable[..., None]) -> None:
    """An entry has the name of the key."""
    see(create().with_key(Credential.bearer("engagements:write", "swordfish")), 201, created())

    assert b"swordfish" not in journal._file.path.read_bytes()
    assert only(journal).key == "engagements:write"


FIELDS = {"plan": "team", "settings": {"requireTwoFactor": False}}


@pytest.mark.parametrize(
    ("status", "after", "shown", "settled"),
    [
        (200, 1.1, FIELDS, True),
        (422, 1.1, FIELDS, True),
        (200, 0.9, FIELDS, False),
        (200, 1.1, FIELDS | {"settings": {"requireTwoFactor": True}}, False),
        (None, 1.1, FIELDS, False),
    ],
    ids=["ignored", "refused", "too-early", "stored", "without-a-response"],
)
def test_fields_that_an_update_left_are_not_undone(
    journal: Journal,
    recorder: JournalRecorder,
    *,
    status: int | None,
    after: float,
    shown: dict[str, object],
    settled: bool,
) -> None:
    """A read shows that, unless a service may still store them; a later change is another user's."""

    def see(request: Request, status: int | None, body: object, at: float) -> None:
        recorder.before(request)
        recorder.after(make_exchange(request, status, body, at=at, seconds=0.0))

    update = requests.update_organization({"name": "Acme", "settings": {"requireTwoFactor": True}})
    see(requests.get_organization(), 200, {"data": {"name": "Acme", **FIELDS}}, 0.0)
    see(update, status, {"data": {"name": "Acme"}}, 1.0)
    see(requests.get_organization(), 200, {"data": {"name": "Acme", **shown}}, 1.0 + after)

    assert bool(journal.unsettled(Action.CHANGE_FIELDS)) is not settled
