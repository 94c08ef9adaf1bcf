"""Fixed sequences of requests ("lives"), by which two services can be compared."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from typing import TYPE_CHECKING, Any

from conformance.interface.operations import KINDS, SCOPES
from conformance.reference.queries import EngagementQuery
from conformance.scenarios.samples import ADDRESSES, SCRIPTS, SYNTAX, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from tests.reference.conftest import Visitor

ENGAGEMENTS = "/api/v1/engagements"
ORGANIZATION = "/api/v1/organizations/current"
MEMBERS = f"{ORGANIZATION}/members"
INVITE = f"{MEMBERS}/invite"

TEXT = "\U0001f680 \U0001d53c é ﬁ שלום <b>a</b> &amp; it's \"x\" C:\\new %20+ a; null x'); DROP " + "0123456789" * 30
SIGNS = "\u201cq\u201d \u2018r\u2019 `b` %s {0} $1 \\u0041 \u6f22\u5b57\u304b\u306a --d #c ?a /e"
"""Signs with a meaning in some languages only."""

Request = tuple[str, str, str, Any]
"""The name of a key, the method, the path and the body: JSON or raw bytes."""


class Life:
    """A service with keys of every kind, and its responses."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.visitor.clock.step = 0.0
        service, bootstrap = visitor.app.service, visitor.app.bootstrap
        self.organization = bootstrap.organization_id
        self.member = service.add_member(self.organization, "Former", "former@example.com", "member", service.now())
        self.keys = {
            "main": bootstrap.api_key,
            "browser": bootstrap.api_key,
            "other": bootstrap.other_organization,
            "member": service.add_key(self.organization, user_id=self.member),
            "throttled": service.add_key(self.organization, limit=3, window=3),
            **{scope: service.add_key(self.organization, [scope]) for scope in SCOPES},
        }
        self.near = _near(bootstrap.api_key)
        self.responses: list[object] = []

    def lead(self, requests: Iterator[Request]) -> list[object]:
        """Send requests in order, half a second apart."""

        async def one_by_one() -> None:
            for request in requests:
                self.visitor.clock.seconds += 0.5
                self.responses.append(await self.exchange(*request))

        self.visitor._runner.run(one_by_one())
        return self.responses

    def at(self, name: str) -> str:
        """Return the path of the engagement with a name."""
        found = self.visitor.app.service.store.engagements(EngagementQuery(self.organization, 0, 1000)).items
        return f"{ENGAGEMENTS}/{next((engagement.id for engagement in found if engagement.name == name), 0)}"

    def send(self, key: str, method: str, path: str, body: object = None) -> object:
        """Send a request."""
        return self.visitor._runner.run(self.exchange(key, method, path, body))

    def together(self, *requests: Request) -> None:
        """Send requests at the same time."""

        async def all_at_once() -> list[object]:
            return await asyncio.gather(*(self.exchange(*request) for request in requests))

        self.responses += self.visitor._runner.run(all_at_once())

    async def exchange(
        self, key: str, method: str, path: str, body: object, media_type: bytes = b"application/json"
    ) -> object:
        """Pass a request to the application as a server does, and return its whole response."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = [] if body is None else [(b"content-type", media_type)]
        value = WRONG.get(key, self.near[key] if key in self.near else f"Bearer {self.keys.get(key)}")
        headers += [(b"authorization", value.encode())] if value else []
        if key == "elsewhere":
            given = self.keys["main"].encode()
            headers += [(b"x-api-key", given), (b"x-auth-token", given), (b"cookie", b"access_token=" + given)]
        if key == "browser":
            headers += [(b"accept", b"text/html, text/csv"), (b"accept-language", b"de")]
        place, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "path": place, "raw_path": place.encode(), "headers": headers}
        scope |= {"query_string": query.encode(), "server": ("reference", 80), "client": ("here", 1), "scheme": "http"}
        said: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            said.append((message.get("status"), sorted(message.get("headers", [])), message.get("body")))

        await self.visitor.app(scope, receive, send)
        return method, path, key, *said


WRONG = {"none": None, "basic": "Basic eDp5", "empty": "Bearer ", "blank": " ", "unknown": "Bearer nobody"}
"""The Authorization header for keys that are invalid."""


def _near(key: str) -> dict[str, str]:
    """Return Authorization headers with a nearly valid key."""
    half = len(key) // 2
    basic = base64.b64encode(f"{key}:".encode()).decode()
    return {
        "bare": key,
        "token": f"Token {key}",
        "apikey": f"ApiKey {key}",
        "basic-name": f"Basic {basic}",
        "longer": f"Bearer {key}more",
        "shorter": f"Bearer {key[:half]}",
        "other-half": f"Bearer {key[:half]}{'x' * (len(key) - half)}",
        "basic-password": f"Basic {base64.b64encode(f'api:{key}'.encode()).decode()}",
        "basic-bare": f"Basic {key}",
        **{name: f"{name.title()} {key}" for name in ("bot", "digest", "key", "jwt")},
        "beginning": f"BearerX {key}",
        "list": f"Bearer {key}, more",
        "last": f"Bearer {key[:-1]}{'y' if key[-1] == 'x' else 'x'}",
        "case": f"Bearer {key.swapcase()}",
        "null": "Bearer null",
        "long": f"Bearer {'k' * 400}",
        "elsewhere": "",
    }


def engagements(life: Life) -> list[object]:  # noqa: PLR0915 - a life is long
    """Create, read, list, edit, archive, unarchive and delete engagements."""
    service = life.visitor.app.service
    asked = ("main", "GET", ENGAGEMENTS, None)

    def requests() -> Iterator[Request]:
        yield "main", "GET", ORGANIZATION, None
        for number in range(1, 24):
            description = {"description": f"about {number} and more than twenty characters"} if number % 3 else {}
            yield (
                "main",
                "POST",
                ENGAGEMENTS,
                {"name": f"{'x' * (number * 5 % 7)}{number * 7 % 24:02} name", **description},
            )
        yield "main", "POST", ENGAGEMENTS, {"name": "first", "description": "d" * 40}
        yield "main", "POST", ENGAGEMENTS, {"name": "first"}
        yield "main", "POST", ENGAGEMENTS, {"name": TEXT, "description": f"{TEXT}{'long ' * 450}"}
        yield "main", "GET", f"{ENGAGEMENTS}/26", None
        yield "main", "PATCH", f"{ENGAGEMENTS}/26", {"name": f"E {TEXT}", "description": f"E {TEXT}{'long ' * 450}"}
        yield "main", "GET", f"{ENGAGEMENTS}/26", None
        yield "main", "PATCH", f"{ENGAGEMENTS}/26", {"name": "name alone"}
        yield "main", "GET", f"{ENGAGEMENTS}/26", None
        yield "main", "POST", f"{ENGAGEMENTS}/26/archive", None
        yield "main", "GET", f"{ENGAGEMENTS}/26", None
        own = {"id": "99", "status": "archived", "createdAt": "2020-01-01T00:00:00.000Z"}
        own["updatedAt"] = own["createdAt"]
        yield "main", "POST", ENGAGEMENTS, {"name": "own", **own}
        yield "main", "POST", ENGAGEMENTS, {"name": "lines", "description": "one\nand another"}
        yield "main", "POST", f"{life.at('lines')}/archive", None
        yield "main", "GET", life.at("lines"), None
        yield "main", "PATCH", f"{ENGAGEMENTS}/5", {"name": "own values", **own, "id": "98"}
        yield "main", "GET", f"{ENGAGEMENTS}/5", None
        for number in (1, 2, 3, 24):
            yield "main", "GET", f"{ENGAGEMENTS}/{number}", None
        yield "main", "PATCH", f"{ENGAGEMENTS}/2", {"name": "a"}
        yield "main", "PATCH", f"{ENGAGEMENTS}/2", {"description": "only the description"}
        yield "main", "PATCH", f"{ENGAGEMENTS}/2", {"name": "both of them", "description": "both"}
        yield "main", "PATCH", f"{ENGAGEMENTS}/3", {"name": "first"}
        yield "main", "GET", f"{ENGAGEMENTS}/2", None
        yield "main", "POST", f"{ENGAGEMENTS}/2/archive", None
        yield "main", "GET", f"{ENGAGEMENTS}/2", None
        for body in ({"name": "no"}, {"description": "no"}, {"name": "no", "description": "no"}):
            yield "main", "PATCH", f"{ENGAGEMENTS}/2", body
        yield "main", "GET", f"{ENGAGEMENTS}/2", None
        yield "main", "POST", f"{ENGAGEMENTS}/2/archive", None
        yield "main", "GET", f"{ENGAGEMENTS}/2", None
        yield "main", "POST", f"{ENGAGEMENTS}/2/unarchive", None
        yield "main", "GET", f"{ENGAGEMENTS}/2", None
        yield "main", "PATCH", f"{ENGAGEMENTS}/2", {"name": "again"}
        for number in (2, 3, 4, 22, 12, 13):
            yield "main", "POST", f"{ENGAGEMENTS}/{number}/archive", None
        for query in QUERIES:
            yield "main", "GET", f"{ENGAGEMENTS}{query}", None
        yield "main", "DELETE", f"{ENGAGEMENTS}/22", None
        yield "main", "DELETE", f"{ENGAGEMENTS}/1", None
        for identifier in ("1", "98765", "odd-one"):
            yield "main", "GET", f"{ENGAGEMENTS}/{identifier}", None
            yield "main", "PATCH", f"{ENGAGEMENTS}/{identifier}", {"name": "gone"}
            yield "main", "POST", f"{ENGAGEMENTS}/{identifier}/archive", None
            yield "main", "POST", f"{ENGAGEMENTS}/{identifier}/unarchive", None
            yield "main", "DELETE", f"{ENGAGEMENTS}/{identifier}", None
        yield "main", "PATCH", f"{ENGAGEMENTS}/24", {"description": "a namesake"}
        yield "main", "DELETE", f"{ENGAGEMENTS}/24", None
        yield asked
        yield "main", "GET", ORGANIZATION, None

    life.lead(requests())
    life.together(*(("main", "POST", ENGAGEMENTS, {"name": f"parallel {number}"}) for number in range(4)))
    fields = ({"name": "one field"}, {"description": "another field"})
    life.together(*(("main", "PATCH", f"{ENGAGEMENTS}/6", body) for body in fields))
    life.send(*asked)
    for number, method in ((7, "archive"), (8, "")):  # the next request follows at once
        path = f"{ENGAGEMENTS}/{number}"
        life.responses.append(life.send("main", "POST" if method else "DELETE", f"{path}/{method}".rstrip("/")))
        life.responses.append(
            life.send("main", "PATCH" if method else "GET", path, {"name": "late"} if method else None)
        )
    kept = [
        (engagement, service.add_subordinate(str(engagement), kind), kind) for engagement in (9, 10) for kind in KINDS
    ]
    life.send("main", "PATCH", f"{ENGAGEMENTS}/9", {"name": "alike"})
    life.send("main", "PATCH", f"{ENGAGEMENTS}/10", {"name": "alike"})
    life.responses.append(life.send("main", "DELETE", f"{ENGAGEMENTS}/9"))
    for engagement, record, kind in kept:
        life.responses.append(
            life.visitor.rpc("subordinate_exists", engagementId=str(engagement), kind=kind, id=record)
        )
    life.responses.append(life.send(*asked))
    return life.responses


QUERIES = (
    "",
    "?page=2",
    "?page=2&perPage=7",
    "?perPage=100",
    "?page=3&perPage=2&status=active",
    "?perPage=2&status=archived",
    "?page=2&perPage=2&status=archived",
    "?status=active&sort=name&order=asc&perPage=5",
    *(
        f"?sort={key}&order={order}&perPage={size}"
        for key in ("name", "createdAt", "updatedAt")
        for order in ("asc", "desc")
        for size in (100, 3)
    ),
    *(f"?sort={key}&page=2&perPage=4" for key in ("name", "createdAt", "updatedAt")),
    *(f"?sort={key}&order={order}" for key in ("name", "updatedAt") for order in ("asc", "desc")),
    "?order=asc&sort=createdAt",
    "?page=0",
    "?page=-1",
    "?perPage=0",
    "?perPage=200",
    "?page=9999",
    "?page=abc",
    "?perPage=abc",
    "?sort=nonsense",
    "?order=nonsense",
    "?status=nonsense",
    "?colour=green",
)


def people(life: Life) -> list[object]:
    """Rename the organization, invite users, change roles and remove a member."""
    other = {"slug": "mine", "plan": "free", "id": "9", "memberCount": 99, "engagementCount": 99}
    other |= {"createdAt": "2020-01-01T00:00:00.000Z", "settings": {"ssoEnabled": True}}
    user, adam = f"{MEMBERS}/{life.member}", f"{MEMBERS}/2"

    def requests() -> Iterator[Request]:
        yield "main", "POST", ENGAGEMENTS, {"name": "one"}
        for name in ("Renamed", TEXT):
            yield "main", "PATCH", ORGANIZATION, {"name": name}
            yield "main", "GET", ORGANIZATION, None
        yield "main", "PATCH", ORGANIZATION, {"name": "Also", **other}
        for _ in range(5):
            yield "main", "GET", ORGANIZATION, None
        for query in (
            "",
            "?perPage=2",
            "?perPage=2&page=2",
            "?perPage=3&page=2",
            "?role=owner",
            "?role=admin",
            "?role=member",
            "?role=member&perPage=1&page=2",
            "?perPage=3&role=member",
            "?page=99",
            "?perPage=100",
            "?role=none",
            "?page=abc",
            "?perPage=abc",
        ):
            yield "main", "GET", f"{MEMBERS}{query}", None
        for email, role in (
            ("a.guest@example.com", "admin"),
            ("b.guest@example.com", "member"),
            ("c.guest@example.com", "owner"),
            ("d.guest", "member"),
            ("b.guest@example.com", "member"),
            ("former@example.com", "member"),
        ):
            yield "main", "POST", INVITE, {"email": email, "role": role}
        moments = {"createdAt": "2020-01-01T00:00:00.000Z", "expiresAt": "2020-01-09T00:00:00.000Z"}
        claims = {"email": "e.guest@example.com", "role": "member", "status": "accepted", **moments}
        yield "main", "POST", INVITE, claims
        yield "main", "GET", ORGANIZATION, None
        yield "main", "GET", MEMBERS, None
        for role in ("admin", "member", "owner", "member", "admin", "owner", "guest"):
            yield "main", "PATCH", user, {"role": role}
            yield "main", "GET", MEMBERS, None
            yield "main", "GET", f"{MEMBERS}?role=admin", None
        for role in ("admin", "member"):
            yield "main", "PATCH", f"{MEMBERS}/1", {"role": role}
            yield "main", "GET", MEMBERS, None
        for unknown in ("98765", "usr_AAAAAAAAAAAAAAAAAAAAAA"):
            yield "main", "PATCH", f"{MEMBERS}/{unknown}", {"role": "member"}
            yield "main", "DELETE", f"{MEMBERS}/{unknown}", None
        yield "main", "DELETE", adam, None
        yield "member", "GET", ORGANIZATION, None
        yield "main", "DELETE", user, None
        yield "member", "GET", ORGANIZATION, None
        yield "member", "GET", f"{ENGAGEMENTS}/1", None
        yield from operations("member", f"{ENGAGEMENTS}/1")
        yield "main", "PATCH", user, {"role": "member"}
        yield "main", "DELETE", user, None
        yield "main", "PATCH", user, {"role": "member"}
        yield "main", "GET", MEMBERS, None
        yield "main", "GET", ORGANIZATION, None

    life.lead(requests())
    for email in ("a.guest", "b.guest", "c.guest", "d.guest", "former"):
        life.responses.append(
            [_letter(mail) for mail in life.visitor.rpc("read_mail", to=f"{email}@example.com")["messages"]]
        )
    return life.responses


def _letter(mail: dict[str, str]) -> object:
    """Return the constant parts of a mail, without the token in its link."""
    return mail["subject"], "http" in mail["text"], "/invitations/" in mail["text"]


def operations(key: str, path: str) -> Iterator[Request]:
    """Yield every operation with a key."""
    yield key, "GET", ORGANIZATION, None
    yield key, "PATCH", ORGANIZATION, {"name": f"by {key}"}
    yield key, "GET", MEMBERS, None
    yield key, "POST", INVITE, {"email": f"{key.replace(':', '-')}@example.com", "role": "member"}
    yield key, "PATCH", f"{MEMBERS}/3", {"role": "admin"}
    yield key, "DELETE", f"{MEMBERS}/3", None
    yield key, "GET", ENGAGEMENTS, None
    yield key, "POST", ENGAGEMENTS, {"name": f"by {key}"}
    yield key, "GET", path, None
    yield key, "PATCH", path, {"name": f"by {key}"}
    yield key, "POST", f"{path}/archive", None
    yield key, "POST", f"{path}/unarchive", None
    yield key, "DELETE", path, None


def keys(life: Life) -> list[object]:
    """Send every operation with every kind of key, and read the effects."""

    def requests() -> Iterator[Request]:
        for key in ("other", "none", "basic", "empty", "unknown", *SCOPES):
            yield "main", "POST", ENGAGEMENTS, {"name": f"for {key}"}
            yield "main", "POST", ENGAGEMENTS, {"name": f"archived for {key}"}
            closed = life.at(f"archived for {key}")
            yield "main", "POST", f"{closed}/archive", None
            yield from operations(key, life.at(f"for {key}"))
            for method, path, body in (("PATCH", closed, {"name": "no"}), ("POST", f"{closed}/archive", None)):
                yield key, method, path, body
            yield key, "POST", f"{closed}/unarchive", None
            yield "main", "GET", f"{ENGAGEMENTS}?sort=createdAt&perPage=100", None
            yield "main", "GET", f"{ENGAGEMENTS}?status=active&perPage=100", None
            yield "main", "GET", ORGANIZATION, None
            yield "main", "GET", MEMBERS, None
        for key in ("unknown", "none"):
            yield from invalid(key)
            yield key, "GET", f"{ENGAGEMENTS}?page=abc", None
            yield key, "GET", f"{MEMBERS}?page=abc", None
            yield key, "GET", f"{ENGAGEMENTS}/777777", None
            yield key, "DELETE", f"{MEMBERS}/777777", None
        for number in (4, 5):
            yield "main", "PATCH", f"{MEMBERS}/{number}", {"role": "member"}
            yield "main", "DELETE", f"{MEMBERS}/{number}", None
            yield "other", "GET", MEMBERS, None
        yield "other", "GET", ORGANIZATION, None
        for key in ("main", "other"):
            yield key, "GET", f"{ENGAGEMENTS}?perPage=100", None

    return life.lead(requests())


def invalid(key: str) -> Iterator[Request]:
    """Yield every operation that has a body, with invalid bodies."""
    bodies: dict[tuple[str, str], tuple[dict[str, str], tuple[str, ...]]] = {
        ("POST", ENGAGEMENTS): ({"name": "x"}, ("name", "description")),
        ("PATCH", f"{ENGAGEMENTS}/1"): ({"name": "x"}, ("name", "description")),
        ("PATCH", ORGANIZATION): ({"name": "x"}, ("name",)),
        ("POST", INVITE): ({"email": "x@example.com", "role": "member"}, ("email", "role")),
        ("PATCH", f"{MEMBERS}/3"): ({"role": "admin"}, ("role",)),
    }
    for (method, path), (valid, fields) in bodies.items():
        text = json.dumps(valid).encode()
        for content in (
            text[:-1],
            text + b" and more",
            text + b" // and more",
            text[:-1] + b",}",
            re.sub(rb'"(\w+)":', rb"\1:", text),
            text.replace(b'"', b"'"),
            b"[" + text + b"]",
            b'"x"',
            b"null",
            b"7",
            b"",
            b"{}",
        ):
            yield key, method, path, content
        for field in fields:
            rest = {name: value for name, value in valid.items() if name != field}
            for body in (
                rest,
                *({**valid, field: value} for value in (None, 7, True, False, ["x"], {"x": "y"}, "nonsense", "")),
            ):
                yield key, method, path, body


def mistakes(life: Life) -> list[object]:
    """Send invalid and unusual input of every kind, and read the resources afterwards."""
    odd = (
        {"name": ""},
        {"name": "   "},
        {"name": "x" * 5000},
        {"name": "x", "colour": "green"},
        {"name": "x", "description": None},
    )

    def requests() -> Iterator[Request]:
        yield "main", "POST", ENGAGEMENTS, {"name": "one", "description": "d"}
        for request in invalid("main"):
            yield request
            yield "main", "GET", ORGANIZATION if request[2] == ORGANIZATION else f"{ENGAGEMENTS}/1", None
        for body in odd:
            yield "main", "POST", ENGAGEMENTS, body
        for change in ({}, {"description": None}, {"name": None}):
            yield "main", "PATCH", f"{ENGAGEMENTS}/1", change
        yield "main", "POST", ENGAGEMENTS, b'{"name": "\\ud800"}'
        yield "main", "POST", ENGAGEMENTS, b'{"name": "\xff"}'
        yield "main", "PATCH", ORGANIZATION, {"name": "flat", "requireTwoFactor": True, "ssoEnabled": True}
        yield "blank", "GET", ORGANIZATION, None
        yield "main", "POST", ENGAGEMENTS, b'{"name": "x", "a": ' + b"[" * 60 + b"]" * 60 + b"}"
        yield "main", "GET", ORGANIZATION, None
        yield "main", "GET", MEMBERS, None
        yield "main", "GET", f"{ENGAGEMENTS}?perPage=100", None

    life.lead(requests())
    for method, path, name, media_type in (
        ("POST", ENGAGEMENTS, "announced as text", b"text/plain"),
        ("PATCH", f"{ENGAGEMENTS}/1", "announced with a charset", b"application/json; charset=utf-8"),
    ):
        announced = life.exchange("main", method, path, {"name": name}, media_type)
        life.responses.append(life.visitor._runner.run(announced))
    life.responses.append(life.send("main", "GET", f"{ENGAGEMENTS}/1"))
    return life.responses


def corners(life: Life) -> list[object]:
    """Send rare requests: literals as descriptions, edits after edits, lists with all parameters, similar keys."""
    service = life.visitor.app.service
    life.visitor.clock.seconds = float(int(life.visitor.clock.seconds))  # for timestamps that end with zeros
    life.send("main", "POST", ENGAGEMENTS, {"name": "first"})
    records = [(number, service.add_subordinate(str(number), kind), kind) for number in (8, 9) for kind in _TWICE]

    def requests() -> Iterator[Request]:
        for number, literal in enumerate(("null", "0", "false", "0012", "twin", "twin", "true", "2026-01-02"), 2):
            yield "main", "POST", ENGAGEMENTS, {"name": f"{'ab' * (number % 4)} {number}", "description": literal}
            yield "main", "GET", f"{ENGAGEMENTS}/{number}", None
        yield from edits()
        for number in (8, 9):
            yield "main", "POST", f"{ENGAGEMENTS}/{number}/archive", None
        yield from combinations("main")
        yield from neighbours()
        yield "main", "GET", f"{ENGAGEMENTS}/8", None
        yield "main", "DELETE", f"{ENGAGEMENTS}/8", None
        yield "main", "GET", f"{ENGAGEMENTS}/8", None
        yield "main", "DELETE", f"{ENGAGEMENTS}/6", None
        yield from odd_inputs()
        yield "main", "GET", f"{ENGAGEMENTS}?status=archived", None
        yield "main", "GET", ENGAGEMENTS, None

    life.lead(requests())
    for number, record, kind in records:
        life.responses.append(life.visitor.rpc("subordinate_exists", engagementId=str(number), kind=kind, id=record))
    return life.responses


_TWICE = (*KINDS, *KINDS)


def edits() -> Iterator[Request]:
    """Yield edits that depend on earlier edits, and edits of which only one field is valid."""
    first, second = f"{ENGAGEMENTS}/1", f"{ENGAGEMENTS}/2"
    for body in (
        {"description": "given"},
        {"name": "first, more"},
        {"name": "first, more", "description": "beside the standing name"},
        {"description": ""},
        {"description": "0012"},
        {"description": "false"},
        {"description": "null"},
        {"name": 7, "description": "half of it"},
        {"name": "half of it", "description": 7},
    ):
        yield "main", "PATCH", first, body
        yield "main", "GET", first, None
    for body in ({"name": 7, "description": "half"}, {"name": "half", "description": 7}, {"name": "first, more"}):
        yield "main", "POST", ENGAGEMENTS, body
    yield "main", "GET", f"{ENGAGEMENTS}?perPage=50", None
    for step in ("archive", "unarchive", "archive"):
        yield "main", "POST", f"{second}/{step}", None
        for body in ({"name": "both", "description": "both"}, {"description": ""}, {"description": step}):
            yield "main", "PATCH", second, body
            yield "main", "GET", second, None
        yield "main", "GET", f"{ENGAGEMENTS}?status=archived", None


def combinations(key: str) -> Iterator[Request]:
    """Yield lists with filter, sort, order and page combined."""
    for status in ("", "&status=active", "&status=archived"):
        for sort in ("", "&sort=name", "&sort=createdAt", "&sort=updatedAt"):
            for order in ("", "&order=asc", "&order=desc"):
                for page in ("perPage=1", "page=2&perPage=2", "page=3&perPage=2", "perPage=100"):
                    yield key, "GET", f"{ENGAGEMENTS}?{page}{status}{sort}{order}", None


def odd_inputs() -> Iterator[Request]:
    """Yield input that may be refused but must not cause a 500."""
    for body in ({"name": ""}, {"name": f"E {SIGNS}", "description": f"E {SIGNS}"}, {"description": "x" * 2500}):
        yield "main", "PATCH", f"{ENGAGEMENTS}/1", body
        yield "main", "GET", f"{ENGAGEMENTS}/1", None
    for body in ({"name": ""}, {"name": SIGNS}):
        yield "main", "PATCH", ORGANIZATION, body
        yield "main", "GET", ORGANIZATION, None
    for body in ({"name": "e", "description": ""}, {"name": "a\x00b"}, {"name": SIGNS, "description": SIGNS}):
        yield "main", "POST", ENGAGEMENTS, body
    yield "main", "POST", ENGAGEMENTS, b'{"name": "huge", "other": ' + b"9" * 300 + b"}"
    huge = "9" * 30
    for query in (f"page={huge}", "page=1.5", "status=", "perPage=-1", "order=DESC"):
        yield "main", "GET", f"{ENGAGEMENTS}?{query}", None
    for number in range(2, 10):
        yield "main", "PATCH", f"{MEMBERS}/{number}", {"role": "member"}
    yield "main", "PATCH", f"{MEMBERS}/3", {"role": "member", "colour": "green"}
    for query in ("perPage=101", "page=999", "page=0", "perPage=0", "role=Admin", "role=admin", "colour=green"):
        yield "main", "GET", f"{MEMBERS}?{query}", None
    yield "main", "PATCH", f"{ENGAGEMENTS}/1", {"description": "with \0 inside"}
    yield "main", "GET", f"{ENGAGEMENTS}?page={2**64}&status=active", None


def neighbours() -> Iterator[Request]:
    """Yield requests of another organization and of nearly valid keys, to archived engagements and lists."""
    for near in ("bare", "token", "apikey", "basic-name", "longer", "shorter", "other-half"):
        yield near, "GET", ORGANIZATION, None
    sorts = "sort=name", "order=asc", "status=active&sort=name"
    for query in ("status=archived", *sorts, "page=2&perPage=1", "page=1e3", "page="):
        yield "other", "GET", f"{ENGAGEMENTS}?{query}", None
    for role in ("admin", "member"):
        yield "other", "GET", f"{MEMBERS}?role={role}", None
    yield "other", "GET", f"{ENGAGEMENTS}/9", None
    yield "other", "DELETE", f"{ENGAGEMENTS}/9", None
    yield "other", "PATCH", f"{ENGAGEMENTS}/9", {"name": "theirs"}
    yield "main", "GET", f"{ENGAGEMENTS}/9", None
    for number in ("%C3%A9%27", "x" * 300):
        for method, end in (("GET", ""), ("POST", "/archive"), ("DELETE", "")):
            yield "main", method, f"{ENGAGEMENTS}/{number}{end}", None


def limits(life: Life) -> list[object]:
    """Exceed the limit of a key, use another key, and wait for the end of the window."""

    def requests() -> Iterator[Request]:
        for _ in range(4):
            yield "throttled", "GET", ORGANIZATION, None
        yield "throttled", "POST", ENGAGEMENTS, {"name": "too much"}
        yield "main", "GET", ENGAGEMENTS, None

    life.lead(requests())
    life.visitor.clock.seconds += 4
    life.responses += [life.send("throttled", "GET", ORGANIZATION) for _ in range(2)]
    return life.responses


def is_unexpected(response: object) -> bool:
    """Whether a response is an unintended 500."""
    return b"An unexpected error occurred." in repr(response).encode()


def late(life: Life) -> list[object]:
    """Send texts of many signs, repeated changes, nearly valid keys and requests of a former member."""
    signs = joined(ADDRESSES, SYNTAX, SCRIPTS)
    long = "0123456789" * 1_100

    def requests() -> Iterator[Request]:
        for number, body in enumerate(({"name": signs, "description": signs}, {"name": "1", "description": long}), 1):
            yield "main", "POST", ENGAGEMENTS, body
            yield "main", "PATCH", f"{ENGAGEMENTS}/{number}", {"name": signs, "description": signs}
            yield "main", "GET", f"{ENGAGEMENTS}/{number}", None
        yield "main", "PATCH", f"{ENGAGEMENTS}/2", {"description": "0"}
        yield "main", "GET", f"{ENGAGEMENTS}/2", None
        yield "main", "PATCH", ORGANIZATION, {"name": signs}
        yield "main", "PATCH", ORGANIZATION, {"plan": "free"}
        yield "main", "PATCH", ORGANIZATION, {"name": signs, "plan": "gold"}
        yield "main", "GET", ORGANIZATION, None
        yield from _second_changes()
        almost = "bot basic-bare basic-password digest key jwt beginning list last case null long elsewhere"
        for near in almost.split():
            yield near, "GET", ORGANIZATION, None
        yield from _before_the_key()
        yield from _with_one_permission()
        yield from _of_others()
        yield from _past_the_limit()
        yield from _of_a_former_member(life)

    life.lead(requests())
    for address in _INVITED:
        life.responses.append([_letter(mail) for mail in life.visitor.rpc("read_mail", to=address)["messages"]])
    return life.responses


def meetings(life: Life) -> list[object]:
    """Send what is only wrong for another key, after another change, for a crowd, or for a second of its kind."""
    service = life.visitor.app.service
    for number in range(20):
        service.add_member(life.organization, f"M{number}", f"m{number}@example.com", "member", service.now())
    made = [service.add_engagement(life.organization, name, None) for name in ("renamed", "twin", "twin", "gone")]
    renamed, twin, other, gone = (f"{ENGAGEMENTS}/{identifier}" for identifier in made)
    stranger = service.find_key(life.keys["other"])
    assert stranger is not None
    theirs = service.add_engagement(stranger.organization_id, "theirs", None)
    records = [(made[place], service.add_subordinate(made[place], "target")) for place in (0, 1, 3, 3, 3, 3)]
    left = service.add_member(life.organization, "Left", "left@example.com", "member", service.now())
    life.keys["left"] = service.add_key(life.organization, user_id=left)
    addresses = ("ann@example.com", "Ann@Example.com", "Ben@example.com", "a.guest@mail.example.com")

    def requests() -> Iterator[Request]:
        for path in (f"{ENGAGEMENTS}?perPage=4", f"{MEMBERS}?perPage=25", f"{MEMBERS}?role=member&perPage=10&page=3"):
            yield "main", "GET", path, None
        yield "engagements:read", "GET", f"{MEMBERS}?page=2", None
        yield "engagements:read", "GET", f"{ENGAGEMENTS}?status=archived", None
        yield "other", "GET", f"{MEMBERS}?role=admin", None
        yield "organizations:write", "DELETE", f"{MEMBERS}/{left}", None
        yield "left", "GET", ORGANIZATION, None
        yield "engagements:read", "PATCH", renamed, {"description": "said"}
        yield "engagements:read", "GET", renamed, None
        yield "main", "PATCH", renamed, {"name": "another"}
        yield "engagements:read", "GET", renamed, None
        for step in (f"{twin}/archive", f"{other}/archive", f"{twin}/unarchive"):
            yield "main", "GET", f"{ENGAGEMENTS}?status=archived", None
            yield "main", "POST", step, None
        yield "main", "GET", f"{ENGAGEMENTS}?status=archived", None
        yield "main", "GET", other, None
        for path in (renamed, twin, gone):
            yield "main", "DELETE", path, None
        yield "main", "POST", ENGAGEMENTS, {"name": "gone"}
        yield "main", "POST", ENGAGEMENTS, {"name": "one more"}
        yield "main", "PATCH", life.at("one more"), {"name": "another"}
        for address in addresses:
            yield "main", "POST", INVITE, {"email": address, "role": "member"}
        yield "other", "POST", INVITE, {"email": addresses[0], "role": "member"}
        yield "other", "POST", f"{ENGAGEMENTS}/{theirs}/archive", None
        yield "other", "GET", f"{ENGAGEMENTS}?status=archived", None
        yield "main", "GET", f"{ENGAGEMENTS}?status=%C3%A9", None
        yield from _read_by_another_key()
        yield "main", "PATCH", ORGANIZATION, {"name": "a\x07b"}
        for body in ({"name": "archived!"}, {"description": None}):
            yield "main", "PATCH", other, body
        yield "main", "POST", ENGAGEMENTS, {"name": "to edit"}
        yield "main", "PATCH", life.at("to edit"), {"name": "ends!"}
        yield from _with_archived_neighbours(life)

    life.lead(requests())
    made = [service.add_engagement(life.organization, name, None) for name in ("first", "second")]
    life.together(*(("main", "DELETE", f"{ENGAGEMENTS}/{identifier}", None) for identifier in made))
    life.together(
        *(("main", "PATCH", f"{MEMBERS}/{user}", {"role": role}) for user, role in ((2, "member"), (3, "admin")))
    )
    life.together(
        ("main", "PATCH", ORGANIZATION, {"name": "meanwhile"}),
        ("main", "POST", INVITE, {"email": "meanwhile@example.com", "role": "admin"}),
    )
    life.responses.append(life.send("main", "GET", f"{MEMBERS}?role=admin"))
    for engagement, record in records:
        life.responses.append(life.visitor.rpc("subordinate_exists", engagementId=engagement, kind="target", id=record))
    for address in addresses:
        life.responses.append([_letter(mail) for mail in life.visitor.rpc("read_mail", to=address)["messages"]])
    return life.responses


def _with_archived_neighbours(life: Life) -> Iterator[Request]:
    """Yield a list of engagements archived in another order, edits to the name of one, and requests of other keys."""
    yield "main", "GET", f"{ENGAGEMENTS}?perPage=100", None
    for name in ("older", "newer", "plain"):
        yield "main", "POST", ENGAGEMENTS, {"name": name, "description": f"of {name}"}
    for name in ("newer", "older"):
        yield "main", "POST", f"{life.at(name)}/archive", None
    yield "main", "GET", f"{ENGAGEMENTS}?status=archived&sort=createdAt", None
    plain = life.at("plain")
    for body in ({"name": "older"}, *({"description": f"{'long ' * 60}{end}"} for end in "ab")):
        yield "main", "PATCH", plain, body
        yield "main", "GET", plain, None
    yield "other", "PATCH", f"{MEMBERS}/3", {"role": _ROLES[-1]}
    yield "engagements:read", "GET", f"{ENGAGEMENTS}?page=2&perPage=1", None


def aftermath(life: Life) -> list[object]:
    """Send what is only wrong after a refusal, a read or a removal, or after many deletions."""
    service = life.visitor.app.service
    kept, *doomed = (service.add_engagement(life.organization, f"doomed {number}", None) for number in range(27))
    record = service.add_subordinate(kept, "task")
    address, removed = "first-refused@example.com", "former@example.com"

    def requests() -> Iterator[Request]:
        yield "member", "GET", ORGANIZATION, None
        yield "browser", "GET", f"{ENGAGEMENTS}/999", None
        yield "main", "POST", ENGAGEMENTS, {"name": "first", "description": 5}
        yield "main", "POST", ENGAGEMENTS, {"name": "first", "description": "two  blanks"}
        yield "member", "GET", ORGANIZATION, None
        path = life.at("first")
        for body in (
            {"name": "refused", "description": 5},
            {"description": "valid"},
            {"name": "second"},
            {"name": "first"},
        ):
            yield "main", "PATCH", path, body
            yield "main", "GET", path, None
        yield "main", "POST", ENGAGEMENTS, b'{"name": "a\\/b  c"}'
        yield "main", "GET", f"{ENGAGEMENTS}?sort=createdAt&perPage=2", None
        for role in ("boss", "admin"):
            yield "main", "POST", INVITE, {"email": address, "role": role}
        yield "member", "GET", f"{ENGAGEMENTS}?status=active", None
        for key in ("organizations:read", "main"):
            yield key, "DELETE", f"{MEMBERS}/{life.member}", None
            yield "member", "GET", f"{ENGAGEMENTS}?status=active", None
        yield "main", "POST", INVITE, {"email": removed, "role": "member"}
        yield "main", "GET", MEMBERS, None
        for identifier in doomed:
            yield "main", "DELETE", f"{ENGAGEMENTS}/{identifier}", None

    life.lead(requests())
    life.responses.append(life.visitor.rpc("subordinate_exists", engagementId=kept, kind="task", id=record))
    for invited in (address, removed):
        life.responses.append([_letter(mail) for mail in life.visitor.rpc("read_mail", to=invited)["messages"]])
    return life.responses


def twice(life: Life) -> list[object]:
    """Send what is only wrong at a second attempt, with two errors at once, or for the key of a member."""
    service, user = life.visitor.app.service, f"{MEMBERS}/{life.member}"
    owner = service.add_member(life.organization, "Owner", "owner@example.com", "owner", service.now())
    pair = [service.add_member(life.organization, name, f"{name}@example.com", "admin", service.now()) for name in "ab"]
    made = [service.add_engagement(life.organization, name, None) for name in ("first", "second", "gone")]
    first, second, gone = (f"{ENGAGEMENTS}/{identifier}" for identifier in made)
    record = service.add_subordinate(made[1], "task")

    def requests() -> Iterator[Request]:
        for _ in range(3):
            for path in (ORGANIZATION, MEMBERS):
                yield "member", "GET", path, None
            yield "organizations:read", "GET", ORGANIZATION, None
            yield "other", "GET", first, None
            yield "other", "PATCH", user, {"role": "admin"}
            yield "main", "GET", MEMBERS, None
        for role in ("owner", "admin"):
            yield "main", "PATCH", user, {"role": role}
            yield "main", "GET", f"{MEMBERS}?role=owner", None
        yield "member", "GET", MEMBERS, None
        yield "member", "PATCH", f"{MEMBERS}/{owner}", {"role": "member"}
        yield "browser", "GET", ENGAGEMENTS, None
        yield "main", "GET", f"{ENGAGEMENTS}?status=odd&sort=odd", None
        yield "main", "GET", f"{MEMBERS}?role=odd&perPage=5", None
        yield "main", "PATCH", f"{MEMBERS}/98765", {"role": "odd"}
        for invited in (
            {},
            {"email": "o'neil@example.com", "role": "member"},
            {"email": "Jo@example.com", "role": "admin"},
        ):
            yield "main", "POST", INVITE, invited
        yield "main", "PATCH", ORGANIZATION, {"name": "Ends with a full stop."}
        yield "main", "POST", ENGAGEMENTS, b'{"n\\u0061me": "escaped"}'
        yield "main", "POST", ENGAGEMENTS, {"name": "named"}
        for path, change in ((life.at("named"), {"name": "renamed"}), (life.at("named"), {"description": "the first"})):
            yield "main", "PATCH", path, change
        yield "main", "GET", ENGAGEMENTS, None
        yield "member", "GET", first, None
        yield "main", "PATCH", first, {"name": "renamed since"}
        for edit in ({"description": "of a member"}, {"description": ""}, b' {"description": "behind a blank"}'):
            yield "member", "PATCH", first, edit
        yield "main", "PATCH", first, {"name": 5, "description": 5}
        for method, path, body in (
            ("PATCH", first, {"description": ""}),
            ("POST", f"{first}/archive", None),
            ("GET", first, None),
            ("PATCH", second, {"name": 5}),
            ("POST", f"{second}/archive", None),
            ("POST", f"{gone}/archive", None),
            ("DELETE", gone, None),
            ("POST", ENGAGEMENTS, {"name": "gone"}),
        ):
            yield "main", method, path, body
        yield "member", "POST", f"{life.at('gone')}/archive", None
        yield "member", "GET", life.at("gone"), None
        yield "other", "DELETE", second, None

    life.lead(requests())
    life.together(*(("main", "DELETE", f"{MEMBERS}/{identifier}", None) for identifier in pair))
    life.responses.append(life.send("main", "GET", MEMBERS))
    life.responses.append(life.visitor.rpc("subordinate_exists", engagementId=made[1], kind="task", id=record))
    return life.responses


def mixed(life: Life) -> list[object]:
    """Send what is only wrong for several keys in turn, after two removals or forty deletions, or at the same time."""
    service = life.visitor.app.service
    *doomed, _ = [service.add_engagement(life.organization, f"numbered {number}", None) for number in range(41)]
    life.keys["pair"] = service.add_key(life.organization, ["organizations:read", "organizations:write"])
    life.keys["four"] = service.add_key(life.organization, [each for each in SCOPES if each != "organizations:write"])
    two = service.add_engagement(life.organization, "numbered by two", None)
    kept = service.add_subordinate(two, "task")
    made = [service.add_engagement(life.organization, name, None) for name in ("first", "second")]
    first, second = (f"{ENGAGEMENTS}/{identifier}" for identifier in made)
    record, _ = (service.add_subordinate(made[1], kind) for kind in ("task", "report"))

    def requests() -> Iterator[Request]:
        yield from _by_turns(first, second, f"{MEMBERS}/{life.member}")
        yield "main", "GET", f'{ENGAGEMENTS}?status="', None
        yield "main", "GET", f"{ENGAGEMENTS}?page=abc&status=active", None
        for key in ("engagements:read", "main"):
            yield key, "PATCH", first, {"name": "first"}
        for identifier in doomed:
            yield "main", "DELETE", f"{ENGAGEMENTS}/{identifier}", None
        yield "engagements:delete", "DELETE", f"{ENGAGEMENTS}/{doomed[0]}", None
        for _ in range(2):
            yield "member", "GET", ENGAGEMENTS, None
        yield "member", "POST", ENGAGEMENTS, {"name": "of the member"}
        yield "main", "GET", f"{ENGAGEMENTS}?sort=updatedAt&order=asc", None
        yield "engagements:write", "PATCH", first, {"description": "of another key"}
        for query in ("?sort=updatedAt&order=asc", "?sort=updatedAt"):
            yield "main", "GET", f"{ENGAGEMENTS}{query}", None
        for key in ("pair", "four", "main"):
            yield key, "PATCH", ORGANIZATION, {"name": f"Renamed by {key}"}
        yield from ((key, "DELETE", second, None) for key in ("engagements:read", "engagements:delete"))
        yield "organizations:write", "POST", INVITE, {"email": "scoped@example.com", "role": "admin"}
        for user in (life.member, 2):
            yield "main", "DELETE", f"{MEMBERS}/{user}", None
        for key in ("member", "main"):
            yield key, "GET", ORGANIZATION, None
        for _ in range(4):
            yield "throttled", "GET", ORGANIZATION, None
        yield "throttled", "POST", INVITE, {"email": "throttled@example.com", "role": "member"}

    life.lead(requests())
    beginning = service.add_engagement(life.organization, "numbered", None)
    life.responses.append(life.send("main", "DELETE", f"{ENGAGEMENTS}/{beginning}"))
    life.responses.append(life.visitor.rpc("subordinate_exists", engagementId=two, kind="task", id=kept))
    life.together(*(("main", "PATCH", first, {"name": text, "description": text}) for text in "ab"))
    life.together(
        *(
            (key, "PATCH", first, {field: key})
            for key, field in (("main", "name"), ("engagements:write", "description"))
        ),
        ("main", "GET", first, None),
    )
    life.responses.append(life.send("main", "GET", first))
    bystander = life.at("of the member").rpartition("/")[2]
    life.responses.append(life.send("main", "PATCH", first, {"description": "by an id", "id": bystander}))
    life.together(*(("main", "GET", path, None) for path in (first, life.at("of the member"))))
    life.responses.append(life.visitor.rpc("subordinate_exists", engagementId=made[1], kind="task", id=record))
    life.responses.append(life.visitor.rpc("read_mail", to="throttled@example.com"))
    life.responses += [life.send("main", "PATCH", first, {"description": f"edit {number}"}) for number in range(11)]
    life.responses += [life.send("main", "PATCH", ORGANIZATION, {"name": name}) for name in ("at once", "once more")]
    life.visitor.clock.seconds += 3
    life.responses.append(life.send("main", "GET", ORGANIZATION))
    return life.responses


def _by_turns(first: str, second: str, user: str) -> Iterator[Request]:
    """Yield edits by two keys in turn, archives of two engagements in turn, role changes, and a read by a browser."""
    for key in ("main", "engagements:write", "main"):
        yield key, "PATCH", first, {"description": f"by {key}"}
    for path, step in ((first, "archive"), (second, "archive"), (first, "unarchive")):
        yield "main", "POST", f"{path}/{step}", None
    yield "main", "PATCH", first, {"name": "first, renamed"}
    yield "main", "POST", f"{first}/archive", None
    yield "main", "GET", f"{ENGAGEMENTS}?status=archived&sort=updatedAt", None
    yield "main", "PATCH", first, {"name": "first"}
    for path in (first, second):
        yield "main", "POST", f"{path}/unarchive", None
    yield "main", "PATCH", first, {"name": "first"}
    yield "browser", "GET", first, None
    yield "member", "GET", ORGANIZATION, None
    for role in _ROLES:
        yield "main", "PATCH", user, {"role": role}
        yield "main", "GET", MEMBERS, None
        yield "member", "POST", f"{second}/archive", None
        yield "member", "PATCH", second, {"description": f"by the {role}"}
        yield "main", "POST", f"{second}/unarchive", None


def _read_by_another_key() -> Iterator[Request]:
    """Yield reads of a key with one permission before and after changes of another key."""
    for change in (None, (ORGANIZATION, {"name": "ends!"}), *((f"{MEMBERS}/3", {"role": role}) for role in _ROLES)):
        if change is not None:
            yield "main", "PATCH", *change
        for path in (ORGANIZATION, f"{MEMBERS}?perPage=100"):
            yield "organizations:read", "GET", path, None


_ROLES = ("admin", "member")


def _second_changes() -> Iterator[Request]:
    """Yield repeated edits, archivings, unarchivings and deletions of changed engagements."""
    for name, steps in (
        ("both", ("PATCH", "archive", "archive", "PATCH", "GET", "DELETE", "GET")),
        ("back", ("archive", "unarchive", "PATCH", "PATCH", "archive", "unarchive", "DELETE", "GET")),
        ("left", ("archive",)),
        ("left", ()),
        ("both", ()),
    ):
        yield "main", "POST", ENGAGEMENTS, {"name": name}
        path = f"{ENGAGEMENTS}/{_NUMBERS[name]}"
        for step in steps:
            if step in {"archive", "unarchive"}:
                yield "main", "POST", f"{path}/{step}", None
            else:
                body = {"description": "archived before it is deleted"} if step == "PATCH" else None
                yield "main", step, path, body
        yield "main", "GET", f"{ENGAGEMENTS}?perPage=100", None
        yield "main", "GET", ORGANIZATION, None


_NUMBERS = {"both": 3, "back": 4, "left": 5}
"""The identifiers of the engagements, in the order of creation."""


def _before_the_key() -> Iterator[Request]:
    """Yield requests of an unknown key that have another error, too."""
    for path in (f"{ENGAGEMENTS}?status=odd", f"{MEMBERS}?role=odd"):
        yield "unknown", "GET", path, None
    for method, path, body in (
        ("POST", ENGAGEMENTS, {"description": 5}),
        ("POST", INVITE, {"email": "nobody@example.com"}),
        ("PATCH", f"{MEMBERS}/1", {}),
    ):
        yield "unknown", method, path, body
    yield "unknown", "POST", INVITE, {"email": _INVITED[0], "role": "member"}


def _with_one_permission() -> Iterator[Request]:
    """Yield requests within and outside the one permission of a key, also to archived engagements."""
    for key in SCOPES:
        for path in (f"{MEMBERS}?role=member", f"{ENGAGEMENTS}/5", f"{ENGAGEMENTS}/1"):
            yield key, "GET", path, None
        yield key, "POST", ENGAGEMENTS, {"name": key, "description": "said"}
        for body in ({"name": key, "description": "said"}, {"name": key}):
            yield key, "PATCH", f"{ENGAGEMENTS}/1", body
        yield key, "POST", INVITE, {"email": _INVITED[1], "role": "admin"}
        yield key, "PATCH", f"{MEMBERS}/2", {"role": "member"}
    for key in SCOPES:
        yield "main", "POST", ENGAGEMENTS, {"name": f"archived for {key}"}
    yield "engagements:read", "DELETE", f"{ENGAGEMENTS}/5", None


def _of_others() -> Iterator[Request]:
    """Yield creations of the same name in another organization, and its list by last change."""
    yield "other", "POST", ENGAGEMENTS, {"name": "left"}
    yield "other", "POST", ENGAGEMENTS, {"name": "entered", "organizationId": "1"}
    yield "other", "GET", f"{ENGAGEMENTS}?sort=name&order=desc", None
    yield "other", "PATCH", f"{ENGAGEMENTS}/1", {}
    yield "other", "GET", f"{ENGAGEMENTS}?sort=updatedAt&order=desc", None
    yield "main", "POST", ENGAGEMENTS, {"name": "shared"}
    yield "other", "POST", ENGAGEMENTS, {"name": "shared"}
    for number in range(6, 20):
        yield "main", "POST", f"{ENGAGEMENTS}/{number}/archive", None
    yield "other", "GET", f"{ENGAGEMENTS}?sort=updatedAt&order=desc", None


def _past_the_limit() -> Iterator[Request]:
    """Yield changes with a key past its limit."""
    for _ in range(4):
        yield "throttled", "GET", ORGANIZATION, None
    yield "throttled", "PATCH", f"{ENGAGEMENTS}/1", {"name": "too much", "description": "too much"}
    yield "throttled", "POST", f"{ENGAGEMENTS}/1/archive", None
    yield "main", "GET", f"{ENGAGEMENTS}/1", None
    yield "throttled", "DELETE", f"{ENGAGEMENTS}/2", None
    yield "main", "GET", f"{ENGAGEMENTS}/2", None


def _of_a_former_member(life: Life) -> Iterator[Request]:
    """Yield unusual and invalid invitations, and requests to the engagements of a removed member."""
    for address in _INVITED[2:]:
        yield "main", "POST", INVITE, {"email": address, "role": "member"}
    yield "main", "POST", INVITE, {"email": _INVITED[0]}
    yield "main", "POST", INVITE, {"email": _INVITED[0], "role": "odd"}
    yield "member", "POST", ENGAGEMENTS, {"name": "of the member"}
    yield "member", "POST", ENGAGEMENTS, {"name": "another of the member"}
    for name in ("of the member", "another of the member"):
        yield "main", "GET", life.at(name), None
    yield "member", "POST", INVITE, {"email": "admin@example.com", "role": "admin"}
    yield "member", "POST", ENGAGEMENTS, {"name": "a third of the member"}
    yield "main", "DELETE", life.at("a third of the member"), None
    yield "main", "PATCH", ORGANIZATION, {"name": "Renamed before the removal"}
    yield "member", "GET", ORGANIZATION, None
    for key in ("member", "main"):
        yield key, "DELETE", f"{MEMBERS}/{life.member}", None
    for name in ("of the member", "another of the member"):
        path = life.at(name)
        yield "main", "GET", path, None
        yield "member", "GET", path, None
        yield "member", "PATCH", path, {"description": "still there"}
        yield "main", "PATCH", path, {"description": "its creator has left"}
        yield "member", "POST", f"{path}/archive", None
        yield "member", "DELETE", path, None
        yield "main", "GET", path, None
    yield "main", "GET", f"{ENGAGEMENTS}?perPage=100", None


_INVITED = (
    "refused@example.com",
    "forbidden@example.com",
    "a.guest+tag@example.com",
    f"{'a-long-part-before-the-sign-' * 2}@example.com",
)
