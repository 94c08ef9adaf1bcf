"""In-process service that lies in every response except reads by id, and records writes to other users' data."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import httpx
import pytest

from conformance.reference.application import Application
from conformance.reference.records import Engagement
from conformance.running.options import Effort, RunOptions
from conformance.running.run import Run
from conformance.selftest.in_process import HostedSession, SandboxPeer
from conformance.selftest.subjects import Subject
from conformance.targets.profile import Mode, Profile
from conformance.targets.provisioner import Provisioner
from conformance.verdicts.judge import Judge
from conformance.verdicts.session import run_checks
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Request

ENGAGEMENTS: Final = "/api/v1/engagements"
MEMBERS: Final = "/api/v1/organizations/current/members"
_FOUNDERS: Final = ("olivia", "adam", "mia")
"""The members of every organization of the reference service: an owner, an admin and a member."""

YEAR: Final = 31_536_000_000
"""Milliseconds of a year."""

LIES: Final = (
    "creation: another's id",
    "creation: another's id and name",
    "creation: another's id, old",
    "creation: an older one overwritten",
    "creation: one that came meanwhile",
    "creation: another one of the run",
    "edit: another's id",
    "creation: another quotes its name",
    "deletion: id given again",
    "deletion: id given again, answer lost",
    "deletion: carried out, with any key",
    "list: others under the prefix",
    "list: others under names that were given",
    "list: ids swapped",
    "list: ids shifted",
    "list: others hidden",
    "list: own hidden",
    "list: everything is new",
    "members: ids swapped",
    "members: some hidden",
    "provisioner: a member who was there",
)
"""The lies of a service; each has a rate."""


@dataclass
class Liar(httpx.AsyncBaseTransport):
    """A transport to the reference service that changes its responses into lies.

    Attributes:
        rates: The rate of each lie.
        may_rename: Whether the run may rename the organization for some time.
        others: The ids of engagements of other users.
        members: The ids of members of other users.
        crimes: Writes to these engagements and members.
    """

    app: Application
    chance: random.Random
    rates: dict[str, float]
    may_rename: bool
    others: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    crimes: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    freed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._asgi = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self._organization = self.app.bootstrap.organization_id
        store = self.app.service.store
        self._name = store.organization(self._organization).name
        with store.transaction():
            self._old = [self._plant(f"Production {number}", age=YEAR) for number in range(3)]
            for name in ("Quarterly audit", "cf-zzzzzz22-other run", "  ", "Audit 2"):
                self._plant(name)
            slug = store.organization(self._organization).slug
            found = (store.member_by_email(self._organization, f"{name}@{slug}.example") for name in _FOUNDERS)
            self.members |= {member.user_id for member in found if member is not None}
        assert len(self.members) == len(_FOUNDERS)

    def _plant(self, name: str, *, age: int = 0, identifier: str | None = None) -> str:
        """Add another user's engagement and return its id."""
        service = self.app.service
        at = service.now() - age
        made = identifier or service.new_id("engagement")
        service.store.add_engagement(Engagement(made, self._organization, name, None, "active", at, at))
        self.others.add(made)
        return made

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Record writes to others' data, carry the request out, and lie."""
        path, method = request.url.path, request.method
        self._watch(method, path)
        named = path.rpartition("/")[2]
        if method == "GET" and named in self.freed:
            self._give_again(named)
        response = await self._asgi.handle_async_request(request)
        body = await response.aread()
        self._watch_name()
        if method == "DELETE" and path.startswith(ENGAGEMENTS):
            if response.status_code < 300 and self._lies("deletion: id given again, answer lost"):
                self._give_again(named)
                return httpx.Response(504)
            if (
                response.status_code >= 400
                and self._lies("deletion: carried out, with any key")
                and self._delete(named)
            ):
                return httpx.Response(200, json={"data": {"id": named, "deleted": True}})
        if response.status_code < 300 and body.startswith(b"{"):
            value = json.loads(body)
            self._lie(method, path, request.content, value)
            body = json.dumps(value).encode()
        headers = [(name, text) for name, text in response.headers.items() if name.lower() != "content-length"]
        return httpx.Response(response.status_code, headers=headers, stream=httpx.ByteStream(body))

    def _lie(self, method: str, path: str, sent: bytes, value: dict[str, Any]) -> None:
        if method == "POST" and path == ENGAGEMENTS:
            self._created(json.loads(sent), value["data"])
        elif method == "DELETE" and path.startswith(ENGAGEMENTS) and self._lies("deletion: id given again"):
            self._give_again(path.rpartition("/")[2])
        elif method != "GET" and path.startswith(ENGAGEMENTS) and self._lies("edit: another's id"):
            value["data"] = value["data"] | {"id": self._another()}
        elif method == "GET" and path == ENGAGEMENTS:
            self._listed(value["data"])
        elif method == "GET" and path == MEMBERS:
            self._members_listed(value["data"])

    def _watch(self, method: str, path: str) -> None:
        if method == "GET":
            return
        named = path.removeprefix(f"{ENGAGEMENTS}/").partition("/")[0]
        member = path.removeprefix(f"{MEMBERS}/")
        store = self.app.service.store
        if named in self.others:
            self.crimes.append(f"{method} {path}")
        elif member in self.members:
            found = store.member(self._organization, member)
            if method != "PATCH" or found is None or found.role != "owner":
                self.crimes.append(f"{method} {path}")

    def _watch_name(self) -> None:
        found = self.app.service.store.organization(self._organization)
        if not self.may_rename and found.name != self._name:
            self.crimes.append(f"the organization was named {found.name}")

    def _lies(self, lie: str) -> bool:
        return self.chance.random() < self.rates.get(lie, 0.0)

    def _another(self) -> str:
        return self.chance.choice(sorted(self.others))

    def _created(self, sent: Any, data: dict[str, Any]) -> None:
        store = self.app.service.store
        if isinstance(sent, dict) and isinstance(sent.get("name"), str):
            self.names.append(sent["name"])
        made = data["id"]
        if self._lies("creation: another's id"):
            data["id"] = self._another()
        if self._lies("creation: another's id and name"):
            other = store.engagement(self._another())
            data |= {} if other is None else {"id": other.id, "name": other.name}
        if self._lies("creation: another's id, old"):
            data |= {"id": self._another(), "createdAt": "2020-01-01T00:00:00.000Z"}
        if self._lies("creation: an older one overwritten"):
            with store.transaction():
                found = self.chance.choice(self._old)
                store.edit_engagement(found, {"name": data["name"]}, self.app.service.now())
                store.delete_engagement(made)
            data["id"] = found
        if self._lies("creation: one that came meanwhile"):
            with store.transaction():
                data["id"] = self._plant(f"Meanwhile {len(self.others)}")
        if self.names and self._lies("creation: another quotes its name"):
            with store.transaction():
                self._plant(f"Copy of {self.names[-1]}")
        if self.own and self._lies("creation: another one of the run"):
            data["id"] = self.chance.choice(self.own)
        self.own.append(made)

    def _delete(self, identifier: str) -> bool:
        """Delete an engagement of the run, whose id is given away by the next read; return whether it existed.

        Requests sent together with the deletion could not know of it.
        """
        store = self.app.service.store
        if identifier in self.others or store.engagement(identifier) is None:
            return False
        with store.transaction():
            store.delete_engagement(identifier)
        self.freed.add(identifier)
        return True

    def _give_again(self, identifier: str) -> None:
        """Give the id of a deleted engagement to another user's engagement."""
        store = self.app.service.store
        if store.engagement(identifier) is None:
            with store.transaction():
                self._plant(f"Under an old id {len(self.others)}", identifier=identifier)

    def _listed(self, items: list[dict[str, Any]]) -> None:
        prefix = next((name[:12] for name in self.names if name.startswith("cf-")), "cf-aaaaaa22-")
        for item in items:
            if item["id"] in self.others and self._lies("list: others under the prefix"):
                item["name"] = f"{prefix}x"
            if item["id"] in self.others and self.names and self._lies("list: others under names that were given"):
                item["name"] = self.chance.choice(self.names)
            if self._lies("list: everything is new"):
                item["createdAt"] = items[0]["createdAt"]
        if self._lies("list: ids swapped"):
            self._shuffle(items)
        if self._lies("list: ids shifted"):
            ids = [item["id"] for item in items]
            for item, identifier in zip(items, [*ids[1:], *sorted(self.others)], strict=False):
                item["id"] = identifier
        if self._lies("list: others hidden"):
            items[:] = [item for item in items if item["id"] not in self.others]
        if self._lies("list: own hidden"):
            items[:] = [item for item in items if item["id"] in self.others]

    def _members_listed(self, items: list[dict[str, Any]]) -> None:
        if self._lies("members: ids swapped"):
            self._shuffle([item for item in items if item["role"] != "owner"])
        if self._lies("members: some hidden"):
            items[:] = [item for item in items if self.chance.random() < 0.5]

    def _shuffle(self, items: list[dict[str, Any]]) -> None:
        ids = [item["id"] for item in items]
        self.chance.shuffle(ids)
        for item, identifier in zip(items, ids, strict=True):
            item["id"] = identifier


