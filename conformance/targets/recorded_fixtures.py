"""Fixtures that are recorded in a run and replayed, keys by their names only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.targets.capabilities import MissingMeans
from conformance.targets.fixtures import Member
from conformance.targets.provisioner import Mail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.interface.operations import SubordinateKind
    from conformance.targets.fixtures import Fixtures, MemberLog
    from conformance.targets.provisioner import MemberRole
    from conformance.wire.recorded_inputs import RecordedInputs
    from conformance.wire.requests import Credential

_T = TypeVar("_T")

_LINK: Final = re.compile(r"(https?://)([^\s\"'<>/?#@]*)[^\s\"'<>]*", re.IGNORECASE)


class RecordedFixtures:
    """Fixtures with the interface of ``Fixtures``, which describes the methods, and a recording.

    Args:
        fixtures: The fixtures of a run; a replay only uses their main key.
        inputs: The recorded inputs of the run, or of its recording.
        keys: Returns the credential of a recorded name.
        journal: Records created members in a replay.

    Attributes:
        unavailable: The reasons for missing fixtures, by need.
        members: The members that checks got so far, by id.
    """

    def __init__(
        self,
        fixtures: Fixtures,
        inputs: RecordedInputs,
        keys: Callable[[str], Credential] | None = None,
        journal: MemberLog | None = None,
    ) -> None:
        self._fixtures = fixtures
        self._inputs = inputs
        self._keys = keys
        self._journal = journal
        self.unavailable: dict[str, str] = {}
        self.members: dict[str, Member] = {}

    @property
    def main(self) -> Credential:
        """The main key's credential."""
        return self._fixtures.main

    def hide(self, name: str, secret: str) -> None:
        """Keep another secret out of all outputs, such as one that a check derives from a key."""
        self._fixtures.hide(name, secret)

    def known_keys(self) -> dict[str, Credential]:
        """Return the keys that checks got so far, by name."""
        return self._fixtures.known_keys()

    def scoped_key(self, scope: str) -> Credential:
        """Return a key with exactly one permission."""
        return self._key(f"a key for {scope}", lambda: self._fixtures.scoped_key(scope))

    def key_with(self, name: str, scopes: Sequence[str]) -> Credential:
        """Return a key with several permissions or none."""
        return self._key(f"a key with {name}", lambda: self._fixtures.key_with(name, scopes))

    def new_key(self, scope: str) -> Credential:
        """Return an unused key with exactly one permission."""
        return self._key(f"a new key for {scope}", lambda: self._fixtures.new_key(scope))

    def other_organization(self) -> Credential:
        """Return a full key of another organization."""
        return self._key("another organization", self._fixtures.other_organization)

    def throttled(self) -> Credential:
        """Return a key whose limit a run may exceed."""
        return self._key("a throttled key", self._fixtures.throttled)

    def member(self, role: MemberRole = "member", *, with_key: bool = False) -> Member:
        """Return an unused member."""
        question = f"a member as {role}" + (" with a key" if with_key else "")
        member = self._recorded(
            question, lambda: self._fixtures.member(role, with_key=with_key), _of_member, self._member
        )
        self.members[member.user_id] = member
        return member

    def admit_late_members(self) -> None:
        """Record the members that the provisioner created too late for their checks, which nothing judges."""
        self._fixtures.admit_late_members()

    def mail(self, to: str, patience: float = 0.0, wanted: Callable[[Mail], bool] = lambda _: True) -> list[Mail]:
        """Return the e-mails to an address, with links cut to their host: a whole link could accept an invitation."""
        return self._recorded(
            f"the mail to {to}",
            lambda: [_without_links(mail) for mail in self._fixtures.mail(to, patience, wanted)],
            lambda mails: [_of_mail(mail) for mail in mails],
            lambda mails: [Mail(mail["from"], tuple(mail["to"]), mail["subject"], mail["text"]) for mail in mails],
        )

    def make_subordinate(self, engagement_id: str, kind: SubordinateKind) -> str:
        """Create a subordinate record and return its id."""
        return self._recorded(
            f"a {kind} of {engagement_id}", lambda: self._fixtures.make_subordinate(engagement_id, kind), str, str
        )

    def subordinate_exists(self, engagement_id: str, kind: SubordinateKind, record_id: str) -> bool:
        """Whether a subordinate record exists."""
        return self._recorded(
            f"whether there is the {kind} {record_id} of {engagement_id}",
            lambda: self._fixtures.subordinate_exists(engagement_id, kind, record_id),
            bool,
            bool,
        )

    def _key(self, question: str, find: Callable[[], Credential]) -> Credential:
        return self._recorded(question, find, lambda key: key.name, self._credential)

    def _recorded(
        self, question: str, find: Callable[[], _T], write: Callable[[_T], object], read: Callable[[Any], _T]
    ) -> _T:
        found = self._inputs.record(
            question, lambda: _tried(find), lambda found: _written(found, write), lambda record: _read(record, read)
        )
        if isinstance(found, MissingMeans):
            self.unavailable[found.need] = found.reason
            raise found
        return found

    def _member(self, record: Mapping[str, Any]) -> Member:
        if self._journal is not None and record["email"] is not None:
            self._journal.member_made(record["user_id"], record["role"], record["email"])
        key = None if record["key"] is None else self._credential(record["key"])
        return Member(record["user_id"], record["email"], record["role"], key)

    def _credential(self, name: str) -> Credential:
        if self._keys is None:
            raise LookupError(name)
        return self._keys(name)


def _tried(find: Callable[[], _T]) -> _T | MissingMeans:
    try:
        return find()
    except MissingMeans as missing:
        return MissingMeans(missing.need, missing.reason)


def _written(found: _T | MissingMeans, write: Callable[[_T], object]) -> object:
    if isinstance(found, MissingMeans):
        return {"unavailable": found.need, "reason": found.reason}
    return {"given": write(found)}


def _read(record: Mapping[str, Any], read: Callable[[Any], _T]) -> _T | MissingMeans:
    if "unavailable" in record:
        return MissingMeans(record["unavailable"], record["reason"])
    return read(record["given"])


def _of_member(member: Member) -> dict[str, object]:
    key = None if member.credential is None else member.credential.name
    return {"user_id": member.user_id, "email": member.email, "role": member.role, "key": key}


def _of_mail(mail: Mail) -> dict[str, object]:
    return {"from": mail.sender, "to": list(mail.to), "subject": mail.subject, "text": mail.text}


def _without_links(mail: Mail) -> Mail:
    return Mail(mail.sender, mail.to, _cut(mail.subject), _cut(mail.text))


def _cut(text: str) -> str:
    return _LINK.sub(lambda link: f"{link[1]}{link[2] or 'host'}/withheld", text)
