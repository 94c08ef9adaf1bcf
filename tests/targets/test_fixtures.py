from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.capabilities import MissingMeans
from conformance.targets.fixtures import Fixtures
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership
from conformance.targets.profile import Mode, Profile
from conformance.targets.provisioner import Mail, ProvisionedMember
from conformance.targets.rpc import MethodMissing, ProvisionerError
from conformance.targets.secret import Secret
from conformance.wire.requests import get_organization
from tests.fakes.exchanges import make_exchange
from tests.fakes.service import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.targets.provisioner import MemberRole
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

PROVISIONED = "provisioner: {command: [p]}\n"
DISPOSABLE = "disposable: true\n"
TEMPLATE = """
subordinates:
  - kind: task
    create: {path: "/api/v1/engagements/{engagementId}/tasks", body: {of: "{engagementId}", in: ["{engagementId}", 1]}}
    read: {path: "/api/v1/engagements/{engagementId}/tasks/{id}"}
"""


class Program:
    """A provisioner in this process; ``failing`` maps methods to what they raise."""

    def __init__(self, **failing: Exception) -> None:
        self.failing = failing
        self.calls: list[str] = []
        self.mails: list[list[Mail]] = []
        self.member_key: Secret | None = Secret("member-key")
        self.late_members: list[ProvisionedMember] = []

    def _count(self, method: str) -> None:
        self.calls.append(method)
        if method in self.failing:
            raise self.failing[method]

    def create_key(self, scopes: list[str]) -> Secret:
        """Return a key that contains its permissions."""
        self._count("create_key")
        return Secret("key-with-" + "+".join(scopes))

    def create_throttled_key(self) -> Secret:
        """Return always the same key."""
        self._count("create_throttled_key")
        return Secret("slow-key")

    def create_organization(self) -> Secret:
        """Return always the same key."""
        self._count("create_organization")
        return Secret("other-key")

    def create_member(self, role: MemberRole) -> ProvisionedMember:
        """Return a new member each time, or raise."""
        self._count("create_member")
        number = len(self.calls)
        return ProvisionedMember(f"u_{number}", f"{role}{number}@x", self.member_key, role)

    def read_mail(self, _to: str) -> list[Mail]:
        """Return the next prepared result."""
        self._count("read_mail")
        return self.mails.pop(0) if self.mails else []

    def create_subordinate(self, engagement_id: str, kind: str) -> str:
        """Return an id that contains the arguments."""
        self._count("create_subordinate")
        return f"{engagement_id}/{kind}"

    def subordinate_exists(self, _engagement_id: str, _kind: str, record_id: str) -> bool:
        """Whether the record is ``there``."""
        self._count("subordinate_exists")
        return record_id == "there"


class Hiding:
    """A redactor that records secrets, and removes one word from texts."""

    def __init__(self, hidden: list[tuple[str, str]]) -> None:
        self.hidden = hidden

    def add(self, name: str, secret: str) -> None:
        """Record it."""
        self.hidden.append((name, secret))

    def text(self, text: str) -> str:
        """Return the text without the secret word."""
        return text.replace("open-sesame", "<hidden>")


@pytest.fixture
def hidden() -> list[tuple[str, str]]:
    """The secrets that the redactor got."""
    return []


@pytest.fixture
def fixtures(load: Callable[..., Profile], hidden: list[tuple[str, str]], service: Any) -> Callable[..., Fixtures]:
    """Returns fixtures of a target file's text, whose members the service has."""
    service.roles = {"u_owner": "owner"}

    def making(text: str = "", program: Any = None, *, mode: Mode | None = None, **more: Any) -> Fixtures:
        profile = load(text, options={"mode": mode})
        service.roles = {member.user_id: "member" for member in profile.members} | service.roles
        membership = Membership(service.send_all)
        needed = {"send": service.send, "journal": RecordedMembers(), "membership": membership}
        return Fixtures(profile, program, Hiding(hidden), **needed | more)

    return making