class LyingPeer(SandboxPeer):
    """A provisioner that reports existing members as new, and records records of others' engagements.

    Args:
        liar: The service.
    """

    def __init__(self, liar: Liar) -> None:
        super().__init__(liar.app.sandbox)
        self._liar = liar

    def request(self, method: str, params: Any) -> object:
        """Call a method or lie."""
        liar = self._liar
        if method == "create_subordinate" and params["engagementId"] in liar.others:
            liar.crimes.append(f"a record below {params['engagementId']}")
        result: Any = super().request(method, params)
        if method == "create_member" and liar._lies("provisioner: a member who was there"):
            return {**result, "userId": liar.chance.choice(sorted(liar.members))}
        return result


class LyingSession(HostedSession):
    """A run against a liar.

    Args:
        number: The number of the example, which is its seed.
    """

    def __init__(self, number: int) -> None:
        self.chance = random.Random(f"liar {number}")
        mode = self.chance.choice([Mode.DISPOSABLE, Mode.DISPOSABLE, Mode.DEFAULT, Mode.READ_ONLY])
        options = RunOptions(mode=mode, effort=Effort.QUICK, seed=number)
        super().__init__(Subject("liar", "latitude", "A liar"), options, in_process=True)

    def _embedded(self) -> Profile:
        profile = super()._embedded()
        chosen = self.chance.sample(LIES, self.chance.choice([1, 1, 2, 3, 5]))
        if "provisioner: a member who was there" in chosen:  # a hidden member would count as new
            chosen = [lie for lie in chosen if not lie.startswith("members:")]
        rates = {lie: self.chance.choice([1.0, 0.5, 0.2, 0.05]) for lie in chosen}
        self.liar = Liar(self._service.app, self.chance, rates, profile.mode is Mode.DISPOSABLE)
        return replace(profile, patience=0.1)

    def _transport(self) -> httpx.AsyncBaseTransport:
        return self.liar

    def _provisioned(self, is_over: Any) -> Provisioner:
        return Provisioner(LyingPeer(self.liar))


@contextmanager
def hurried(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove the waits of runs, since verdicts do not matter here."""
    patch.setattr(Run, "sleep", lambda *_: None)
    yield
    patch.undo()


@dataclass(frozen=True)
class _UntilCrime:
    """Observer that ends a run after the first crime."""

    run: Run
    liar: Liar

    def before(self, _: Request) -> None:
        """Do nothing."""

    def after(self, _: Exchange) -> None:
        """End the run."""
        if self.liar.crimes:
            self.run.wire.end("other users' data was changed")


def lie(number: int, *, until_crime: bool = False) -> tuple[Liar, list[str]]:
    """Run the whole suite against a liar.

    Args:
        number: The number of the example, which is its seed.
        until_crime: Whether the run ends after the first crime.

    Returns:
        The liar and the suite's errors.
    """
    with LyingSession(number) as session:
        if until_crime:
            session.run.wire.observe(_UntilCrime(session.run, session.liar))
        judge = Judge(session.run)
        session.run.closed = session.reach()
        run_checks(judge)
        session.undo()
        session.liar.may_rename = False
        session.liar._watch_name()
    return session.liar, judge.errors
