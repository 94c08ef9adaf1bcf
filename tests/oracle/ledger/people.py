"""An organization in memory and the exchanges about it, correct unless a test changes what it holds or answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.ledger.findings import Finding
from conformance.oracle.ledger.ledger import ORGANIZATION_RULES, Ledger
from conformance.oracle.ledger.members import OwnMember
from conformance.wire import requests
from conformance.wire.exchange import Exchange
from conformance.wire.requests import Credential, Request
from tests.fakes.exchanges import make_exchange

READER = Credential.bearer("organizations:read", "key-of-reader-1")
WRITER = Credential.bearer("organizations:write", "key-of-writer-1")
STRANGER = Credential.bearer("other_organization", "key-of-stranger")
UNKNOWN = Credential("unknown_key", "Bearer unknown-key-1", invalid=True)
OWN = {"u1": OwnMember(is_new=True), "u2": OwnMember(is_new=True, key="member_1"), "u3": OwnMember(is_new=True)}


def person(user_id: str, role: str) -> dict[str, Any]:
    """Return a member as lists show it."""
    return {"id": user_id, "name": user_id.upper(), "email": f"{user_id}@x.test", "role": role, "joinedAt": "then"}


@dataclass
class Course:
    """Exchanges of a run, each after the one before unless ``at`` says otherwise.

    Attributes:
        members: The members by id: an owner of others, and three that only the run changes.
        organization: The organization of the main key.
        exchanges: The exchanges.
        now: Seconds since the start.
    """

    members: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {
            each["id"]: each
            for each in (person("u0", "owner"), person("u1", "admin"), person("u2", "member"), person("u3", "member"))
        }
    )
    organization: dict[str, Any] = field(
        default_factory=lambda: {
            "id": "org",
            "name": "Acme",
            "slug": "acme",
            "plan": "team",
            "createdAt": "then",
            "memberCount": 4,
            "settings": {"ssoEnabled": False},
        }
    )
    exchanges: list[Exchange] = field(default_factory=list)
    now: float = 0.0

    def send(
        self,
        sent: Request,
        status: int | None,
        data: Any = None,
        *,
        key: Credential | None = None,
        at: float | None = None,
        seconds: float = 0.1,
        meta: Any = None,
    ) -> Exchange:
        """Record an exchange."""
        body: Any = {"error": {}} if status is not None and status >= 400 else {"data": data}
        if meta is not None:
            body["meta"] = meta
        self.now += 1
        made = make_exchange(
            sent if key is None else sent.with_key(key),
            status,
            body,
            number=len(self.exchanges) + 1,
            at=self.now if at is None else at,
            seconds=seconds,
        )
        self.exchanges.append(made)
        return made

    def listed(
        self,
        *,
        key: Credential | None = None,
        at: float | None = None,
        seconds: float = 0.1,
        lacks: str = "",
        **asked: Any,
    ) -> Exchange:
        """Read the list of members."""
        found = [dict(each) for each in self.members.values() if asked.get("role", each["role"]) == each["role"]]
        meta = {"total": len(found), "page": 1, "perPage": 20, "totalPages": 1}
        shown = [each for each in found if each["id"] != lacks]
        return self.send(requests.list_members(**asked), 200, shown, key=key, at=at, seconds=seconds, meta=meta)

    def change(self, user_id: str, role: str, status: int | None = 200, **how: Any) -> Exchange:
        """Change a role, unless it is refused."""
        if status == 200:
            self.members[user_id]["role"] = role
        return self.send(requests.update_member_role(user_id, {"role": role}), status, {"id": user_id}, **how)

    def remove(self, user_id: str, status: int | None = 200, **how: Any) -> Exchange:
        """Remove a member, unless it is refused."""
        if status == 200:
            self.members.pop(user_id, None)
        return self.send(requests.remove_member(user_id), status, {"removed": True, "userId": user_id}, **how)

    def invite(self, email: str, status: int = 201, **how: Any) -> Exchange:
        """Invite an address."""
        return self.send(requests.invite_member({"email": email, "role": "member"}), status, {"id": "inv"}, **how)

    def read(self, **how: Any) -> Exchange:
        """Read the organization."""
        return self.send(requests.get_organization(), 200, dict(self.organization), **how)

    def update(self, status: int | None = 200, *, shown: Any = None, takes: bool = True, **body: Any) -> Exchange:
        """Update the organization, whose name changes unless that is refused."""
        key = body.pop("key", None)
        if status == 200 and takes:
            self.organization["name"] = body.get("name", self.organization["name"])
        data = {name: self.organization[name] for name in ("id", "name", "slug")} | (shown or {})
        return self.send(requests.update_organization(body), status, data, key=key)

    def findings(self) -> list[Finding]:
        """Return what the ledger finds."""
        return Ledger.over(self.exchanges, members=OWN).findings.broken

    def broken(self) -> list[str]:
        """Return the requirements that the ledger finds broken, each once."""
        found = {finding.requirement for finding in self.findings()}
        return [rule for rule in ORGANIZATION_RULES if rule in found]

    def kept(self) -> set[str]:
        """Return the requirements with evidence."""
        kept = Ledger.over(self.exchanges, members=OWN).findings.kept
        return {rule for rule, cited in kept.items() if {*cited} <= {*self.exchanges}}