class Foreign:
    """An ownership guard to which some keys belong to another organization."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def is_foreign(self, key: Credential, *, may_update: bool = False) -> bool:
        """Whether the key is one of these."""
        assert may_update is (key.name == "organizations:write")
        return key.name in self.names


USES: dict[str, Callable[[Fixtures], object]] = {
    "a key": lambda made: made.scoped_key("engagements:write"),
    "a new key": lambda made: made.new_key("engagements:write"),
    "several permissions": lambda made: made.key_with("both", ["engagements:read", "engagements:write"]),
    "a member": lambda made: made.member(),
}


@pytest.mark.parametrize("use", USES)
def test_a_provisioner_of_another_organization_is_not_used(fixtures: Callable[..., Fixtures], use: str) -> None:
    """If a key that may read its organization shows another one, no other key is created, and no member."""
    program = Program()
    made = fixtures(DISPOSABLE + PROVISIONED, program, ownership=Foreign("organizations:read"))

    for _ in range(2):
        with pytest.raises(MissingMeans, match="keys of another organization"):
            USES[use](made)

    assert program.calls == ["create_key"]


def test_a_member_of_another_organization_is_not_used(fixtures: Callable[..., Fixtures]) -> None:
    """Without such a key, the key of the first member shows it."""
    program = Program(create_key=MethodMissing("The provisioner has no method create_key."))
    made = fixtures(DISPOSABLE + PROVISIONED, program, ownership=Foreign("member_1"))

    for _ in range(2):
        with pytest.raises(MissingMeans, match="keys of another organization"):
            made.member()

    assert program.calls.count("create_member") == 1


def test_keys_of_the_file_come_first(fixtures: Callable[..., Fixtures], hidden: list[tuple[str, str]]) -> None:
    """A key of the target file is used instead of the provisioner."""
    program = Program()

    credential = fixtures(PROVISIONED + "keys: {engagements:read: file-key}", program).scoped_key("engagements:read")

    assert (credential.name, credential.authorization) == ("engagements:read", "Bearer file-key")
    assert program.calls == []
    assert hidden == [("engagements:read", "file-key")]


def test_keys_are_made_once_and_shared(fixtures: Callable[..., Fixtures], hidden: list[tuple[str, str]]) -> None:
    """Each key is created on first use, and added to the redactor first."""
    program = Program()
    made = fixtures(PROVISIONED, program)

    for _ in range(2):
        assert made.scoped_key("engagements:read").authorization == "Bearer key-with-engagements:read"
        assert made.other_organization().authorization == "Bearer other-key"
        assert made.throttled().authorization == "Bearer slow-key"

    assert program.calls == ["create_key", "create_organization", "create_throttled_key"]
    assert hidden == [
        ("engagements:read", "key-with-engagements:read"),
        ("other_organization", "other-key"),
        ("throttled", "slow-key"),
    ]


def test_the_main_key_is_available(fixtures: Callable[..., Fixtures]) -> None:
    """The main credential is named as the target file names it."""
    assert fixtures().main.name == "api_key"


@pytest.mark.parametrize(
    ("ask", "need", "line"),
    [
        (lambda made: made.scoped_key("engagements:read"), "key:engagements:read", "keys: {engagements:read: ${KEY_"),
        (lambda made: made.other_organization(), "other_organization", "keys: {other_organization: ${KEY_OTHER}}"),
        (lambda made: made.throttled(), "throttled", "keys: {throttled: ${KEY_SLOW}}"),
        (lambda made: made.mail("a@x"), "mailbox", "mailbox: {smtp: 127.0.0.1:1025}"),
        (lambda made: made.make_subordinate("e", "task"), "subordinates:task", "subordinates: [{kind: task"),
        (lambda made: made.subordinate_exists("e", "task", "1"), "subordinates:task", "subordinates: [{kind: task"),
    ],
)
def test_a_missing_need_reports_the_line_to_add(
    fixtures: Callable[..., Fixtures], ask: Callable[[Fixtures], object], need: str, line: str
) -> None:
    """Without a provisioner each need says what unlocks it."""
    with pytest.raises(MissingMeans) as caught:
        ask(fixtures())

    assert caught.value.need == need
    assert line in caught.value.reason


def test_members_need_a_line_too(fixtures: Callable[..., Fixtures]) -> None:
    """In a disposable organization without members the reason has the line for members."""
    with pytest.raises(MissingMeans, match=r"members: \[\{user_id: ID\}\]"):
        fixtures(DISPOSABLE).member()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ProvisionerError("The provisioner could not be started: gone."), "could not be started: gone."),
        (MethodMissing("The provisioner has no method create_key."), "no method create_key. To unlock it: keys:"),
    ],
)
def test_a_failing_provisioner_is_called_once(
    fixtures: Callable[..., Fixtures], failure: Exception, reason: str
) -> None:
    """A failure makes the need unavailable, with the reason, for every later check as well."""
    program = Program(create_key=failure)
    made = fixtures(PROVISIONED, program)

    for _ in range(3):
        with pytest.raises(MissingMeans) as caught:
            made.scoped_key("engagements:read")
        assert reason in caught.value.reason

    assert program.calls == ["create_key"]


def test_the_error_of_a_provisioner_shows_no_key(fixtures: Callable[..., Fixtures]) -> None:
    """Reasons show no known secret and no likely key."""
    said = ProvisionerError("The provisioner could not do it: open-sesame and sk_live_9f8a7b6c5d4e were made.")

    with pytest.raises(MissingMeans) as caught:
        fixtures(PROVISIONED, Program(create_key=said)).scoped_key("engagements:read")

    assert caught.value.reason.endswith("<hidden> and <withheld> were made.")


def test_mail_shows_no_key(fixtures: Callable[..., Fixtures]) -> None:
    """E-mails are redacted like responses."""
    program = Program()
    program.mails = [[Mail("open-sesame@x", ("a@x",), "for open-sesame", "https://x/?k=open-sesame")]]

    (mail,) = fixtures(PROVISIONED, program).mail("a@x")

    assert "open-sesame" not in repr(mail)
    assert mail.text == "https://x/?k=<hidden>"


def test_the_main_key_serves_for_the_limit_where_disposable(fixtures: Callable[..., Fixtures]) -> None:
    """In a disposable organization a run may exceed the main key's limit."""
    assert fixtures(DISPOSABLE).throttled().name == "api_key"


