"""Drawn faults: ids, rules, draws, and a short sequence of requests for each that shows it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.catalogue import load_catalogue
from conformance.interface.operations import KINDS
from conformance.reference.faults import all_faults, drawn, fault_by_id
from conformance.reference.faults import operations as op
from conformance.reference.faults.drawn.circumstances import LISTS, OF_ENGAGEMENT, OF_MEMBER, SCOPED
from conformance.reference.faults.drawn.parts import DEVIATIONS, Parts
from conformance.reference.faults.drawn.rules import is_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from tests.reference.conftest import Visitor

ORGANIZATION: Final = "/api/v1/organizations/current"
MEMBERS: Final = f"{ORGANIZATION}/members"
ENGAGEMENTS: Final = "/api/v1/engagements"
DRAWN: Final = drawn.drawn(40, 20261126)
TIMES: Final = {"second": 2, "third": 3, "sixth": 6, "tenth": 10, "second-of-one": 2, "fifth-of-one": 5}
QUERIES: Final = {
    op.LIST: ("perPage=2&page=2", "perPage=2&page=1", "perPage=1", "status=active&perPage=1", "status=archived",
              "status=active&sort=name&page=1", "sort=createdAt&order=asc", "sort=updatedAt&order=desc&perPage=1",
              "sort=name&order=asc&perPage=3&page=2&status=active", "sort=createdAt&perPage=2"),
    op.LIST_MEMBERS: ("perPage=2&page=2", "perPage=2&page=1", "perPage=1", "perPage=5", "role=admin",
                      "role=member&perPage=1", "role=member&page=1", "role=member&perPage=1&page=2"),
}  # fmt: skip


def parts_of(identifier: str) -> Parts:
    """Return the parts of an id."""
    operations = {name: operation for operation, name in op.NAMES.items()}
    deviation, operation, *others = identifier.removeprefix("drawn-").split(".")
    return Parts(deviation, operations[operation], *others)


class Story:
    """Requests that bring a drawn fault about and show it, derived from its parts.

    Args:
        visitor: A client with a service.
        parts: The parts of the fault.

    Attributes:
        seen: The responses.
    """

    def __init__(self, visitor: Visitor, parts: Parts) -> None:
        visitor.clock.step = 0.0
        self.visitor, self.parts, self.seen = visitor, parts, list[object]()
        service, self.main = visitor.app.service, visitor.app.bootstrap.organization_id
        self.foreign = parts.state.startswith("foreign")
        self.home = service.store.organization_ids()[1] if parts.actor == "other" and not self.foreign else self.main
        self.name = service.store.organization(self.home).name
        self.own = visitor.other if self.home != self.main else visitor.key
        former = service.add_member(self.main, "Former", "former@example.com", "member")
        member = service.add_member(self.main, "Member", "member@example.com", "admin")
        self.keys = {
            "any": self.own, "main": visitor.key, "other": visitor.other, "wrong": "wrong",
            "member": service.add_key(self.main, user_id=member),
            "removed": service.add_key(self.main, user_id=former),
            "spent": service.add_key(self.main, limit=1, window=9999),
            **{name: service.add_key(self.main, [scope]) for name, scope in SCOPED.items()},
        }  # fmt: skip
        self.send(visitor.key, "DELETE", f"{MEMBERS}/{former}")
        self.send(self.keys["spent"], "GET", ORGANIZATION)
        self.number = 0
        for own in (visitor.key, visitor.other):
            self.create(own)
        for odd in ("", f"Basic {visitor.key}"):
            self.send(odd, "POST", f"{self.create(self.own)}/archive")

    def send(self, key: str | None, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a request half a second after the one before, and note the response."""
        self.visitor.clock.seconds += 0.5
        visitor = self.visitor
        sent: dict[str, Any] = {} if body is None else {"json": body}
        headers = {} if key is None else {"Authorization": key if key.startswith("Basic") else f"Bearer {key}"}
        response = visitor._runner.run(visitor._client.request(method, path, headers=headers, **sent))
        shown = {name: value for name, value in response.headers.items() if name.startswith(("x-", "content-type"))}
        self.seen.append((method, path, response.status_code, shown, response.text))
        return response

    def run(self) -> list[object]:
        """Send all requests and return the responses."""
        parts, times = self.parts, TIMES.get(self.parts.since, 2)
        if parts.since.startswith("after-"):
            self.cause(parts.since.removeprefix("after-"))
        target = self.target()
        for time in range(max(times, 3)):
            if time and not parts.since.endswith("-of-one"):
                target = self.target()
            self.act(target, time)
            self.look(target)
            self.change(target)
            self.act(target, time + 1) if parts.operation in {op.READ, op.GET_ORGANIZATION, *LISTS} else None
            self.visitor.clock.seconds += 2
            self.look(target)
        return self.seen

    # Before the request

    def create(self, key: str, name: str = "") -> str:
        """Create an engagement with records, and return its path; an unknown one if the fault refuses it."""
        self.number += 1
        described = {"description": f"about {self.number}"}
        created = self.send(key, "POST", ENGAGEMENTS, {"name": name or f"{self.number} name", **described})
        identifier = created.json().get("data", {}).get("id", "987654")
        for kind in KINDS:
            self.visitor.rpc("create_subordinate", engagementId=identifier, kind=kind)
        return f"{ENGAGEMENTS}/{identifier}"

    def member(self, organization: str, role: str = "member") -> str:
        """Add a member and return its path."""
        self.number += 1
        service = self.visitor.app.service
        return f"{MEMBERS}/{service.add_member(organization, 'N', f'n{self.number}@example.com', role)}"

    def cause(self, event: str) -> None:
        """Bring an event about."""
        path = self.create(self.own)
        match event:
            case "edit":
                self.send(self.own, "PATCH", path, {"name": "edited before"})
            case "archiving" | "unarchiving":
                self.send(self.own, "POST", f"{path}/archive")
                self.send(self.own, "POST", f"{path}/unarchive")
            case "deletion":
                self.send(self.own, "DELETE", path)
            case "renaming":
                name = self.send(self.own, "GET", ORGANIZATION).json()["data"]["name"]
                self.send(self.own, "PATCH", ORGANIZATION, {"name": name})
            case "invitation":
                self.send(self.own, "POST", f"{MEMBERS}/invite", {"email": "before@example.com", "role": "member"})
            case "role-change":
                self.send(self.own, "PATCH", self.member(self.home), {"role": "admin"})
            case "removal":
                self.send(self.own, "DELETE", self.member(self.home))
            case "refusal":
                self.send(self.own, "GET", f"{ENGAGEMENTS}/987654")

    def target(self) -> str:
        """Bring a target into the state, and return its path."""
        operation, state = self.parts.operation, self.parts.state
        if operation in OF_MEMBER or operation == op.LIST_MEMBERS:
            self.member(self.home, "admin")
            return self.member_in(state)
        if operation in OF_ENGAGEMENT or operation == op.LIST:
            self.create(self.own)
            self.send(self.own, "POST", f"{self.create(self.own)}/archive")
            return self.engagement_in(state)
        for name in {"renamed": ("New",), "renamed-back": ("New", self.name)}.get(state, ()):
            self.send(self.own, "PATCH", ORGANIZATION, {"name": name})
        self.create(self.own)
        return {op.CREATE: ENGAGEMENTS, op.INVITE: f"{MEMBERS}/invite"}.get(operation, ORGANIZATION)

    def member_in(self, state: str) -> str:
        """Return the path of a member in a state."""
        if state == "owner":
            owners = self.send(self.own, "GET", f"{MEMBERS}?role=owner").json()["data"]
            return f"{MEMBERS}/{owners[0]['id'] if owners else '987654'}"
        path = self.member(self.main if self.foreign else self.home)
        for role in {"changed": ("admin",), "changed-back": ("admin", "member")}.get(state, ()):
            self.send(self.own, "PATCH", path, {"role": role})
        if state == "removed":
            self.send(self.own, "DELETE", path)
        return path

    def engagement_in(self, state: str) -> str:
        """Return the path of an engagement in a state."""
        key = self.visitor.key if self.foreign else self.own
        if self.parts.since == "used-name":
            self.send(key, "DELETE", self.create(key, f"used {self.number + 1}"))
        path = self.create(key)
        if self.parts.operation == op.READ:
            self.send(key, "GET", path)
        if state == "any" and self.parts.operation == op.UNARCHIVE:
            state = "archived"
        past = {"edited": "E", "archived": "A", "edit-refused": "AE", "unarchived": "AU", "rearchived": "AUA",
                "foreign-archived": "A", "deleted": "D"}.get(state, "")  # fmt: skip
        for step in past:
            method, end, body = {
                "E": ("PATCH", "", {"description": f"edited {self.number}"}), "D": ("DELETE", "", None),
                "A": ("POST", "/archive", None), "U": ("POST", "/unarchive", None),
            }[step]  # fmt: skip
            self.send(key, method, f"{path}{end}", body)
        return path

    # The request, and what can be seen of it

    def body(self, time: int) -> dict[str, Any]:
        """Return a body for the operation, in the form of the requests that are affected."""
        since, name, number = self.parts.since, f"sent {self.number} {time}", self.number
        if since == "used-name":
            name = f"used {number - 1}" if self.parts.operation == op.EDIT else "used"
        body: dict[str, Any] = {"name": name, "description": f"sent, too {number} {time}"}
        if self.parts.operation in {op.RENAME, op.EDIT} and (since == "name-only" or self.parts.operation == op.RENAME):
            body.pop("description")
        if since == "description-only":
            body.pop("name")
        if self.parts.operation == op.INVITE:
            address = {"plus-address": "a+b", "capital-address": "Ab"}.get(since, "a")
            body = {"email": f"{address}{number}.{time}@example.com", "role": "member"}
        if self.parts.operation == op.ROLE:
            body = {"role": "member" if self.parts.state == "changed" else "admin"}
        if self.parts.state == "invalid":
            body |= {"role": 7} if "role" in body else {"name": 7}
        return body

    def act(self, target: str, time: int) -> None:
        """Send the request that the fault is about."""
        operation, key = self.parts.operation, self.keys.get(self.parts.actor)
        if operation == op.ROLE and self.parts.since.endswith("-of-one") and time % 2:
            self.send(key, "PATCH", target, {"role": "member"})
        elif operation in LISTS:
            place = MEMBERS if operation == op.LIST_MEMBERS else ENGAGEMENTS
            for query in ("", *QUERIES[operation]):
                self.send(key, "GET", f"{place}?{query}")
        elif operation in {op.ARCHIVE, op.UNARCHIVE}:
            self.send(key, "POST", f"{target}/{'archive' if operation == op.ARCHIVE else 'unarchive'}")
        elif operation in {op.CREATE, op.INVITE}:
            if self.parts.since == "used-name":
                self.send(self.own, "DELETE", self.create(self.own, "used"))
            self.send(key, "POST", target, self.body(time))
        elif operation in {op.READ, op.GET_ORGANIZATION}:
            self.send(key, "GET", target)
        elif operation in {op.DELETE, op.REMOVE}:
            self.send(key, "DELETE", target)
        else:
            self.send(key, "PATCH", target, self.body(time))

    def change(self, target: str) -> None:
        """Change what a read or a list shows."""
        operation = self.parts.operation
        if operation in {op.READ, op.LIST}:
            self.send(self.own, "PATCH", target, {"name": f"changed {self.number}"})
            self.send(self.own, "POST", f"{target}/archive")
        if operation == op.LIST_MEMBERS:
            self.send(self.own, "PATCH", target, {"role": "admin"})
        if operation in {op.GET_ORGANIZATION, op.LIST}:
            self.create(self.own)

    def look(self, target: str) -> None:
        """Read everything that the request can have changed."""
        keys = (self.own, self.visitor.key) if self.foreign or self.home != self.main else (self.own,)
        for key in keys:
            for query in ("perPage=100", "status=archived&perPage=100"):
                self.send(key, "GET", f"{ENGAGEMENTS}?{query}")
            for path in (f"{MEMBERS}?perPage=100", ORGANIZATION):
                self.send(key, "GET", path)
            if target.startswith(ENGAGEMENTS):
                self.send(key, "GET", target)
        service = self.visitor.app.service
        rows = service.store._db.rows
        self.seen.append(rows("SELECT kind, engagement_id FROM subordinates ORDER BY engagement_id, kind"))
        self.seen.append(rows("SELECT recipient FROM mails ORDER BY seq"))


