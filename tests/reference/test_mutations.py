"""Operators, conditions and changes of the faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.faults import changes, conditions, mutations, situations
from conformance.reference.faults.conditions import always, responds
from conformance.reference.faults.mutations import Mutation, fault
from conformance.reference.faults.situations import NOTHING, Condition, Situation
from conformance.reference.records import Page
from conformance.reference.refusal import Refusal
from conformance.reference.service import Service

if TYPE_CHECKING:
    import httpx

    from tests.reference.conftest import Visitor

Serve = Callable[..., "Visitor"]

ENGAGEMENTS = "/api/v1/engagements"
MEMBERS = "/api/v1/organizations/current/members"
EDIT, READ, ARCHIVE = "updateEngagement", "getEngagement", "archiveEngagement"

VALID, INVALID = {"name": "two"}, {"name": 5}
UPPER = changes.edit(name=str.upper)
OLDEST_FIRST = changes.set_fields(descending=False)


@pytest.fixture
def serve(visit: Callable[..., Visitor]) -> Serve:
    """Return a function that serves a mutation."""
    return lambda mutation, **choices: visit(fault=fault("x", "It.", mutation, "some-requirement"), **choices)


def never(_: Situation) -> bool:
    """Act in no situation."""
    return False


def without_argument(operator: Any) -> Any:
    """Return an operator that takes an argument and ignores it."""
    return lambda operation, _, *when: operator(operation, *when)


def path_of(visitor: Visitor, name: str = "one", **fields: object) -> str:
    """Create an engagement and return its path."""
    return visitor.at(visitor.engagement(name, **fields)["id"])


def names(visitor: Visitor, query: str = "", path: str = ENGAGEMENTS) -> list[str]:
    """List the names of engagements or members."""
    return [item["name"] for item in visitor.get(f"{path}{query}").json()["data"]]


def edit(visitor: Visitor, body: object) -> tuple[object, ...]:
    """Edit an engagement; return the status, name and description of the reply, and those that are stored then."""
    path = path_of(visitor, description="d")
    response = visitor.patch(path, body)
    shown, stored = response.json().get("data", {}), visitor.get(path).json()["data"]
    return response.status_code, shown.get("name"), shown.get("description"), stored["name"], stored["description"]


# --- operators on requests and replies


@pytest.mark.parametrize(
    ("operator", "argument", "body", "wrong"),
    [
        (mutations.instead, lambda at: at.success({"name": "x"}), VALID, (200, "x", None, "one", "d")),
        (mutations.before, lambda at: at.overwrite(description="x"), VALID, (200, "two", "x", "two", "x")),
        (mutations.after, lambda at: at.edit(description=at.data["name"]), VALID, (200, "two", "d", "two", "two")),
        (mutations.refuse, 423, VALID, (423, None, None, "one", "d")),
        (mutations.refuse_valid, 423, VALID, (423, None, None, "one", "d")),
        (mutations.instead, lambda at: situations.show_edited(at, name="x"), VALID, (200, "x", "d", "one", "d")),
        (mutations.refused_yet, lambda at: at.edit(name="x"), INVALID, (422, None, None, "x", "d")),
        (mutations.done_yet, 423, VALID, (423, None, None, "two", "d")),
        (changes.reply, lambda at: at.replied("read", name="x"), VALID, (200, "x", "d", "two", "d")),
        (changes.status, 299, VALID, (299, "two", "d", "two", "d")),
        (
            changes.data,
            lambda at, data: {"name": data["name"] + at.method},
            VALID,
            (200, "twoPATCH", None, "two", "d"),
        ),
        (changes.content, changes.rename("data", "x"), VALID, (200, None, None, "two", "d")),
        (mutations.receive, lambda body: body.replace(b"two", b"x"), VALID, (200, "x", "d", "x", "d")),
        (without_argument(mutations.crash), None, VALID, (500, None, None, "one", "d")),
        (without_argument(mutations.end_process), None, VALID, (500, None, None, "one", "d")),
    ],
)
def test_operator_acts_in_its_operation_if_its_condition_holds(
    visitor: Visitor, serve: Serve, operator: Any, argument: Any, body: object, wrong: object
) -> None:
    """An operator leaves other operations and other situations alone."""
    honest = edit(visitor, body)

    assert edit(serve(operator(EDIT, argument)), body) == wrong
    assert edit(serve(operator(EDIT, argument, never)), body) == honest
    assert edit(serve(operator(ARCHIVE, argument)), body) == honest


def test_a_star_stands_for_all_operations(serve: Serve) -> None:
    """``*`` changes the reply to every operation that was carried out, and no error."""
    visitor = serve(changes.data("*", lambda _at, _data: "x"))

    assert visitor.get(ENGAGEMENTS).json()["data"] == "x"
    assert visitor.post(ENGAGEMENTS, {"name": "one"}).json() == {"data": "x"}
    assert "data" not in visitor.get(f"{ENGAGEMENTS}/none").json()


@pytest.mark.parametrize(
    ("step", "valid", "invalid", "forbidden", "missing"),
    [("", 423, 422, 403, 404), ("find", 423, 422, 403, 423), ("check", 423, 423, 403, 423), ("authorize", *[423] * 4)],
)
def test_refuse_acts_before_its_step(
    serve: Serve, step: str, valid: int, invalid: int, forbidden: int, missing: int
) -> None:
    """Only the steps before the one of ``refuse`` refuse a request first."""
    visitor = serve(mutations.refuse(EDIT, 423, message="Not now.", step=step))
    path, weak = path_of(visitor), visitor.rpc("create_key", scopes=["engagements:read"])["key"]

    assert visitor.patch(path, VALID).json()["error"]["message"] == "Not now."
    assert visitor.patch(path, VALID).status_code == valid
    assert visitor.patch(path, INVALID).status_code == invalid
    assert visitor.patch(path, VALID, key=weak).status_code == forbidden
    assert visitor.patch(f"{ENGAGEMENTS}/none", VALID).status_code == missing


def refuse_too(_: Situation) -> bool:
    """Refuse within an action or a condition."""
    raise Refusal(423, "Another refusal.")


@pytest.mark.parametrize(
    ("action", "when", "statuses", "name"),
    [
        (refuse_too, always, (), "one"),
        (lambda at: at.edit(name="x"), always, (409, 422), "x"),
        (lambda at: at.edit(name="x"), always, (404, 409), "one"),
        (lambda at: at.edit(name="x"), refuse_too, (), "one"),
    ],
    ids=["action-refuses", "one-of-the-statuses", "another-status", "condition-refuses"],
)
def test_refused_yet_keeps_the_refusal(serve: Serve, action: Any, when: Any, statuses: Any, name: str) -> None:
    """A refusal by the action or the condition is ignored, and the action respects the statuses."""
    visitor = serve(mutations.refused_yet(EDIT, action, when, statuses=statuses))
    assert edit(visitor, INVALID) == (422, None, None, name, "d")


@pytest.mark.parametrize(
    ("mutation", "body", "wrong"),
    [
        (
            mutations.edit_as(lambda sent: {"name": f"one {sent['name']}"}),
            VALID,
            (200, "one two", "d", "one two", "d"),
        ),
        (mutations.receive_object(EDIT, changes.put(description="x")), VALID, (200, "two", "x", "two", "x")),
        (mutations.receive_object(EDIT, changes.put(name="x")), ["a"], (422, None, None, "one", "d")),
        (mutations.receive_object(ARCHIVE, changes.put(name="x")), VALID, (200, "two", "d", "two", "d")),
        (mutations.hide(lambda at: at.method == "PATCH"), VALID, (404, None, None, "one", "d")),
        (mutations.hide(never), VALID, (200, "two", "d", "two", "d")),
    ],
)
def test_operator_on_edits(serve: Serve, mutation: Mutation, body: object, wrong: object) -> None:
    """An edit gets other fields, objects only become other objects, and what is hidden is not found."""
    assert edit(serve(mutation), body) == wrong


def test_refuse_valid_leaves_what_is_invalid_to_the_service(serve: Serve) -> None:
    """An invalid or forbidden request is refused as always; a missing resource is not looked for."""
    visitor = serve(mutations.refuse_valid(EDIT, 423))

    assert edit(visitor, INVALID)[0] == 422
    assert visitor.patch(f"{ENGAGEMENTS}/none", VALID).status_code == 423


@pytest.mark.parametrize(("statuses", "status"), [((), 423), ((404, 422), 423), ((404,), 422)])
def test_refuse_with_changes_the_status(serve: Serve, statuses: tuple[int, ...], status: int) -> None:
    """A refusal by the step gets another status, and a refusal by another step and a success do not."""
    visitor = serve(mutations.refuse_with(423, "check", responds(EDIT), statuses=statuses))

    assert edit(visitor, INVALID)[0] == status
    assert edit(visitor, VALID)[0] == 200
    assert visitor.post(ENGAGEMENTS, INVALID).status_code == 422
    assert visitor.patch(f"{ENGAGEMENTS}/none", VALID).status_code == 404


@pytest.mark.parametrize(
    ("status", "operation", "when", "name"),
    [(401, EDIT, always, "two"), (401, "*", always, "two"), (429, EDIT, always, "one"), (401, EDIT, never, "one"),
     (401, READ, always, "one"), (401, EDIT, refuse_too, "one")],
)  # fmt: skip
def test_refused_early_acts_before_the_body_is_known(
    serve: Serve, status: int, operation: str, when: Any, name: str
) -> None:
    """The action has the operation and the body of a request without a valid key; an unknown path stays refused."""
    visitor = serve(mutations.refused_early(status, operation, lambda at: at.edit(name=at.field("name")), when))
    path = path_of(visitor)

    assert visitor.patch(path, VALID, key="x").status_code == 401
    assert visitor.get(path).json()["data"]["name"] == name
    assert visitor.patch("/api/v1/none", VALID, key="x").status_code == 401


@pytest.mark.parametrize(("step", "invalid", "forbidden"), [("check", 500, 403), ("find", 422, 403), ("act", 500, 500)])
def test_crash_acts_before_its_step(serve: Serve, step: str, invalid: int, forbidden: int) -> None:
    """Only the steps before the one of ``crash`` refuse a request first."""
    visitor = serve(mutations.crash(EDIT, step=step))
    path, weak = path_of(visitor), visitor.rpc("create_key", scopes=["engagements:read"])["key"]

    assert visitor.patch(path, INVALID).status_code == invalid
    assert visitor.patch(path, VALID, key=weak).status_code == forbidden


def test_after_change_follows_archiving(serve: Serve) -> None:
    """The action gets the engagement as it was, and its new status."""
    seen: list[tuple[str, str]] = []
    visitor = serve(mutations.after_change(lambda _, engagement, status: seen.append((engagement.status, status))))
    visitor.patch(visitor.archived(), VALID)

    assert seen == [("active", "archived")]


def test_take_for_active_allows_edits(visitor: Visitor, serve: Serve) -> None:
    """An archived engagement is edited as an active one, and stays archived."""
    faulty = serve(mutations.before(EDIT, situations.take_for_active))
    path = faulty.archived()

    assert visitor.patch(visitor.archived(), VALID).status_code == 409
    assert faulty.patch(path, VALID).status_code == 200
    assert faulty.get(path).json()["data"]["status"] == "archived"


# --- order and state


def suffix(text: str) -> Mutation:
    """Append a text to the name that an edit shows."""
    return changes.data(EDIT, lambda _, data: {**data, "name": data["name"] + text})


def test_the_second_mutation_is_outside(serve: Serve) -> None:
    """Mutations of one method all act, the later ones around the earlier ones."""
    calls: list[str] = []

    def calling(name: str) -> Mutation:
        return mutations.before(EDIT, lambda _: calls.append(f"before {name}")) | mutations.after(
            EDIT, lambda _: calls.append(f"after {name}")
        )

    assert edit(serve(suffix("1") | suffix("2") | suffix("2") | calling("1") | calling("2")), VALID)[1] == "two122"
    assert calls == ["before 2", "before 1", "after 1", "after 2"]


def test_a_replacement_drops_inner_wrappers(serve: Serve) -> None:
    """A wrapper acts around a replacement, and a replacement drops the wrappers before it."""
    wrapped = changes.view("edited", UPPER)
    replaced = mutations.override(view_edited=lambda service, found: {"name": service.view_read(found)["name"] + "x"})

    assert edit(serve(replaced | wrapped), VALID)[1] == "TWOX"
    assert edit(serve(wrapped | replaced), VALID)[1] == "twox"


def test_two_services_share_no_state(serve: Serve) -> None:
    """A fault keeps its state in one service; another service with the same fault does not have it."""
    count = mutations.before(EDIT, lambda at: at.remembered("edits", []).append(1))
    mutation = count | changes.data(EDIT, lambda at, _: {"name": len(at.remembered("edits", []))})
    first, second = serve(mutation), serve(mutation)

    assert [edit(visitor, VALID)[1] for visitor in (first, first, second)] == [1, 2, 1]


def test_fault_describes_the_service() -> None:
    """A fault has an id, a title and requirements, and overrides only the methods of its mutation."""
    made = fault("two-words", "It fails.", changes.status(READ, 299), "a", "b")

    assert (made.id, made.title, made.breaks) == ("two-words", "It fails.", ("a", "b"))
    assert (made.service.__name__, made.service.__doc__) == ("TwoWords", "It fails.")
    assert {name for name in vars(made.service) if hasattr(Service, name) and name[0] != "_"} == {"act"}


# --- operators on methods and lists


def first_only(honest: Any, asked: Any) -> Page[Any]:
    """Show only the first item of a page."""
    return Page(honest(asked).items[:1], 1)


@pytest.mark.parametrize(
    ("mutation", "query", "right", "wrong"),
    [
        (mutations.wrap("sorting", lambda _, honest, context: (honest(context)[0], "asc")), "", "cba", "abc"),
        (mutations.result("find_engagements", lambda page: Page(page.items[1:], 0)), "", "cba", "ba"),
        (changes.view("item", UPPER, changes.edit(name="-{}".format)), "", "cba", "-C-B-A"),
        (mutations.new_engagement(changes.set_fields(name="x")), "", "cba", "xxx"),
        (changes.page(first_only), "", "cba", "c"),
        (changes.page_of_members(first_only), "", "cba", "cba"),
        (changes.query(OLDEST_FIRST), "", "cba", "abc"),
        (changes.query(OLDEST_FIRST, conditions.asks(page=2)), "?perPage=1&page=2", "b", "b"),
        (changes.query(OLDEST_FIRST, conditions.asks(page=2)), "?perPage=1&page=1", "c", "c"),
        (changes.query(OLDEST_FIRST, conditions.asks(page=2)), "?perPage=2&page=2", "a", "c"),
        (changes.page(changes.reordered(lambda items, _: items[::-1])), "?perPage=2", "cb", "ab"),
        (changes.query(changes.past_item), "?perPage=1&page=2", "b", "a"),
        (changes.query(changes.past_item), "?perPage=2", "cb", "cb"),
        (changes.query(changes.from_item_before), "?perPage=1&page=2", "b", "c"),
        (changes.query(changes.from_item_before), "?perPage=2", "cb", "cb"),
        (changes.query_of_members(changes.set_fields(limit=1)), "", "cba", "cba"),
        (
            changes.page(changes.reordered(lambda items, asked: items[asked.offset :])),
            "?perPage=1&page=2",
            "b",
            "a",
        ),
    ],
)
def test_operator_on_lists(
    visitor: Visitor, serve: Serve, mutation: Mutation, query: str, right: str, wrong: str
) -> None:
    """An operator changes the pages of engagements that it should, and no other."""
    faulty = serve(mutation)
    for name in "abc":
        visitor.engagement(name)
        faulty.engagement(name)

    assert "".join(names(visitor, query)) == right
    assert "".join(names(faulty, query)) == wrong


def test_wrap_passes_named_arguments(serve: Serve) -> None:
    """A wrapped method gets the arguments that ``around`` passes on, and ``around`` gets those of the service."""

    def around(_: Service, honest: Any, organization: str, name: str, *, besides: str | None = None) -> Any:
        return honest(organization, name, besides=besides)

    assert edit(serve(mutations.wrap("check_name_free", around), duplicate_name="409"), {"name": "one"})[0] == 200


def test_page_of_members_changes_the_list_of_members(visitor: Visitor, serve: Serve) -> None:
    """Its pages are cut and counted as those of the honest list."""
    faulty = serve(changes.page_of_members(changes.reordered(lambda items, _: items[1:])))
    page = faulty.get(f"{MEMBERS}?perPage=1").json()

    assert names(faulty, path=MEMBERS) == names(visitor, path=MEMBERS)[1:]
    assert (page["meta"]["total"], len(page["data"])) == (len(names(visitor, path=MEMBERS)) - 1, 1)


def test_query_of_members_changes_the_list_of_members(visitor: Visitor, serve: Serve) -> None:
    """The store is asked for another page in the situations of the condition."""
    faulty = serve(changes.query_of_members(changes.set_fields(limit=1), conditions.asks(role=None)))

    assert names(faulty, path=MEMBERS) == names(visitor, path=MEMBERS)[:1]
    assert names(faulty, "?role=member", MEMBERS) == names(visitor, "?role=member", MEMBERS)


def test_list_deleted_fills_pages_with_room(serve: Serve) -> None:
    """Remembered engagements stand at the end and count, on pages with room, if the function says so."""
    remember = mutations.before("deleteEngagement", lambda at: at.remembered("deleted", []).append(at.engagement))
    visitor = serve(remember | changes.list_deleted(lambda asked, deleted: asked.status in {None, deleted.status}))
    path_of(visitor, "kept")
    visitor.delete(path_of(visitor, "gone"))
    short = visitor.get(f"{ENGAGEMENTS}?perPage=1").json()

    assert names(visitor) == ["kept", "gone"]
    assert names(visitor, "?status=archived") == []
    assert ([item["name"] for item in short["data"]], short["meta"]["total"]) == (["kept"], 2)


# --- operators on responses


def test_header_replaces_or_removes(serve: Serve) -> None:
    """A header gets another value, or is left out, in the situations of the condition."""
    changed = changes.header("X-RateLimit-Limit", lambda at: f"{at.status}", responds("", 404))
    visitor = serve(changed | changes.header("X-RateLimit-Reset", lambda _: None, conditions.has_status(404)))
    error, success = visitor.get("/api/v1/none"), visitor.get(ENGAGEMENTS)

    assert (error.headers["X-RateLimit-Limit"], success.headers["X-RateLimit-Limit"] == "404") == ("404", False)
    assert ("X-RateLimit-Reset" in error.headers, "X-RateLimit-Reset" in success.headers) == (False, True)
    assert "X-RateLimit-Remaining" in error.headers


def test_error_changes_errors_of_every_step(serve: Serve) -> None:
    """Errors change whatever refuses the request, and successes and other situations do not."""
    visitor = serve(changes.error(changes.inside("error", changes.put(code="X")), conditions.has_status(401, 404)))
    responses = [visitor.get(ENGAGEMENTS, key="x"), visitor.get("/api/v1/none"), visitor.get(f"{ENGAGEMENTS}/none")]

    assert {response.json()["error"]["code"] for response in responses} == {"X"}
    assert visitor.post(ENGAGEMENTS, INVALID).json()["error"]["code"] == "VALIDATION_ERROR"
    assert visitor.get(ENGAGEMENTS).json()["data"] == []
    assert "error" not in serve(changes.error(changes.put(error="X"))).get(ENGAGEMENTS).json()


@pytest.mark.parametrize("case", ["as-documented", "lower", "upper"])
@pytest.mark.parametrize(("media_type", "types"), [(None, ["application/json"]), ("text/x", ["text/x"]), ("", [])])
def test_send_replaces_the_body(serve: Serve, case: str, media_type: str | None, types: list[str]) -> None:
    """The body has its own length and media type, and other responses are honest."""
    mutation = changes.send(lambda body: body[:5] + b"!", conditions.is_error, media_type=media_type)
    visitor = serve(mutation, header_case=case)
    response, honest = visitor.get("/api/v1/none"), visitor.get(ENGAGEMENTS)

    assert response.content == b'{"err!'
    assert response.headers.get_list("Content-Length") == ["6"]
    assert [value.partition(";")[0] for value in response.headers.get_list("Content-Type")] == types
    assert honest.json()["data"] == []


# --- situations and conditions


def captured(serve: Serve, operation: str, send: Callable[[Visitor], object], **choices: str) -> Situation:
    """Return the situation after an operation."""
    seen: list[Situation] = []
    send(serve(mutations.after(operation, seen.append), **choices))
    return seen[0]


def promote_one(visitor: Visitor) -> object:
    """Make a new member an admin, besides another new one."""
    visitor.rpc("create_member", role="admin")
    return visitor.patch(visitor.at(visitor.rpc("create_member", role="member")["userId"], MEMBERS), {"role": "admin"})


def edit_one_of_two(visitor: Visitor) -> object:
    """Edit the second of two engagements."""
    visitor.engagement("zero")
    return visitor.patch(path_of(visitor), VALID, params={"q": "1"})


def test_situation_of_an_edit(serve: Serve) -> None:
    """A situation shows the request, the reply and what is stored."""
    at = captured(serve, EDIT, edit_one_of_two, unknown_parameter="ignored")

    assert (at.operation, at.method, at.status, at.query["q"]) == (EDIT, "PATCH", 200, "1")
    assert (at.values, at.body, at.field("name"), at.field("x")) == (VALID, VALID, "two", NOTHING)
    assert (at.engagement.name, at.stored and at.stored.name, at.data["name"]) == ("one", "two", "two")
    assert [each.name for each in at.engagements] == ["zero", "two"]
    assert [each.name for each in at.other_engagements] == ["zero"]
    assert [each.name for each in at.namesakes] == ["two"]
    assert at.store is at.service.store
    assert at.now <= at.service.now()
    assert at.shown("read").content["data"]["name"] == "two"


def test_situation_of_a_role_change(serve: Serve) -> None:
    """A situation shows the member in the path, and the others besides the owners."""
    at = captured(serve, "updateMemberRole", promote_one)
    everyone = situations.members(at.service, at.context.organization_id)

    assert at.member.role == "member"
    assert at.others == tuple(each for each in everyone if each.role != "owner" and each.user_id != at.member.user_id)
    assert {each.role for each in everyone} > {each.role for each in at.others}


def test_situation_without_a_reply(serve: Serve) -> None:
    """Before the reply the status is 0, and there are no data."""
    at = replace(captured(serve, EDIT, edit_one_of_two, unknown_parameter="ignored"), reply=None)

    assert (at.status, conditions.is_error(at)) == (0, False)
    with pytest.raises(TypeError, match="no reply yet"):
        _ = at.data
    with pytest.raises(TypeError, match="no reply yet"):
        at.with_data({})


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_json_is_nothing(content: bytes) -> None:
    """The parser of bodies raises no error."""
    assert situations.parsed(content) is NOTHING


@pytest.mark.parametrize(("change", "moves"), [(Situation.edit, True), (Situation.overwrite, False)])
def test_edit_counts_as_a_change_and_overwrite_does_not(serve: Serve, change: Any, moves: bool) -> None:  # noqa: FBT001
    """Only ``Situation.edit`` updates the time of the last change."""
    visitor = serve(mutations.before(READ, lambda at: change(at, name="x")))
    new = visitor.engagement()
    visitor.get(visitor.at(new["id"]))
    stored = visitor.get(ENGAGEMENTS).json()["data"][0]

    assert (stored["name"], stored["updatedAt"] > new["updatedAt"]) == ("x", moves)


def read(name: str = "one", **fields: object) -> Callable[[Visitor], httpx.Response]:
    """Return a request that reads a new engagement."""
    return lambda visitor: visitor.get(path_of(visitor, name, **fields))


def patch(body: object) -> Callable[[Visitor], httpx.Response]:
    """Return a request that edits the second of two engagements."""
    return lambda visitor: (path_of(visitor, "zero"), visitor.patch(path_of(visitor), body))[1]


def listed(query: str) -> Callable[[Visitor], httpx.Response]:
    """Return a request for a list of engagements."""
    return lambda visitor: visitor.get(f"{ENGAGEMENTS}?{query}")


def change_role(role: str) -> Callable[[Visitor], httpx.Response]:
    """Return a request that makes a member with a role an admin."""
    return lambda visitor: visitor.patch(
        visitor.at(visitor.rpc("create_member", role=role)["userId"], MEMBERS), {"role": "admin"}
    )


def read_archived(visitor: Visitor) -> httpx.Response:
    """Read an archived engagement."""
    return visitor.get(visitor.archived())


def rename_to_archived(visitor: Visitor) -> httpx.Response:
    """Give an engagement the name of an archived one."""
    visitor.archived("zero")
    return visitor.patch(path_of(visitor), {"name": "zero"})


def list_with(*scopes: str) -> Callable[[Visitor], httpx.Response]:
    """Return a request for the list of engagements with a key of some permissions."""
    return lambda visitor: visitor.get(
        ENGAGEMENTS, key=visitor.rpc("create_key", scopes=[f"engagements:{scope}" for scope in scopes])["key"]
    )


def read_twice(visitor: Visitor) -> httpx.Response:
    """Read an engagement twice."""
    path = path_of(visitor)
    return [visitor.get(path) for _ in range(2)][1]


def read_none(visitor: Visitor) -> httpx.Response:
    """Read an engagement that does not exist."""
    return visitor.get(f"{ENGAGEMENTS}/none")


@pytest.mark.parametrize(
    ("condition", "true", "false"),
    [
        (conditions.archived, read_archived, read()),
        (conditions.described, read(description="d"), read()),
        (conditions.undescribed, read(), read(description="d")),
        (conditions.sends("name"), patch({"name": "x", "description": "d"}), patch({"description": "d"})),
        (conditions.sends("name", "description"), patch({"name": "x", "description": None}), patch({"name": "x"})),
        (conditions.sends_only("name"), patch({"name": "x"}), patch({"name": "x", "description": "d"})),
        (conditions.sends_only("name", "description"), patch({"name": "x", "description": "d"}), patch({"name": "x"})),
        (conditions.name_in_use, patch({"name": "zero"}), patch({"name": "one"})),
        (conditions.missing, read_none, read()),
        (conditions.stored_archived, read_archived, read()),
        (conditions.stored_archived, read_archived, read_none),
        (conditions.name_of_archived, rename_to_archived, patch({"name": "zero"})),
        (responds(READ), read_none, listed("")),
        (responds(READ, 200, 404), read(), listed("")),
        (responds(READ, 404), read_none, read()),
        (conditions.has_status(404, 422), patch(INVALID), read()),
        (conditions.is_error, read_none, read()),
        (conditions.writes, patch(VALID), read()),
        (conditions.asks(sort="name", status=None), listed("sort=name"), listed("sort=name&status=active")),
        (conditions.asks(page=2), listed("page=2"), listed("perPage=2")),
        (conditions.has_role("member", "owner"), change_role("member"), change_role("admin")),
        (conditions.body_has(name=5), patch(INVALID), patch({"name": "5"})),
        (conditions.body_has(description=None), patch({"description": None}), patch(VALID)),
        (conditions.body_has(name="x"), patch({"name": "x"}), patch(["x"])),
        (conditions.reads, read(), patch(VALID)),
        (conditions.has_one_permission, list_with("read"), list_with("read", "write")),
        (conditions.lacks("name"), patch({"description": "d"}), patch(VALID)),
        (conditions.lacks("name"), patch({}), patch(["x"])),
        (conditions.field_is("name", int, list), patch(INVALID), patch(VALID)),
        (conditions.field_is("name", int, list), patch({"name": []}), patch({"description": 5})),
        (conditions.field_is("name", int), patch({"name": True}), patch([5])),
        (conditions.sends_other_than_text("name"), patch({"name": None}), patch(VALID)),
        (conditions.sends_other_than_text("name"), patch(INVALID), patch({"description": 5})),
        (conditions.parameter_is("sort", str.isupper), listed("sort=NAME"), listed("sort=name")),
        (conditions.parameter_is("sort", str.isupper), listed("sort=NAME&page=2"), listed("page=X")),
        (conditions.succeeds(READ, EDIT), read(), listed("")),
        (conditions.succeeds(READ, EDIT), patch(VALID), patch(INVALID)),
        (conditions.succeeds(), listed(""), read_none),
        (conditions.again("x"), read_twice, lambda visitor: (read()(visitor), read()(visitor))[1]),
        (conditions.again("x", lambda at: at.operation), read_twice, read()),
        (conditions.all_of(responds(READ), conditions.at_first), read(), read_twice),
        (conditions.all_of(responds(READ), conditions.described), read(description="d"), read()),
        (conditions.all_of(responds(READ), conditions.described), read(description="d"), listed("")),
    ],
)
def test_condition_holds_or_not(
    serve: Serve, condition: Condition, true: Callable[[Visitor], Any], false: Callable[[Visitor], Any]
) -> None:
    """A condition distinguishes two requests."""

    def asked(at: Situation) -> bool:
        return at.operation != "createEngagement" and condition(at)

    mutation = changes.header("X-Holds", lambda _: "yes", asked)

    assert "X-Holds" in true(serve(mutation, duplicate_name="accepted")).headers
    assert "X-Holds" not in false(serve(mutation, duplicate_name="accepted")).headers


def test_noted_holds_for_noted_engagements(serve: Serve) -> None:
    """A note is about one engagement, one name and one service."""
    notes = mutations.after(EDIT, situations.note("a")) | mutations.after(ARCHIVE, situations.note("b"))
    mutation = (
        notes | changes.status(READ, 299, conditions.noted("a")) | changes.status(READ, 298, conditions.noted("b"))
    )
    visitor, other = serve(mutation), serve(mutation)
    edited, kept, archived = path_of(visitor), path_of(visitor), visitor.archived()
    visitor.patch(edited, VALID)

    assert [visitor.get(path).status_code for path in (edited, kept, archived)] == [299, 200, 298]
    assert other.get(path_of(other)).status_code == 200


# --- changes and helpers


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (changes.put(a=2, c=3), {"a": 2, "b": {"x": 1}, "c": 3}),
        (changes.edit(a=str, c=str), {"a": "1", "b": {"x": 1}}),
        (changes.drop("a", "c"), {"b": {"x": 1}}),
        (changes.rename("a", "c"), {"c": 1, "b": {"x": 1}}),
        (changes.inside("b", changes.put(x=2)), {"a": 1, "b": {"x": 2}}),
    ],
)
def test_change_of_an_object(change: Callable[[Any], Any], expected: object) -> None:
    """A change returns a new object, with the members in their order."""
    shown = {"a": 1, "b": {"x": 1}}

    assert list(change(shown).items()) == list(expected.items())  # type: ignore[attr-defined]
    assert shown == {"a": 1, "b": {"x": 1}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1970-01-01T00:00:01.5Z", 1500), ("1970-01-01T01:00:00+01:00", 0), ("2001-09-09T01:46:40Z", 10**12), ("x", 0)],
)
def test_moment_reads_times_of_clients(text: str, expected: int) -> None:
    """A text that is not a time counts as 0."""
    assert situations.moment(text) == expected


@pytest.mark.parametrize(
    ("act", "roles"),
    [
        (lambda at, admins: situations.change_roles(at, admins, "member"), ["member", "member", "member", "owner"]),
        (situations.remove_members, ["member", "owner"]),
        (situations.switch_roles, ["member", "member", "member", "owner"]),
        (lambda at, _: situations.switch_roles(at, at.others), ["admin", "member", "member", "owner"]),
    ],
)
def test_action_on_members(serve: Serve, act: Callable[[Situation, Any], object], roles: list[str]) -> None:
    """An action reaches the members that it is given, and no others."""

    def action(at: Situation) -> None:
        act(at, [other for other in at.others if other.role == "admin"])

    visitor = serve(mutations.before("getCurrentOrganization", action))
    visitor.rpc("create_member", role="admin")
    visitor.get("/api/v1/organizations/current")

    assert sorted(member["role"] for member in visitor.get(MEMBERS).json()["data"]) == roles


def test_lists_of_helpers_are_of_one_organization(visitor: Visitor) -> None:
    """The helpers list the engagements in their order and the members of an organization."""
    service, organization = visitor.app.service, visitor.app.bootstrap.organization_id
    for name in "ba":
        visitor.engagement(name)
    visitor.post(ENGAGEMENTS, {"name": "c"}, key=visitor.other)

    assert [each.name for each in situations.engagements(service, organization)] == ["b", "a"]
    assert [each.name for each in situations.members(service, organization)] == names(visitor, path=MEMBERS)


def test_flat_joins_faults_and_families() -> None:
    """A family is an iterator of faults."""
    a, b, c = (fault(name, "It.", changes.status(READ, 299), "r") for name in "abc")
    assert mutations.flat(a, iter((b, c)), iter(())) == (a, b, c)


def test_edit_all_counts_as_a_change(serve: Serve) -> None:
    """Each of the engagements gets the columns and the present time."""
    visitor = serve(mutations.before(READ, lambda at: situations.edit_all(at.service, at.engagements, description="x")))
    before = [visitor.engagement(name) for name in "ab"]
    visitor.get(visitor.at(before[0]["id"]))
    after = visitor.get(f"{ENGAGEMENTS}?order=asc").json()["data"]

    assert [(item["name"], item["description"]) for item in after] == [("a", "x"), ("b", "x")]
    assert all(new["updatedAt"] > old["updatedAt"] for new, old in zip(after, before, strict=True))


def test_a_remembered_value_is_recalled_for_its_resource(serve: Serve) -> None:
    """A value is about one resource and one name; another resource has the value for otherwise."""
    remember = mutations.after(EDIT, situations.remember("a", lambda at: at.values["name"]))
    visitor = serve(
        remember
        | changes.data(
            READ, lambda at, _: [situations.recalled(at.service, name, at.engagement.id, 0) for name in "ab"]
        )
    )
    edited, other = path_of(visitor), path_of(visitor)
    visitor.patch(edited, VALID)

    assert [visitor.get(path).json()["data"] for path in (edited, other)] == [["two", 0], [0, 0]]


def test_use_key_of_moves_the_request(serve: Serve) -> None:
    """A request is processed in another organization, and the next one in its own."""
    visitor = serve(
        mutations.before(
            "getCurrentOrganization", lambda at: situations.use_key_of(at, at.store.organization_ids()[-1])
        )
    )
    shown = visitor.get("/api/v1/organizations/current").json()["data"]["id"]

    assert shown == visitor.get("/api/v1/organizations/current", key=visitor.other).json()["data"]["id"]
    assert shown != visitor.app.bootstrap.organization_id