def test_the_main_key_serves_for_the_limit_where_it_is_named(fixtures: Callable[..., Fixtures]) -> None:
    """If the throttled key is the main key, no other key is used."""
    made = fixtures("keys: {throttled: main-key-0001}")

    assert made.throttled() == made.main


class RecordedMembers:
    """A journal of members."""

    def __init__(self) -> None:
        self.members: list[tuple[str, str]] = []

    def member_made(self, user_id: str, role: str, email: str) -> None:
        """Note a member."""
        self.members.append((user_id, role))


def test_every_member_is_a_fresh_one(fixtures: Callable[..., Fixtures], hidden: list[tuple[str, str]]) -> None:
    """Each check gets its own member, and the journal records each."""
    notes = RecordedMembers()
    made = fixtures(DISPOSABLE + PROVISIONED, Program(), journal=notes)
    first, second = made.member("member"), made.member("admin", with_key=True)

    assert (first.user_id, first.email, first.role) == ("u_1", "member1@x", "member")
    assert second.user_id == "u_2"
    assert second.credential is not None
    assert second.credential.name == "member_2"
    assert notes.members == [("u_1", "member"), ("u_2", "admin")]
    assert ("member_2", "member-key") in hidden


def test_members_that_came_too_late_are_recorded(
    fixtures: Callable[..., Fixtures], hidden: list[tuple[str, str]], service: Any
) -> None:
    """The journal records them, so that they are removed; earlier members and owners stay."""
    notes, program = RecordedMembers(), Program(create_member=ProvisionerError("It did not respond."))
    service.roles |= {"u_earlier": "member"}
    made = fixtures(DISPOSABLE + PROVISIONED, program, journal=notes)
    with pytest.raises(MissingMeans, match="did not respond"):
        made.member("admin")
    program.late_members = [
        ProvisionedMember(user_id, "late@x", Secret("late-key"), "admin")
        for user_id in ("u_earlier", "u_owner", "u_late")
    ]

    made.admit_late_members()

    assert notes.members == [("u_late", "admin")]
    assert ("member_1", "late-key") in hidden