@pytest.mark.parametrize("identifier", DRAWN)
def test_a_drawn_fault_shows(visit: Callable[..., Visitor], identifier: str) -> None:
    """A drawn fault responds to requests that follow from its parts in another way than the honest service."""
    parts = parts_of(identifier)
    honest = Story(visit(identifier_shape="integer"), parts).run()
    faulty = Story(visit(identifier_shape="integer", fault=fault_by_id(identifier)), parts).run()

    assert faulty != honest
    assert "An unexpected error occurred." not in repr(faulty)


# --- ids, rules and draws


def test_draws_come_from_the_seed() -> None:
    """The same seed gives the same faults, a smaller number the first of them, another seed others."""
    assert drawn.drawn(60, 1)[:20] == drawn.drawn(20, 1)
    assert set(drawn.drawn(60, 1)) != set(drawn.drawn(60, 2))
    assert drawn.drawn(0, 1) == []


def test_draws_are_even_over_the_families() -> None:
    """Each family has as many faults as any other; no fault is drawn twice."""
    families = {deviation.family for deviation in DEVIATIONS.values()}
    ids = drawn.drawn(3 * len(families), 5)
    drawn_families = Counter(parts_of(identifier).kind.family for identifier in ids)

    assert len(set(ids)) == len(ids)
    assert drawn_families == dict.fromkeys(families, 3)


