"""Client of the operator's program that creates keys and members and reads mail."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self

from conformance.targets import validity
from conformance.targets.mail_parsing import decoded
from conformance.targets.rpc import MethodMissing, ProvisionerError, RpcChild
from conformance.targets.secret import without_likely_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.interface.operations import SubordinateKind
    from conformance.targets.profile import Profile
    from conformance.targets.rpc import UnansweredCall
    from conformance.targets.secret import Secret
    from conformance.wire.waits import Waiting

_INHERITED: Final = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT"})

MemberRole = Literal["admin", "member"]


@dataclass(frozen=True, slots=True)
class ProvisionedMember:
    """A member that the provisioner created; ``key`` is None if members have none."""

    user_id: str
    email: str
    key: Secret | None
    role: MemberRole


@dataclass(frozen=True, slots=True)
class Mail:
    """The parts of an e-mail that checks read.

    Attributes:
        sender: The address of the sender.
        to: The recipients.
        subject: The decoded subject.
        text: All decoded text, plain text before HTML.
    """

    sender: str
    to: tuple[str, ...]
    subject: str
    text: str


class Peer(Protocol):
    """Interface of the program that carries out calls."""

    problem: str | None
    has_responded: bool

    @property
    def waiting(self) -> Waiting | None:
        """The call in progress, and until when it may take."""

    def request(self, method: str, params: Mapping[str, object]) -> object:
        """Call a method and return its result; may raise MethodMissing and ProvisionerError."""

    def close(self, grace: float, /) -> Sequence[UnansweredCall]:
        """Close it, by force after so many seconds; return the calls without a response in time."""

    def kill(self) -> None:
        """Kill it at once, from any thread."""


class Provisioner:
    """Thread-safe, typed calls of the provisioner's methods.

    Every method raises ``MethodMissing`` if the program lacks it, and ``ProvisionerError`` for any other error.

    Attributes:
        late_members: The members that it created too late for their calls, once it is closed; None stands for a call
            whose response never came, or does not name the member.
    """

    def __init__(self, peer: Peer) -> None:
        self.late_members: list[ProvisionedMember | None] = []
        self._peer = peer
        self._missing: set[str] = set()

    @classmethod
    def of(
        cls,
        profile: Profile,
        log: Callable[[str], None],
        environ: Mapping[str, str] | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Self | None:
        """Return the provisioner of a target, not started yet; None if the target has none.

        The program gets PATH, HOME, LANG, LC_*, TMPDIR, SYSTEMROOT and the variables of ``provisioner.environment``, so
        that it gets no key of the suite by accident.

        Args:
            profile: The target.
            log: Called with each line of the program's stderr; must redact and must not raise.
            environ: The suite's own environment; ``os.environ`` by default.
            is_over: Whether the run is over, so that waiting is of no use.
        """
        settings = profile.provisioner
        if settings is None:
            return None
        inherited = {
            name: value
            for name, value in (os.environ if environ is None else environ).items()
            if name in _INHERITED or name.startswith("LC_")
        }
        environment = inherited | dict(settings.environment)
        return cls(RpcChild(settings.command, environment, profile.folder, settings.timeout, log, is_over))

    def ping(self) -> str | None:
        """Call a method that no provisioner has; return why no response came, as a sentence, or None."""
        try:
            self._peer.request("ping", {})
        except MethodMissing:
            return None
        except ProvisionerError as error:
            return None if self._peer.has_responded else without_likely_keys(str(error))
        return None

    @property
    def missing_methods(self) -> frozenset[str]:
        """The methods that the program is known to lack."""
        return frozenset(self._missing)

    @property
    def problem(self) -> str | None:
        """The problem of the program itself, as a sentence."""
        return self._peer.problem

    @property
    def waiting(self) -> Waiting | None:
        """The method whose response is waited for, and until when."""
        return self._peer.waiting

    @property
    def never_responded(self) -> bool:
        """Whether it got a call and never responded."""
        return self._peer.problem is not None and not self._peer.has_responded

    def create_key(self, scopes: Sequence[str]) -> Secret:
        """Create a key of the organization with exactly these permissions."""
        return self._key("create_key", {"scopes": list(scopes)})

    def create_throttled_key(self) -> Secret:
        """Create a full key with a low limit and a short window."""
        return self._key("create_throttled_key", {})

    def create_organization(self) -> Secret:
        """Create another organization and return a full key of it."""
        return self._key("create_organization", {})

    def create_member(self, role: MemberRole) -> ProvisionedMember:
        """Create a member of the organization with this role."""
        return _member(self._object("create_member", {"role": role}), role)

    def read_mail(self, to: str) -> list[Mail]:
        """Return the e-mails to an address, in the program's order."""
        messages = self._object("read_mail", {"to": to}).get("messages")
        if not isinstance(messages, list):
            raise _wrong("read_mail", "an object with a list of messages")
        return [_mail(to, message) for message in messages]

    def create_subordinate(self, engagement_id: str, kind: SubordinateKind) -> str:
        """Create a subordinate record of an engagement and return its id."""
        response = self._object("create_subordinate", {"engagementId": engagement_id, "kind": kind})
        return _text("create_subordinate", response, "id")

    def subordinate_exists(self, engagement_id: str, kind: SubordinateKind, record_id: str) -> bool:
        """Whether a subordinate record exists."""
        params = {"engagementId": engagement_id, "kind": kind, "id": record_id}
        exists = self._object("subordinate_exists", params).get("exists")
        if not isinstance(exists, bool):
            raise _wrong("subordinate_exists", 'an object with "exists" true or false')
        return exists

    def close(self, grace: float = 5.0) -> None:
        """Close the program's stdin, wait ``grace`` seconds, and then kill it."""
        calls = [call for call in self._peer.close(grace) if call.method == "create_member"]
        self.late_members = [_late_member(call) for call in calls if call.message is None or "result" in call.message]

    def kill(self) -> None:
        """Kill the program at once, also while a call waits for its response."""
        self._peer.kill()

    def _key(self, method: str, params: Mapping[str, object]) -> Secret:
        return _read_key(method, self._object(method, params))

    def _object(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        if method in self._missing:
            raise MethodMissing(f"The provisioner has no method {method}.")
        try:
            result = self._peer.request(method, params)
        except MethodMissing:
            self._missing.add(method)
            raise
        return _as_object(method, result)


def _as_object(method: str, result: object) -> dict[str, object]:
    if not isinstance(result, dict):
        raise _wrong(method, "an object")
    return result


def _member(response: Mapping[str, object], role: MemberRole) -> ProvisionedMember:
    key = _read_key("create_member", response) if response.get("key") is not None else None
    user_id, email = (_text("create_member", response, member) for member in ("userId", "email"))
    return ProvisionedMember(user_id, email, key, role)


def _late_member(call: UnansweredCall) -> ProvisionedMember | None:
    result = None if call.message is None else call.message["result"]
    with suppress(ProvisionerError):
        return _member(_as_object(call.method, result), "admin" if call.params["role"] == "admin" else "member")
    return None


def _wrong(method: str, expected: str) -> ProvisionerError:
    return ProvisionerError(f"The provisioner's result of {method} must be {expected}.")


def _text(method: str, response: Mapping[str, object], member: str) -> str:
    value = response.get(member)
    if not isinstance(value, str) or not value:
        raise _wrong(method, f'an object with a text "{member}"')
    return value


def _read_key(method: str, response: Mapping[str, object]) -> Secret:
    try:
        return validity.api_key(_text(method, response, "key"))
    except validity.Refused:
        raise _wrong(method, 'an object with a "key" of visible ASCII characters') from None


def _mail(to: str, message: object) -> Mail:
    if not isinstance(message, dict):
        raise _wrong("read_mail", "an object with a list of messages, each an object")
    parts = [message.get(member, "") for member in ("from", "subject", "text")]
    if not all(isinstance(part, str) for part in parts):
        raise _wrong("read_mail", "an object with messages whose from, subject and text are texts")
    sender, subject, text = parts
    return Mail(sender, (to,), subject, decoded(text))