def test_members_of_the_file_are_used_up(fixtures: Callable[..., Fixtures]) -> None:
    """Members of the target file are given once each; then none is left."""
    made = fixtures(DISPOSABLE + "members: [{user_id: u_1}, {user_id: u_2, key: key-of-two}, {user_id: u_3}]")

    assert made.member(with_key=True).user_id == "u_2"
    assert [made.member().user_id, made.member().user_id] == ["u_1", "u_3"]
    with pytest.raises(MissingMeans, match="have been used"):
        made.member()


def test_a_member_of_the_file_keeps_the_number_of_its_key(fixtures: Callable[..., Fixtures]) -> None:
    """The second member's key is called ``member_2`` in every output."""
    made = fixtures(DISPOSABLE + "members: [{user_id: u_1}, {user_id: u_2, key: key-of-two}]")

    credential = made.member(with_key=True).credential

    assert credential is not None
    assert credential.name == "member_2"


def test_members_of_the_file_replace_a_provisioner_without_members(fixtures: Callable[..., Fixtures]) -> None:
    """A provisioner that cannot make members, or not with keys, leaves those of the file."""
    text = DISPOSABLE + PROVISIONED + "members: [{user_id: u_file, key: file-key}]"
    without = Program(create_member=MethodMissing("no"))
    keyless = Program()
    keyless.member_key = None

    assert fixtures(text, without).member().user_id == "u_file"
    assert fixtures(text, keyless).member(with_key=True).user_id == "u_file"


def test_members_without_keys_are_not_made_twice(fixtures: Callable[..., Fixtures]) -> None:
    """If new members have no keys, none is created for a check that needs a key."""
    program = Program()
    program.member_key = None
    made = fixtures(DISPOSABLE + PROVISIONED, program)

    for _ in range(3):
        with pytest.raises(MissingMeans):
            made.member(with_key=True)

    assert program.calls == ["create_member"]


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.READ_ONLY])
def test_members_are_for_disposable_organizations(fixtures: Callable[..., Fixtures], mode: Mode) -> None:
    """Only disposable organizations have members for checks."""
    program = Program()

    with pytest.raises(MissingMeans, match="disposable"):
        fixtures(PROVISIONED + "members: [{user_id: u_1}]", program, mode=mode).member()

    assert program.calls == []


def test_a_read_only_run_makes_no_records(fixtures: Callable[..., Fixtures]) -> None:
    """A read-only run creates no subordinate record."""
    program = Program()

    with pytest.raises(MissingMeans, match="read-only"):
        fixtures(PROVISIONED, program, mode=Mode.READ_ONLY).make_subordinate("e", "task")

    assert program.calls == []


def test_mail_is_read_until_some_comes(fixtures: Callable[..., Fixtures]) -> None:
    """The provisioner is polled until the time is over."""
    program = Program()
    mail = Mail("s", ("a@x",), "t", "x")
    program.mails = [[], [mail]]

    assert fixtures(PROVISIONED, program).mail("a@x", patience=60) == [mail]
    assert program.calls == ["read_mail", "read_mail"]


def test_mail_is_read_until_the_wanted_one_comes(fixtures: Callable[..., Fixtures]) -> None:
    """Other e-mails may arrive first."""
    program = Program()
    notice, invitation = (Mail("s", ("a@x",), "t", text) for text in ("x", "y"))
    program.mails = [[notice], [notice, invitation]]

    found = fixtures(PROVISIONED, program).mail("a@x", 60, lambda mail: mail.text == "y")

    assert found == [notice, invitation]


def test_mail_that_is_not_wanted_is_all_there_is(fixtures: Callable[..., Fixtures]) -> None:
    """Other e-mails are returned when the time is over."""
    program = Program()
    notice = Mail("s", ("a@x",), "t", "x")
    program.mails = [[notice]] * 10

    assert fixtures(PROVISIONED, program).mail("a@x", 0.3, lambda _: False) == [notice]


