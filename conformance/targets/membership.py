"""Guard that verifies, by lists of members, that a member may be changed or removed before the request is sent."""

from __future__ import annotations

import threading
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.operations import CHANGES_MEMBER
from conformance.targets.capabilities import MissingMeans
from conformance.targets.queries import QueryClient, all_members
from conformance.targets.responses import is_another, listed_members, person_in, roles_of
from conformance.wire.exchange import SUCCESSES, NotSent
from conformance.wire.requests import MAIN_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.targets.journal_entries import Person
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request

_OWNER: Final = "owner"


class Membership:
    """Guard of the wire: only members that a provisioner created or the target file names are changed or removed.

    An owner is never removed. In a disposable organization a request may try to change the role of an original owner,
    which must be refused, and restore it. A made-up user id, or one of a new member, must not be in the list of members
    in another spelling, because a service may ignore letter case.

    Args:
        send_all: Sends reads of the list of members with the main key.
        may_try_owner: Whether requests may try to change an owner's role.
    """

    def __init__(
        self, send_all: Callable[[Sequence[Request]], Sequence[Exchange]], *, may_try_owner: bool = False
    ) -> None:
        self._send_all = send_all
        self._may_try_owner = may_try_owner
        self._lock = threading.RLock()
        self._roles: dict[str, str] = {}
        self._people: dict[str, Person] = {}
        self._made: set[str] = set()
        self._unlisted: set[str] = set()
        self._given: set[str] = set()
        self._owners: set[str] = set()
        self._whole = False

    def known(self, need: str, *, reread: bool = False) -> frozenset[str]:
        """Return the ids of all present and earlier members; the list is read once.

        Args:
            need: The need that is unmet if the list cannot be read.
            reread: Whether to read the list again, because others may have joined since.

        Raises:
            MissingMeans: The list cannot be read completely.
        """
        if (reread or not self._whole) and not self._read():
            raise MissingMeans(need, "The members could not be listed, so those of the run are unknown.")
        with self._lock:
            return frozenset(self._roles)

    def admit_made(self, need: str, user_id: str, before: frozenset[str], email: str) -> None:
        """Allow changes of a member that a provisioner has created for the run.

        Args:
            need: The need that is unmet otherwise.
            user_id: The user's id.
            before: The members before its creation.
            email: The address that the provisioner returned; if a list shows another one, the member is not the run's.

        Raises:
            MissingMeans: The user was a member before, or is an owner.
        """
        if _spelled(user_id) in map(_spelled, before):
            is_same = user_id in before
            who = "who was a member before" if is_same else "whose id is spelled almost as that of an earlier one"
            raise MissingMeans(need, f"The provisioner named {user_id} as a new member, {who}.")
        with self._lock:
            self._people[user_id] = person_in({"email": email})
            self._made.add(user_id)
            self._unlisted.add(user_id)
        self._admit(need, user_id)

    def admit_listed(self, need: str, user_id: str) -> None:
        """Allow changes of a member of the target file.

        Raises:
            MissingMeans: The user is no member, an owner or the only admin.
        """
        if user_id not in self.known(need):
            raise MissingMeans(need, f"The organization has no member {user_id}, whom the target file names.")
        with self._lock:
            admins = [member_id for member_id, role in self._roles.items() if role == "admin"]
        if admins == [user_id]:
            raise MissingMeans(need, f"The member {user_id} is the only admin of the organization.")
        self._admit(need, user_id)

    def admit_all(self, user_ids: Iterable[str]) -> None:
        """Allow changes of members that were certainly created for the run."""
        with self._lock:
            self._given |= set(user_ids)

    def ensure(self, requests: Sequence[Request]) -> None:
        """Verify requests that change members.

        Raises:
            NotSent: A request would change a member that is not the run's.
        """
        for request in requests:
            if request.operation.id in CHANGES_MEMBER and request.is_proper and request.identifier is not None:
                self._ensure(request.identifier, is_removal=request.operation.id == "removeMember")

    def before(self, request: Request) -> None:
        """Do nothing: the guard has verified the request already."""

    def after(self, exchange: Exchange) -> None:
        """Learn roles and people from lists."""
        request, response = exchange.request, exchange.received
        if response is None or request.key_name != MAIN_KEY or not request.is_proper:
            return
        if request.operation.id == "listMembers" and response.status in SUCCESSES:
            self._learn(listed_members(response))

    def _ensure(self, user_id: str, *, is_removal: bool) -> None:
        if (not self._whole or user_id in self._unlisted) and not self._read():
            raise NotSent("the members could not be listed, so that it is unknown whose membership it would change")
        role = self._roles.get(user_id)
        if role == _OWNER and is_removal:
            raise NotSent("it would remove an owner")
        if role is None and _spelled(user_id) in map(_spelled, self._roles):
            raise NotSent("it would change a member that was not given to the run, whose id has another spelling")
        if role is None or user_id in self._given or (user_id in self._owners and self._may_try_owner):
            return
        if user_id in self._made:
            raise NotSent("the list shows another person than the provisioner created under the member's id")
        raise NotSent("it would change a member that was not given to the run")

    def _admit(self, need: str, user_id: str) -> None:
        with self._lock:
            if self._roles.get(user_id) == _OWNER:
                raise MissingMeans(need, f"The member {user_id} is an owner, who is neither changed nor removed.")
            self._given.add(user_id)

    def _learn(self, members: Mapping[str, Mapping[str, Any]]) -> None:
        """Learn from members of a list; who gets the id of a member later was not given to the run."""
        roles = roles_of(members)
        with self._lock:
            for user_id, member in members.items():
                if is_another(member, self._people.get(user_id)):
                    self._given.discard(user_id)
                elif user_id in self._unlisted or user_id not in self._people:
                    self._people[user_id] = person_in(member)
            self._unlisted -= members.keys()
            first = {user_id for user_id, role in roles.items() if role == _OWNER and user_id not in self._roles}
            self._owners |= first
            self._roles |= roles

    def _read(self) -> bool:
        """Read the whole list; return whether that was possible."""
        members = all_members(QueryClient(lambda request: self._send_all([request])[0]))
        self._learn(members or {})
        self._whole = self._whole or members is not None
        return members is not None


def _spelled(user_id: str) -> str:
    """Return what two spellings of an id have in common: letters and digits, without case and leading zeros."""
    folded = unicodedata.normalize("NFKC", user_id).casefold()
    return "".join(char for char in folded if char.isalnum()).lstrip("0")
