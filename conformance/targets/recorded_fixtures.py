"""Fixtures that can be given again: what checks were given is noted, keys by their names only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from conformance.targets.capabilities import MissingMeans
from conformance.targets.fixtures import Member
from conformance.targets.provisioner import Mail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.targets.fixtures import Fixtures, MemberLog
    from conformance.targets.profile import SubordinateKind
    from conformance.targets.provisioner import MemberRole
    from conformance.wire.recorded_inputs import Notes
    from conformance.wire.requests import Credential

_T = TypeVar("_T")

_LINK: Final = re.compile(r"(https?://)([^\s\"'<>/?#@]*)[^\s\"'<>]*", re.IGNORECASE)


class RecordedFixtures:
    """What checks need beside the main key, with the same words as ``Fixtures``.

    Args:
        fixtures: Finds what a run asks for; in a replay it is only asked for the main key.
        notes: The notes of the run, or of the run that is judged again.
        keys: Makes a credential of a name that was noted.
        journal: Told of members that are made, where the fixtures themselves do not.

    Attributes:
        unavailable: What could not be had, by the need, with the reason.
    """

    def __init__(
        self,
        fixtures: Fixtures,
        notes: Notes,
        keys: Callable[[str], Credential] | None = None,
        journal: MemberLog | None = None,
    ) -> None:
        self._fixtures = fixtures
        self._notes = notes
        self._keys = keys
        self._journal = journal
        self.unavailable: dict[str, str] = {}

    @property
    def main(self) -> Credential:
        """The main key's credential."""
        return self._fixtures.main

    def hide(self, name: str, secret: str) -> None:
        """Keep another secret out of all outputs, such as one that a check makes of a key."""
        self._fixtures.hide(name, secret)

    def known_keys(self) -> dict[str, Credential]:
        """The keys that were handed out so far, by name."""
        return self._fixtures.known_keys()

    def scoped_key(self, scope: str) -> Credential:
        """A key with exactly one scope.

        Raises:
            MissingMeans: There is none.
        """
        return self._key(f"a key for {scope}", lambda: self._fixtures.scoped_key(scope))

    def new_key(self, scope: str) -> Credential:
        """A key with exactly one scope that nothing was sent with yet.

        Raises:
            MissingMeans: None can be made.
        """
        return self._key(f"a new key for {scope}", lambda: self._fixtures.new_key(scope))

    def other_organization(self) -> Credential:
        """A full key of another organization.

        Raises:
            MissingMeans: There is none.
        """
        return self._key("another organization", self._fixtures.other_organization)

    def throttled(self) -> Credential:
        """A key whose limit a run may use up.

        Raises:
            MissingMeans: There is none.
        """
        return self._key("a throttled key", self._fixtures.throttled)

    def member(self, role: MemberRole = "member", *, with_key: bool = False) -> Member:
        """A member that nobody else has been given.

        Args:
            role: The role of a new one; those of the target file have the role they have.
            with_key: Whether the member must have a key.

        Raises:
            MissingMeans: There is none left, or the run may not change members.
        """
        question = f"a member as {role}" + (" with a key" if with_key else "")
        return self._recorded(
            question, lambda: self._fixtures.member(role, with_key=with_key), _of_member, self._member
        )

    def mail(self, to: str, patience: float = 0.0, wanted: Callable[[Mail], bool] = lambda _: True) -> list[Mail]:
        """The e-mails to an address, links cut to their host: whoever has one whole could accept an invitation.

        Raises:
            MissingMeans: No mailbox can be read.
        """
        return self._recorded(
            f"the mail to {to}",
            lambda: [_without_links(mail) for mail in self._fixtures.mail(to, patience, wanted)],
            lambda mails: [_of_mail(mail) for mail in mails],
            lambda told: [Mail(mail["from"], tuple(mail["to"]), mail["subject"], mail["text"]) for mail in told],
        )

    def make_subordinate(self, engagement_id: str, kind: SubordinateKind) -> str:
        """The id of a new subordinate record.

        Raises:
            MissingMeans: It cannot be made.
        """
        return self._recorded(
            f"a {kind} of {engagement_id}", lambda: self._fixtures.make_subordinate(engagement_id, kind), str, str
        )

    def subordinate_exists(self, engagement_id: str, kind: SubordinateKind, record_id: str) -> bool:
        """Whether a subordinate record is there.

        Raises:
            MissingMeans: It cannot be told.
        """
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
        found = self._notes.record(
            question, lambda: _tried(find), lambda found: _written(found, write), lambda told: _read(told, read)
        )
        if isinstance(found, MissingMeans):
            self.unavailable[found.need] = found.reason
            raise found
        return found

    def _member(self, told: Mapping[str, Any]) -> Member:
        if self._journal is not None and told["email"] is not None:
            self._journal.member_made(told["user_id"], told["role"])
        key = None if told["key"] is None else self._credential(told["key"])
        return Member(told["user_id"], told["email"], told["role"], key)

    def _credential(self, name: str) -> Credential:
        if self._keys is None:
            raise LookupError(name)
        return self._keys(name)


def _tried(find: Callable[[], _T]) -> _T | MissingMeans:
    try:
        return find()
    except MissingMeans as unavailable:
        return MissingMeans(unavailable.need, unavailable.reason)


def _written(found: _T | MissingMeans, write: Callable[[_T], object]) -> object:
    if isinstance(found, MissingMeans):
        return {"unavailable": found.need, "reason": found.reason}
    return {"given": write(found)}


def _read(told: Mapping[str, Any], read: Callable[[Any], _T]) -> _T | MissingMeans:
    if "unavailable" in told:
        return MissingMeans(told["unavailable"], told["reason"])
    return read(told["given"])


def _of_member(member: Member) -> dict[str, object]:
    key = None if member.credential is None else member.credential.name
    return {"user_id": member.user_id, "email": member.email, "role": member.role, "key": key}


def _of_mail(mail: Mail) -> dict[str, object]:
    return {"from": mail.sender, "to": list(mail.to), "subject": mail.subject, "text": mail.text}


def _without_links(mail: Mail) -> Mail:
    return Mail(mail.sender, mail.to, _cut(mail.subject), _cut(mail.text))


def _cut(text: str) -> str:
    return _LINK.sub(lambda link: f"{link[1]}{link[2] or 'host'}/withheld", text)