def test_mail_that_is_shown_once_proves_nothing_later(fixtures: Callable[..., Fixtures]) -> None:
    """A program that leaves out what it has returned before cannot show that no e-mail arrived."""
    program = Program()
    program.mails = [[Mail("s", ("a@x",), "t", "x")], []]
    made = fixtures(PROVISIONED, program)

    assert len(made.mail("a@x")) == 1
    with pytest.raises(MissingMeans, match="has lost e-mails"):
        made.mail("a@x")


def test_mail_that_comes_while_a_slow_program_reads_is_found(
    fixtures: Callable[..., Fixtures], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A last read begins after the time is over."""
    program, clock = Program(), [0.0]
    mail = Mail("s", ("a@x",), "t", "x")
    program.mails = [[], [mail]]
    slow = program.read_mail

    def read_mail(to: str) -> list[Mail]:
        clock[0] += 5.0
        return slow(to)

    monkeypatch.setattr(program, "read_mail", read_mail)
    monkeypatch.setattr("conformance.targets.fixtures.time.monotonic", lambda: clock[0])

    assert fixtures(PROVISIONED, program).mail("a@x", patience=3) == [mail]


def test_mail_without_a_time_limit_is_read_once(fixtures: Callable[..., Fixtures]) -> None:
    """Without a time limit the mail is read once."""
    program = Program()

    assert fixtures(PROVISIONED, program).mail("a@x") == []
    assert program.calls == ["read_mail"]


def test_the_suites_own_mailbox_comes_first(fixtures: Callable[..., Fixtures]) -> None:
    """The suite's own mailbox is used instead of the provisioner."""

    class Box:
        def messages(self, to: str, patience: float) -> list[Mail]:
            return [Mail("s", (to,), str(patience), "")]

    made = fixtures(PROVISIONED, Program(), mailbox=Box())

    assert made.mail("a@x", 3.0) == [Mail("s", ("a@x",), "0.25", "")]


def test_records_are_made_by_the_provisioner(fixtures: Callable[..., Fixtures]) -> None:
    """Without a template the provisioner creates and finds records."""
    made = fixtures(PROVISIONED, Program())

    assert made.make_subordinate("e", "task") == "e/task"
    assert made.subordinate_exists("e", "task", "there") is True
    assert made.subordinate_exists("e", "task", "gone") is False


def test_records_are_made_through_the_service(fixtures: Callable[..., Fixtures]) -> None:
    """A template's request is sent, and the id is read from the response."""
    sent: list[Request] = []

    def send(request: Request) -> Exchange:
        sent.append(request)
        return make_exchange(request, 201, {"data": {"id": 7}})

    made = fixtures(TEMPLATE, send=send)
    record = made.make_subordinate("a/b", "task")
    there = made.subordinate_exists("a/b", "task", "x?y")

    assert (record, there) == ("7", True)
    assert (sent[0].method, sent[0].path) == ("POST", "/api/v1/engagements/a%2Fb/tasks")
    assert json.loads(sent[0].body or b"") == {"of": "a/b", "in": ["a/b", 1]}
    assert (sent[1].method, sent[1].path) == ("GET", "/api/v1/engagements/a%2Fb/tasks/x%3Fy")
    assert not any(request.is_proper for request in sent)
    assert all(request.unjudged for request in sent)
    assert [request.harmless for request in sent] == [False, True]


@pytest.mark.parametrize(("status", "there"), [(200, True), (204, True), (404, False), (410, False)])
def test_the_status_shows_whether_a_record_exists(
    fixtures: Callable[..., Fixtures], status: int, *, there: bool
) -> None:
    """Any 2xx is yes; 404 and 410 are no."""
    made = fixtures(TEMPLATE, send=lambda request: make_exchange(request, status, {}))

    assert made.subordinate_exists("e", "task", "1") is there


@pytest.mark.parametrize("status", [403, 500, 503, None])
def test_another_status_is_unavailable(fixtures: Callable[..., Fixtures], status: int | None) -> None:
    """Any other status, or no response, is unavailable."""
    made = fixtures(TEMPLATE, send=lambda request: make_exchange(request, status, {}))

    with pytest.raises(MissingMeans):
        made.subordinate_exists("e", "task", "1")
    with pytest.raises(MissingMeans):
        made.make_subordinate("e", "task")


@pytest.mark.parametrize(
    "body", [{}, {"data": {}}, {"data": {"id": None}}, {"data": {"id": True}}, {"data": []}, [], b"x"]
)
def test_a_response_without_an_id_makes_no_record(fixtures: Callable[..., Fixtures], body: object) -> None:
    """A response without an id at the template's pointer is unavailable."""
    made = fixtures(TEMPLATE, send=lambda request: make_exchange(request, 201, body))

    with pytest.raises(MissingMeans, match="has no id at /data/id"):
        made.make_subordinate("e", "task")


def test_an_id_is_found_in_lists_and_under_odd_names(fixtures: Callable[..., Fixtures]) -> None:
    """The pointer supports lists and escaped names."""
    made = fixtures(
        TEMPLATE.rstrip() + "\n    id: /a~1b/0/c~0d\n",
        send=lambda request: make_exchange(request, 201, {"a/b": [{"c~d": "x"}]}),
    )

    assert made.make_subordinate("e", "task") == "x"


@pytest.mark.parametrize(
    ("text", "ask", "name"),
    [
        ("keys: {organizations:write: k}", lambda made: made.scoped_key("organizations:write"), "organizations:write"),
        ("keys: {throttled: k}", lambda made: made.throttled(), "throttled"),
        (DISPOSABLE + "members: [{user_id: u_7, key: k}]", lambda made: made.member(with_key=True), "member_1"),
    ],
)
@pytest.mark.parametrize("shown", ["org_2", "org_1", None])
def test_a_key_of_another_organization_is_not_used(
    fixtures: Callable[..., Fixtures],
    service: Any,
    text: str,
    ask: Callable[[Fixtures], object],
    name: str,
    shown: str | None,
) -> None:
    """The organization of a target file's key is read; without the permission it is accepted."""

    def send_all(requests: Sequence[Request]) -> list[Exchange]:
        responses = [
            make_exchange(request, 403 if shown is None else 200, {"data": {"id": shown}})
            if request.credential is not None
            else service.send(request)
            for request in requests
        ]
        for response in responses:
            ownership.after(response)
        return responses

    ownership = Ownership(RunNames(PREFIX), send_all)
    send_all([get_organization()])
    made = fixtures(text, ownership=ownership, mode=None)

    if shown == "org_2":
        with pytest.raises(MissingMeans, match=f"The key {name} belongs to another organization than the main key"):
            ask(made)
    else:
        ask(made)


@pytest.mark.parametrize(
    ("shown", "mode"), [("org_2", ""), ("org_1", ""), ("org_2", DISPOSABLE), ("org_1", DISPOSABLE)]
)
def test_a_key_that_may_only_rename_shows_its_organization(
    fixtures: Callable[..., Fixtures], service: Any, shown: str, mode: str
) -> None:
    """An update without fields shows it, in a disposable organization, before a renaming could harm another one."""
    sent: list[Request] = []

    def send_all(requests: Sequence[Request]) -> list[Exchange]:
        sent.extend(request for request in requests if request.credential is not None)
        responses = [
            service.send(request) if request.credential is None
            else make_exchange(request, 403, {"error": {}}) if request.method == "GET"
            else make_exchange(request, 200, {"data": {"id": shown}})
            for request in requests
        ]  # fmt: skip
        for response in responses:
            ownership.after(response)
        return responses

    ownership = Ownership(RunNames(PREFIX), send_all)
    send_all([get_organization()])
    made = fixtures(f"{mode}keys: {{organizations:write: k}}", ownership=ownership, mode=None)

    if mode and shown == "org_2":
        with pytest.raises(MissingMeans, match="belongs to another organization"):
            made.scoped_key("organizations:write")
    else:
        made.scoped_key("organizations:write")
    assert [(request.method, request.body) for request in sent] == [("GET", None), ("PATCH", b"{}")][: 2 if mode else 1]


def test_an_earlier_member_is_not_taken_for_a_new_one(fixtures: Callable[..., Fixtures], service: Any) -> None:
    """An existing member that the provisioner names as new is refused."""
    service.roles["u_1"] = "admin"
    made = fixtures(DISPOSABLE + PROVISIONED, Program())

    with pytest.raises(MissingMeans, match="named u_1 as a new member, who was a member before"):
        made.member()


def test_a_member_added_during_the_run_is_not_a_new_one(fixtures: Callable[..., Fixtures], service: Any) -> None:
    """The list is read before each creation, once."""
    made = fixtures(DISPOSABLE + PROVISIONED, Program())
    made.member()
    service.roles["u_2"] = "admin"

    with pytest.raises(MissingMeans, match="named u_2 as a new member, who was a member before"):
        made.member()
    assert [request.operation.id for request in service.requests] == ["listMembers"] * 2


def test_a_provisioner_creates_no_members_if_none_can_be_listed(
    fixtures: Callable[..., Fixtures], service: Any
) -> None:
    """A new member needs the earlier list of members."""
    program = Program()
    service.overrides["listMembers"] = 500

    with pytest.raises(MissingMeans, match="could not be listed"):
        fixtures(DISPOSABLE + PROVISIONED, program).member()
    assert program.calls == []


@pytest.mark.parametrize(
    ("roles", "reason"),
    [
        ({"u_7": "owner"}, "The member u_7 is an owner"),
        ({"u_7": "admin"}, "The member u_7 is the only admin"),
        ({}, "The organization has no member u_7"),
    ],
)
def test_members_of_the_file_are_verified(
    fixtures: Callable[..., Fixtures], service: Any, roles: dict[str, str], reason: str
) -> None:
    """An owner or the only admin of the target file is refused."""
    made = fixtures(DISPOSABLE + "members: [{user_id: u_7}]")
    service.roles = {"u_owner": "owner", "u_1": "member"} | roles

    with pytest.raises(MissingMeans, match=reason):
        made.member()


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("members: [{user_id: u_7, key: main-key-0001}]", "api_key"),
        ("keys: {throttled: same-key}\nmembers: [{user_id: u_7, key: same-key}]", "throttled"),
        ("members: [{user_id: u_7, key: same-key}, {user_id: u_8, key: same-key}]", "the member u_8"),
    ],
)
def test_a_member_must_have_a_key_of_its_own(fixtures: Callable[..., Fixtures], more: str, name: str) -> None:
    """A member with another key of the run is refused."""
    with pytest.raises(MissingMeans, match=f"The key of the member u_7 is that of {name}, too"):
        fixtures(DISPOSABLE + more).member()


