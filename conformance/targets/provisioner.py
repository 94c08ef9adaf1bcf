"""Client of the operator's program that creates keys and members and reads mail."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self, TypeVar

from conformance.targets import validity
from conformance.targets.mail_parsing import decoded
from conformance.targets.rpc import MethodMissing, ProvisionerError, RpcChild
from conformance.targets.secret import without_likely_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.interface.operations import SubordinateKind
    from conformance.targets.profile import Profile
    from conformance.targets.rpc import UnansweredCall
    from conformance.targets.secret import Secret
    from conformance.wire.waits import Waiting

_INHERITED: Final = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT"})

MemberRole = Literal["admin", "member"]
_Object = Mapping[str, object]
_T = TypeVar("_T")


class _WrongResult(Exception):
    """A result has a wrong form; the message names the right form."""


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
        self._wrong_result: str | None = None

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
        """The problem of the program itself, or its first result of a wrong form, as a sentence."""
        return self._peer.problem or self._wrong_result

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
        return self._call("create_member", {"role": role}, partial(_member, role=role))

    def read_mail(self, to: str) -> list[Mail]:
        """Return the e-mails to an address, in the program's order."""
        return self._call("read_mail", {"to": to}, partial(_mails, to=to))

    def create_subordinate(self, engagement_id: str, kind: SubordinateKind) -> str:
        """Create a subordinate record of an engagement and return its id."""
        params = {"engagementId": engagement_id, "kind": kind}
        return self._call("create_subordinate", params, partial(_text, name="id"))

    def subordinate_exists(self, engagement_id: str, kind: SubordinateKind, record_id: str) -> bool:
        """Whether a subordinate record exists."""
        params = {"engagementId": engagement_id, "kind": kind, "id": record_id}
        return self._call("subordinate_exists", params, _exists)

    def close(self, grace: float = 5.0) -> None:
        """Close the program's stdin, wait ``grace`` seconds, and then kill it."""
        calls = [call for call in self._peer.close(grace) if call.method == "create_member"]
        self.late_members = [_late_member(call) for call in calls if call.message is None or "result" in call.message]

    def kill(self) -> None:
        """Kill the program at once, also while a call waits for its response."""
        self._peer.kill()

    def _key(self, method: str, params: Mapping[str, object]) -> Secret:
        return self._call(method, params, _read_key)

    def _call(self, method: str, params: Mapping[str, object], read: Callable[[_Object], _T]) -> _T:
        """Call a method and read its result, in which WrongResult names what is wrong."""
        if method in self._missing:
            raise MethodMissing(f"The provisioner has no method {method}.")
        try:
            result = self._peer.request(method, params)
        except MethodMissing:
            self._missing.add(method)
            raise
        try:
            return _read(result, read)
        except _WrongResult as wrong:
            reason = f"The provisioner's result of {method} must be {wrong}."
            self._wrong_result = self._wrong_result or reason
            raise ProvisionerError(reason) from None


def _read(result: object, read: Callable[[_Object], _T]) -> _T:
    if not isinstance(result, dict):
        raise _WrongResult("an object")
    return read(result)


def _member(result: _Object, role: MemberRole) -> ProvisionedMember:
    key = _read_key(result) if result.get("key") is not None else None
    user_id, email = (_text(result, member) for member in ("userId", "email"))
    return ProvisionedMember(user_id, email, key, role)


def _late_member(call: UnansweredCall) -> ProvisionedMember | None:
    result = None if call.message is None else call.message["result"]
    with suppress(_WrongResult):
        return _read(result, partial(_member, role="admin" if call.params["role"] == "admin" else "member"))
    return None


def _text(result: _Object, name: str) -> str:
    value = result.get(name)
    if not isinstance(value, str) or not value:
        raise _WrongResult(f'an object with a text "{name}"')
    return value


def _exists(result: _Object) -> bool:
    exists = result.get("exists")
    if not isinstance(exists, bool):
        raise _WrongResult('an object with "exists" true or false')
    return exists


def _read_key(result: _Object) -> Secret:
    try:
        return validity.api_key(_text(result, "key"))
    except validity.Refused:
        raise _WrongResult('an object with a "key" of visible ASCII characters') from None


def _mails(result: _Object, to: str) -> list[Mail]:
    messages = result.get("messages")
    if not isinstance(messages, list):
        raise _WrongResult("an object with a list of messages")
    return [_mail(to, message) for message in messages]


def _mail(to: str, message: object) -> Mail:
    if not isinstance(message, dict):
        raise _WrongResult("an object with a list of messages, each an object")
    parts = [message.get(name, "") for name in ("from", "subject", "text")]
    if not all(isinstance(part, str) for part in parts):
        raise _WrongResult("an object with messages whose from, subject and text are texts")
    sender, subject, text = parts
    return Mail(sender, (to,), subject, decoded(text))
