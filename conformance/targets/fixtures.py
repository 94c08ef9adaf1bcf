"""Fixtures of checks beside the main key, created on first use and shared if possible."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from conformance.targets import subordinates
from conformance.targets.capabilities import UNLOCKS, MissingMeans, missing_means
from conformance.targets.profile import Mode
from conformance.targets.provisioner import Mail, Provisioner
from conformance.targets.rpc import MethodMissing, ProvisionerError
from conformance.targets.secret import without_likely_keys
from conformance.wire.exchange import NotSent
from conformance.wire.requests import MAIN_KEY, OTHER_KEY, Credential, Request
from conformance.wire.run_limits import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.interface.operations import SubordinateKind
    from conformance.targets.mailbox import Mailbox
    from conformance.targets.membership import Membership
    from conformance.targets.ownership import Ownership
    from conformance.targets.profile import Profile, TargetMember
    from conformance.targets.provisioner import MemberRole, ProvisionedMember
    from conformance.targets.secret import Secret
    from conformance.wire.exchange import Exchange

_T = TypeVar("_T")

NEW_KEY: Final = "new_key"
"""The name of a key that is created during a run."""

_READER: Final = "organizations:read"
"""The permission of the key that shows for which organization the provisioner makes keys."""

_WRITER: Final = "organizations:write"
"""The permission of the key that could rename another organization."""

_MAIL_PAUSE: Final = 0.25


class SecretSink(Protocol):
    """Interface of a redactor."""

    def add(self, name: str, secret: str) -> object:
        """Add a secret and the name that outputs show in its place."""

    def text(self, text: str) -> str:
        """Return a text without known secrets."""


class MemberLog(Protocol):
    """Interface of a record of created members, such as the journal."""

    def member_made(self, user_id: str, role: str, email: str) -> None:
        """Record a member that was created for this run and must be removed after it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member that a check may change and remove.

    Attributes:
        user_id: The user's id.
        email: The e-mail address; None for members of the target file.
        role: The role at its creation; None if only the service knows it.
        credential: The member's own key, if any.
    """

    user_id: str
    email: str | None
    role: MemberRole | None
    credential: Credential | None

    @property
    def is_new(self) -> bool:
        """Whether it was created for the run, and so belongs to no other organization."""
        return self.email is not None


class Fixtures:
    """Provides the fixtures of checks; a missing fixture raises ``MissingMeans`` with the reason.

    Every new secret is added to the redactor before a check gets it. Failures are cached, so that checks wait for a
    slow provisioner once.

    Args:
        profile: The target.
        provisioner: The target's provisioner, if it has one.
        redactor: Gets each new secret, and redacts the provisioner's messages and e-mails; the caller adds the secrets
            of the profile.
        send: Sends a request with the main key; for the target file's templates of subordinate records.
        journal: Records created members.
        membership: Verifies members before a check gets them.
        mailbox: The suite's own mailbox, if it listens.
        ownership: Verifies an engagement before a record is created below it, and the organization of a key.
        is_over: Whether the run is over, so that waiting is of no use.
    """

    def __init__(  # noqa: PLR0913 - each part gives or proves something else
        self,
        profile: Profile,
        provisioner: Provisioner | None,
        redactor: SecretSink,
        *,
        send: Callable[[Request], Exchange],
        journal: MemberLog,
        membership: Membership,
        mailbox: Mailbox | None = None,
        ownership: Ownership | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._profile = profile
        self._provisioner = provisioner
        self._redactor = redactor
        self._mailbox = mailbox
        self._send = send
        self._journal = journal
        self._membership = membership
        self._ownership = ownership
        self._is_over = is_over
        self._lock = threading.RLock()
        self._shared: dict[str, Credential | MissingMeans] = {}
        self._unused = list(enumerate(profile.members, start=1))
        self._members_made = 0
        self._members_get_keys = True
        self._earlier_members: frozenset[str] | None = None
        self._foreign: str | None = None
        self._mails_read: dict[str, int] = {}
        members = [member.key for member in profile.members if member.key is not None]
        self._taken = {profile.api_key, *profile.keys.values(), *members}

    @property
    def main(self) -> Credential:
        """The main key's credential."""
        return Credential.bearer(MAIN_KEY, self._profile.api_key.reveal())

    def hide(self, name: str, secret: str) -> None:
        """Keep another secret out of all outputs, such as one that a check derives from a key.

        Args:
            name: The name that is shown in its place.
            secret: The secret.
        """
        self._redactor.add(name, secret)

    def known_keys(self) -> dict[str, Credential]:
        """Return the keys that checks got so far, by name."""
        with self._lock:
            return {name: key for name, key in self._shared.items() if isinstance(key, Credential)}

    def scoped_key(self, scope: str) -> Credential:
        """Return a key with exactly one permission.

        Raises:
            MissingMeans: There is none.
        """
        return self._shared_key(f"key:{scope}", scope, lambda made: made.create_key([scope]))

    def key_with(self, name: str, scopes: Sequence[str]) -> Credential:
        """Return a key with several permissions or none, created by the provisioner.

        Args:
            name: What outputs show in its place.
            scopes: Its permissions.

        Raises:
            MissingMeans: None can be created.
        """
        return self._shared_key("key:any", name, lambda made: made.create_key(scopes))

    def new_key(self, scope: str) -> Credential:
        """Return an unused key with exactly one permission, created by the provisioner; one per run.

        Raises:
            MissingMeans: None can be created.
        """
        self._ensure_own_provisioner(f"key:{scope}")
        return self._made_credential(f"key:{scope}", NEW_KEY, lambda made: made.create_key([scope]))

    def other_organization(self) -> Credential:
        """Return a full key of another organization.

        Raises:
            MissingMeans: There is none.
        """
        return self._shared_key(OTHER_KEY, OTHER_KEY, lambda made: made.create_organization())

    def throttled(self) -> Credential:
        """Return a key whose limit a run may exceed; it may be the main key.

        Raises:
            MissingMeans: There is none.
        """
        try:
            key = self._shared_key("throttled", "throttled", lambda made: made.create_throttled_key())
        except MissingMeans:
            if self._profile.mode is Mode.DISPOSABLE:
                return self.main
            raise
        return self.main if key.authorization == self.main.authorization else key

    def member(self, role: MemberRole = "member", *, with_key: bool = False) -> Member:
        """Return an unused member: a new one, or the next of the target file.

        Args:
            role: The role of a new member; members of the target file keep their role.
            with_key: Whether the member must have a key.

        Raises:
            MissingMeans: None is left, or the run may not change members.
        """
        need = "member_key" if with_key else "member"
        if self._profile.mode is not Mode.DISPOSABLE:
            raise MissingMeans(need, "Members are changed in disposable organizations only.")
        with self._lock:
            if self._members_get_keys or not with_key:
                try:
                    member = self._made_member(need, role)
                except MissingMeans:
                    if not self._profile.members:
                        raise
                else:
                    self._members_get_keys = member.credential is not None
                    if self._members_get_keys or not with_key:
                        return member
            return self._next_of_file(need, with_key=with_key)

    def admit_late_members(self) -> None:
        """Record the members that the provisioner, which is closed, created too late for their checks."""
        late = [] if self._provisioner is None else self._provisioner.late_members
        for made in filter(None, late):
            with suppress(MissingMeans):
                self._admitted("member", made, self._earlier_members or frozenset())

    def mail(self, to: str, patience: float = 0.0, wanted: Callable[[Mail], bool] = lambda _: True) -> list[Mail]:
        """Return the e-mails to an address, once a wanted one is among them or ``patience`` seconds have passed.

        The last read of the mailbox begins after that time, so the whole may take longer.

        Raises:
            MissingMeans: No mailbox can be read.
            RunStopped: The run ended before that time, so that later e-mails are unknown.
        """
        deadline = time.monotonic() + patience
        while True:
            began = time.monotonic()
            mails = self._mails(to, min(_MAIL_PAUSE, patience))
            if began >= deadline or any(map(wanted, mails)):
                return mails
            if self._is_over():
                raise RunStopped("the run ended before the time limit for an e-mail")
            if self._mailbox is None or mails:
                time.sleep(max(0.0, min(_MAIL_PAUSE, deadline - time.monotonic())))

    def make_subordinate(self, engagement_id: str, kind: SubordinateKind) -> str:
        """Create a subordinate record and return its id.

        Raises:
            MissingMeans: It cannot be created.
        """
        if self._profile.mode is Mode.READ_ONLY:
            raise MissingMeans(f"subordinates:{kind}", "A read-only run creates nothing.")
        if self._ownership is not None:
            try:
                self._ownership.ensure_own(engagement_id)
            except NotSent as withheld:
                raise MissingMeans(f"subordinates:{kind}", f"No record was made: {withheld}.") from None
        if template := self._profile.subordinates.get(kind):
            return subordinates.create(template, engagement_id, self._send)
        return self._provisioned(f"subordinates:{kind}", lambda made: made.create_subordinate(engagement_id, kind))

    def subordinate_exists(self, engagement_id: str, kind: SubordinateKind, record_id: str) -> bool:
        """Whether a subordinate record exists.

        Raises:
            MissingMeans: It cannot be read.
        """
        if template := self._profile.subordinates.get(kind):
            return subordinates.exists(template, engagement_id, record_id, self._send)
        return self._provisioned(
            f"subordinates:{kind}", lambda made: made.subordinate_exists(engagement_id, kind, record_id)
        )

    def _mails(self, to: str, patience: float) -> list[Mail]:
        """Return the present e-mails; the suite's own mailbox returns as soon as a first one arrives."""
        if self._mailbox is not None:
            found = self._mailbox.messages(to, patience)
        else:
            found = self._provisioned("mailbox", lambda made: made.read_mail(to))
        if len(found) < self._mails_read.get(to, 0):
            raise MissingMeans("mailbox", "The mailbox has lost e-mails to an address that it had before.")
        self._mails_read[to] = len(found)
        clean = self._redactor.text
        return [Mail(clean(mail.sender), mail.to, clean(mail.subject), clean(mail.text)) for mail in found]

    def _shared_key(self, need: str, name: str, make: Callable[[Provisioner], Secret]) -> Credential:
        with self._lock:
            if name not in self._shared:
                try:
                    self._shared[name] = self._new_key(need, name, make)
                except MissingMeans as missing:
                    self._shared[name] = missing
            found = self._shared[name]
        if isinstance(found, MissingMeans):
            raise MissingMeans(found.need, found.reason)
        return found

    def _new_key(self, need: str, name: str, make: Callable[[Provisioner], Secret]) -> Credential:
        if (key := self._profile.keys.get(name)) is not None:
            credential = self._credential(name, key)
            if name != OTHER_KEY:
                self._ensure_same_organization(need, credential)
            return credential
        if name not in {_READER, OTHER_KEY}:
            self._ensure_own_provisioner(need)
        credential = self._made_credential(need, name, make)
        if name == _READER:
            self._ensure_own(need, credential)
        return credential

    def _ensure_own_provisioner(self, need: str) -> None:
        """Ensure that the provisioner acts on the main key's organization, by a key that may read its own."""
        if self._ownership is not None:
            with suppress(MissingMeans):
                self.scoped_key(_READER)
        if self._foreign is not None:
            raise MissingMeans(need, self._foreign)

    def _ensure_own(self, need: str, key: Credential) -> None:
        if self._is_foreign(key):
            self._foreign = "The provisioner makes keys of another organization than the main key's."
            raise MissingMeans(need, self._foreign)

    def _ensure_same_organization(self, need: str, key: Credential) -> None:
        """Ensure that a key belongs to the main key's organization."""
        if self._is_foreign(key):
            raise MissingMeans(need, f"The key {key.name} belongs to another organization than the main key.")

    def _is_foreign(self, key: Credential) -> bool:
        renames = key.name == _WRITER and self._profile.mode is Mode.DISPOSABLE
        return self._ownership is not None and self._ownership.is_foreign(key, may_update=renames)

    def _made_credential(self, need: str, name: str, make: Callable[[Provisioner], Secret]) -> Credential:
        key = self._provisioned(need, make)
        if key in self._taken and name != "throttled":
            raise MissingMeans(need, "The provisioner named a key as new that the run has already.")
        self._taken.add(key)
        return self._credential(name, key)

    def _credential(self, name: str, key: Secret) -> Credential:
        self._redactor.add(name, key.reveal())
        return Credential.bearer(name, key.reveal())

    def _made_member(self, need: str, role: MemberRole) -> Member:
        if self._provisioner is None:
            raise missing_means(need)
        self._ensure_own_provisioner(need)
        before = self._membership.known(need, reread=True)
        self._earlier_members = before if self._earlier_members is None else self._earlier_members
        return self._admitted(need, self._provisioned(need, lambda made: made.create_member(role)), before)

    def _admitted(self, need: str, made: ProvisionedMember, before: frozenset[str]) -> Member:
        """Verify and record a created member."""
        self._membership.admit_made(need, made.user_id, before, made.email)
        self._members_made += 1
        name = f"member_{len(self._profile.members) + self._members_made}"
        key = None if made.key in self._taken else made.key
        credential = None if key is None else self._credential(name, key)
        if credential is not None and _READER not in self.known_keys():
            self._ensure_own(need, credential)
        self._journal.member_made(made.user_id, made.role, made.email)
        return Member(made.user_id, made.email, made.role, credential)

    def _next_of_file(self, need: str, *, with_key: bool) -> Member:
        for position, (number, member) in enumerate(self._unused):
            if member.key is None and with_key:
                continue
            del self._unused[position]
            self._ensure_own_key(need, member)
            self._membership.admit_listed(need, member.user_id)
            credential = None if member.key is None else self._credential(f"member_{number}", member.key)
            if credential is not None:
                self._ensure_same_organization(need, credential)
            return Member(member.user_id, None, None, credential)
        if not self._profile.members or with_key:
            raise missing_means(need)
        raise MissingMeans(need, "All members of the target file have been used; name more of them under members.")

    def _ensure_own_key(self, need: str, member: TargetMember) -> None:
        """Ensure that a member of the target file has a key of its own, so that its removal disables no other key."""
        others = {MAIN_KEY: self._profile.api_key, **self._profile.keys}
        others |= {
            f"the member {other.user_id}": other.key
            for other in self._profile.members
            if other.key and other is not member
        }
        for name, key in others.items():
            if member.key is not None and key.reveal() == member.key.reveal():
                raise MissingMeans(need, f"The key of the member {member.user_id} is that of {name}, too.")

    def _provisioned(self, need: str, make: Callable[[Provisioner], _T]) -> _T:
        if self._provisioner is None:
            raise missing_means(need)
        try:
            return make(self._provisioner)
        except MethodMissing as error:
            raise MissingMeans(need, f"{error} To unlock it: {UNLOCKS[need]}.") from None
        except ProvisionerError as error:
            raise MissingMeans(need, without_likely_keys(self._redactor.text(str(error)))) from None