def test_no_record_is_made_below_another_users_engagement(fixtures: Callable[..., Fixtures], service: Any) -> None:
    """The engagement is verified before a subordinate record is created."""
    service.engagements = {"e_1": f"{PREFIX}a", "f_1": "Quarterly audit"}
    ownership = Ownership(RunNames(PREFIX), service.send_all)
    service.observers.append(ownership)
    program = Program()
    made = fixtures(PROVISIONED, program, ownership=ownership)

    assert made.make_subordinate("e_1", "task") == "e_1/task"
    for identifier in ("f_1", "e_2"):
        with pytest.raises(MissingMeans, match=r"No record was made: a read shows that the engagement is not"):
            made.make_subordinate(identifier, "task")
    assert program.calls == ["create_subordinate"]


class Confused(Program):
    """A provisioner that names the main key as another one."""

    def __init__(self) -> None:
        super().__init__()
        self.member_key = Secret("main-key-0001")

    def create_key(self, scopes: list[str]) -> Secret:
        """Return the main key."""
        super().create_key(scopes)
        return Secret("main-key-0001")


def test_a_key_of_the_run_is_no_new_one(fixtures: Callable[..., Fixtures]) -> None:
    """A key that the run has already unlocks nothing; the member that it comes with is recorded for its removal."""
    notes = RecordedMembers()
    made = fixtures(DISPOSABLE + PROVISIONED, Confused(), journal=notes)

    with pytest.raises(MissingMeans, match="a key as new that the run has already"):
        made.scoped_key("engagements:read")
    assert made.member().credential is None
    with pytest.raises(MissingMeans):
        made.member(with_key=True)
    assert notes.members == [("u_2", "member")]