def test_an_id_rebuilds_its_fault() -> None:
    """A fault has the id that names it, a title, and requirements of the catalogue, each once."""
    requirements = load_catalogue().requirements
    titles = set()
    for identifier in drawn.drawn(400, 3):
        fault = fault_by_id(identifier)
        titles.add(fault.title)
        assert fault.id == parts_of(identifier).id == identifier
        assert fault.title.endswith(".")
        assert fault.breaks
        assert set(fault.breaks) <= set(requirements)
        assert len(set(fault.breaks)) == len(fault.breaks)
    assert len(titles) == 400


def test_drawn_faults_are_not_among_all_faults() -> None:
    """The list of all faults has no drawn ones."""
    assert not [identifier for identifier in all_faults() if identifier.startswith("drawn-")]


@pytest.mark.parametrize(
    "identifier",
    [
        "drawn-x",
        "drawn-refused-404.nothing.any.new.start",
        "drawn-nonsense.get-engagement.any.new.start",
        "drawn-refused-404.get-engagement.nobody.new.start",
        "drawn-refused-404.get-engagement.any.nowhere.start",
        "drawn-refused-404.get-engagement.any.new.never",
        "drawn-refused-404.get-engagement.any.new",
    ],
)
def test_an_id_of_unknown_parts_is_unknown(identifier: str) -> None:
    """The error names the command that draws faults."""
    with pytest.raises(LookupError, match="conformance selftest --drawn 10"):
        fault_by_id(identifier)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (("refused-404", op.EDIT, "any", "deleted", "third"), "404 is permitted"),
        (("refused-409", op.EDIT, "any", "archived", "third"), "409 is permitted"),
        (("refused-409", op.ARCHIVE, "any", "archived", "third"), "archiving again is open"),
        (("refused-403", op.LIST, "engagements-write", "any", "third"), "the permission of the list is open"),
        (("refused-403", op.READ, "engagements-write", "new", "third"), "whether write implies read is open"),
        (("refused-403", op.UNARCHIVE, "any", "archived", "third"), "unarchiving may be refused"),
        (("refused-403", op.READ, "member", "any", "third"), "the permissions of a member's key are open"),
        (("refused-403", op.READ, "other", "foreign", "third"), "403 is permitted"),
        (("refused-403", op.READ, "main", "foreign", "third"), "only another organization's key"),
        (("refused-403", op.REMOVE, "any", "owner", "third"), "the removal of an owner is open"),
        (("accepted-done", op.EDIT, "engagements-read", "archived", "third"), "403 before 409 is open"),
        (("accepted-idle", op.READ, "any", "new", "third"), "it must be accepted"),
        (("not-done", op.EDIT, "any", "archived", "third"), "it must not be done"),
        (("total-off", op.LIST, "any", "any", "third"), "a second look finds nothing"),
        (("without-name", op.ARCHIVE, "any", "any", "third"), "the reply need not have it"),
        (("half-done", op.EDIT, "any", "any", "with-filter"), "an edit has no filter"),
        (("half-done", op.EDIT, "any", "any", "name-only"), "it must send both fields"),
        (("stale", op.READ, "any", "new", "third"), "it has no older state"),
        (("refused-404", op.GET_ORGANIZATION, "any", "any", "first"), "a run begins with it"),
        (("refused-404", op.READ, "main", "any", "start"), "every read shows it"),
        (("accepted-idle", op.READ, "none", "any", "start"), "every read without a key shows it"),
    ],
)
def test_permitted_or_unconditional_combinations_are_no_fault(parts: tuple[str, ...], reason: str) -> None:
    """Combinations that the interface permits, or that need no condition, are left out."""
    assert not is_fault(Parts(*parts)), reason


@pytest.mark.parametrize(
    ("parts", "breaks"),
    [
        (("refused-404", op.EDIT, "engagements-write", "any", "start"), ("scope-allows-update-engagement",)),
        (("refused-500", op.EDIT, "any", "deleted", "third"), ("no-server-error", "deleted-uneditable")),
        (("refused-401", op.EDIT, "any", "archived", "third"), ("archived-edit-refused",)),
        (("accepted-done", op.EDIT, "any", "edit-refused", "name-only"),
         ("archived-edit-refused", "archived-edit-changes-nothing")),
        (("accepted-idle", op.LIST_MEMBERS, "engagements-read", "any", "with-page"), ("scope-refuses-list-members",)),
        (("refused-done", op.CREATE, "none", "any", "third"), ("unauthenticated-changes-nothing",)),
        (("refused-done", op.CREATE, "any", "invalid", "third"), ("create-engagement-refused-creates-nothing",)),
        (("refused-done", op.ROLE, "any", "owner", "second"), ("owner-stays-owner",)),
        (("accepted-done", op.ARCHIVE, "other", "foreign-archived", "start"),
         ("isolation-archive-engagement", "isolation-untouched")),
        (("accepted-idle", op.READ, "removed", "any", "a-second-later"), ("removed-member-loses-engagements",)),
        (("accepted-idle", op.GET_ORGANIZATION, "removed", "any", "second"), ("removed-member-loses-organization",)),
        (("refused-403", op.READ, "spent", "any", "third"), ("throttled-answers-429",)),
        (("refused-409", op.DELETE, "any", "rearchived", "start"), ("archived-deletable",)),
        (("refused-404", op.UNARCHIVE, "any", "archived", "second"), ("unarchive-served",)),
        (("refused-403", op.READ, "member", "any", "after-removal"), ("removal-spares-other-members",)),
    ],
)  # fmt: skip
def test_a_fault_breaks_the_rule_that_forbids_it(parts: tuple[str, ...], breaks: tuple[str, ...]) -> None:
    """The requirements follow from the parts."""
    assert is_fault(Parts(*parts))
    assert fault_by_id(Parts(*parts).id).breaks == breaks
