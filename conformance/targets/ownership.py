"""Guard that reads an engagement to verify that it is the run's before a request may change it."""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from conformance.interface.list_parameters import MAX_PER_PAGE
from conformance.interface.operations import CHANGES_ENGAGEMENT
from conformance.targets.responses import GONE, data_of, identifier_of, member_of, moment_of, object_in, time_of
from conformance.wire.exchange import REFUSALS, SUCCESSES, TOO_MANY_REQUESTS, NotSent
from conformance.wire.requests import (
    MAIN_KEY,
    OTHER_KEY,
    get_engagement,
    get_organization,
    list_engagements,
    update_organization,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.targets.names import RunNames
    from conformance.wire.exchange import Exchange, Response
    from conformance.wire.requests import Credential, Request

CLOCKS_APART: Final = 300.0
"""Seconds by which a creation time may be outside of the run, by the service's own Date."""

_ABSENCE_HOLDS: Final = 5.0
"""Seconds after which an unused id is read again: the service may have assigned it to another engagement."""

_NEVER_AGAIN: Final = 16
"""The length from which on ids are random. A shorter one may be a number that a service assigns again at any time."""

_OF_ITS_OWN: Final = 12
"""The fewest characters that a random id has after the beginning that it shares with another; fewer may be a number."""

_OWN_HOLDS: Final = 0.5
"""Seconds after which a short id is read again: another user may have deleted the engagement and got its number."""

_Key = tuple[str, str]
"""The name of an organization's full key, and an id in that organization."""


class OwnershipState(StrEnum):
    """Owner of an id, as far as reads have shown."""

    OWN = "own"
    ABSENT = "absent"
    """No engagement has the id."""
    ANOTHERS = "another's"
    UNREADABLE = "unreadable"


_NOT_OWN: Final = "a read shows that the engagement is not of this run, so it is left unchanged"
_NOT_READ: Final = "no read shows whether the engagement is of this run, so it is left unchanged"
_OUT_OF_REACH: Final = frozenset({400, 403, 422})
"""Statuses for an id of another organization, or of a form that the service never assigns."""


class RunTime:
    """Period of the run by the service's clock: from the earliest to the latest Date of its responses.

    Args:
        period: Start and end of an earlier run by that clock, in seconds of the epoch; None for the present run, whose
            period the responses show.
    """

    def __init__(self, period: tuple[float, float] | None = None) -> None:
        self._goes_on = period is None
        self._first, self._last = period or (math.inf, -math.inf)

    def learn(self, exchange: Exchange) -> None:
        """Learn from the Date of a response, or else from our own clock."""
        if self._goes_on and (moment := moment_of(exchange)) is not None:
            self._first, self._last = min(self._first, moment), max(self._last, moment)

    def covers(self, created_at: object) -> bool:
        """Whether a creation time may be in the run; an unreadable time may be."""
        moment = time_of(created_at)
        return moment is None or self._first - CLOCKS_APART <= moment <= self._last + CLOCKS_APART


class Ownership:
    """Guard of the wire: writes go only to engagement ids that are the run's own or unused.

    The response to a creation or a list is never enough, because a faulty service may show another user's engagement
    there. A read by id must show a name of the run and a creation time within the run. If reads by id fail, an item of
    the list that agrees with the response to the creation is enough.

    Args:
        names: The names of the run.
        send_all: Sends reads before a write to an id that has not been read yet.
        run_time: The period of the run.
    """

    def __init__(
        self,
        names: RunNames,
        send_all: Callable[[Sequence[Request]], Sequence[Exchange]],
        run_time: RunTime | None = None,
    ) -> None:
        self._names = names
        self._send_all = send_all
        self._time = run_time or RunTime()
        self._lock = threading.RLock()
        self._reading: defaultdict[_Key, threading.RLock] = defaultdict(threading.RLock)
        self._states: dict[_Key, tuple[OwnershipState, float]] = {}
        self._deleted: dict[str, float] = {}
        self._doubted: set[str] = set()
        self._untimely: set[_Key] = set()
        self._created_at: dict[_Key, object] = {}
        self._created: dict[_Key, Mapping[str, Any]] = {}
        self._assigned: list[str] = []
        """The ids that the service has assigned, sorted."""
        self._organizations: dict[str, str] = {}

    @property
    def foreign_ids(self) -> list[str]:
        """Ids in responses to creations that belong to other users' engagements."""
        with self._lock:
            return [
                key[1] for key, (state, _) in self._states.items()
                if state is OwnershipState.ANOTHERS and key in self._created
            ]  # fmt: skip

    def may_be_own(self, identifier: str, key: str) -> bool:
        """Whether an unmarked engagement that a key created may be the run's, by its creation time."""
        with self._lock:
            return self.state(identifier, key) is OwnershipState.ANOTHERS and (key, identifier) not in self._untimely

    def state(self, identifier: str, key: str = MAIN_KEY) -> OwnershipState | None:
        """Return the owner of an id in the organization of a key, by the key's name; None if it has not been read."""
        with self._lock:
            found = self._states.get((key, identifier))
        return None if found is None else found[0]

    def is_certain(self, identifier: str, key: str = MAIN_KEY) -> bool:
        """Whether the owner of an id in the organization of a key is known, and cannot be another one by now."""
        return self._is_known((key, identifier))

    def was_deleted(self, identifier: str) -> bool:
        """Whether a deletion of an engagement was sent and not refused."""
        with self._lock:
            return identifier in self._deleted

    def ensure(self, requests: Sequence[Request]) -> None:
        """Verify the engagements that requests would change, with reads if needed.

        Raises:
            NotSent: A request could change another user's engagement, or creates one without the run's name.
        """
        for request in requests:
            if request.operation.id == "createEngagement" and request.is_proper and not self._is_recognizable(request):
                raise NotSent(
                    "its engagement could not be recognized as the run's: name and description do not show it"
                )
        writes = [request for request in requests if request.operation.id in CHANGES_ENGAGEMENT]
        # A faulty service may let any key reach the main key's organization.
        places: dict[_Key, Credential | None] = {(MAIN_KEY, request.identifier or ""): None for request in writes}
        places |= {self._place(request): self._reader(request) for request in writes}
        for state in self._proved(places):
            if state not in {OwnershipState.OWN, OwnershipState.ABSENT}:
                raise NotSent(_NOT_OWN if state is OwnershipState.ANOTHERS else _NOT_READ)

    def ensure_own(self, identifier: str) -> None:
        """Ensure that an engagement is the run's before a record is created below it.

        Raises:
            NotSent: It is not.
        """
        for state in self._proved({(MAIN_KEY, identifier): None}):
            if state is not OwnershipState.OWN:
                raise NotSent(_NOT_READ if state in {None, OwnershipState.UNREADABLE} else _NOT_OWN)

    def before(self, request: Request) -> None:
        """Do nothing: the guard has verified the request already."""

    def after(self, exchange: Exchange) -> None:
        """Learn the owners of engagements from a response."""
        request, response = exchange.request, exchange.received
        self._time.learn(exchange)
        if request.operation.id == "deleteEngagement" and exchange.was_sent:
            self._learn_deletion(exchange)
        elif request.operation.id in CHANGES_ENGAGEMENT and exchange.accepted and not self._is_own(request):
            self._doubt_absence(request.identifier or "")
        if (
            response is None
            or request.probe is not None
            or (request.credential is not None and request.credential.invalid)
        ):
            return
        with self._lock:
            learn = {
                "getCurrentOrganization": self._learn_organization,
                "updateCurrentOrganization": self._learn_organization,
                "createEngagement": self._learn_creation,
                "getEngagement": self._learn_read,
                "listEngagements": self._learn_list,
            }.get(request.operation.id)
            began = exchange.started_at.timestamp()
            if request.operation.id == "getEngagement" and began < self._deleted.get(request.identifier or "", began):
                return  # it was in flight when the id became free for another engagement
            if learn is not None:
                learn(request, response)

    def is_foreign(self, key: Credential, *, may_update: bool = False) -> bool:
        """Whether a key belongs to another organization than the main key.

        Its organization is read once; a key without that permission is taken for one of the main key's organization.

        Args:
            key: The key.
            may_update: Whether to send an update without fields, whose response shows the organization, if the key may
                not read.
        """
        for asked in (get_organization(), *([update_organization({})] if may_update else [])):
            if key.name not in self._organizations:
                self._send_all([asked.with_key(key)])
        shown, main = self._organizations.get(key.name), self._organizations.get(MAIN_KEY)
        return None not in {shown, main} and shown != main

    def learn_created(self, identifiers: Iterable[str], key: str) -> None:
        """Learn the ids of created engagements from a journal, so that a refused read of one does not prove absence."""
        with self._lock:
            for identifier in identifiers:
                self._created.setdefault((key, identifier), {})
                self._learn_id(identifier)

    def _learn_deletion(self, exchange: Exchange) -> None:
        """Forget the owner of a deleted id, because a service may assign it to another user's engagement.

        A faulty service may delete in any organization and with any key. After a refused deletion the owner stays until
        a read shows another one.
        """
        identifier, response = exchange.request.identifier or "", exchange.received
        with self._lock:
            if response is not None and response.status in REFUSALS:
                self._doubted.add(identifier)
                return
            for place in [place for place in self._states if place[1] == identifier]:
                del self._states[place]
            self._deleted[identifier] = exchange.ended_at.timestamp()

    def _is_own(self, request: Request) -> bool:
        """Whether a request is about an engagement of the run in the organization of its key."""
        realm, identifier = self._place(request)
        return self.state(identifier, realm) is OwnershipState.OWN

    def _doubt_absence(self, identifier: str) -> None:
        """Forget that an id is unused, because a service that changes its engagement may have assigned it again."""
        with self._lock:
            for place, (state, _) in list(self._states.items()):
                if place[1] == identifier and state is OwnershipState.ABSENT:
                    del self._states[place]

    def _learn_organization(self, request: Request, response: Response) -> None:
        if (found := identifier_of(data_of(response))) is not None and (
            request.method == "GET" or request.key_name not in self._organizations
        ):
            self._organizations[request.key_name] = found

    def _learn_creation(self, request: Request, response: Response) -> None:
        data = data_of(response)
        if (made := identifier_of(data)) is not None:
            place = self._realm(request), made
            self._created[place] = data
            self._states.pop(place, None)
            self._learn_id(made)

    def _learn_id(self, identifier: str) -> None:
        at = bisect_left(self._assigned, identifier)
        if self._assigned[at : at + 1] != [identifier]:
            self._assigned.insert(at, identifier)

    def _learn_read(self, request: Request, response: Response) -> None:
        place = self._place(request)
        if response.status == TOO_MANY_REQUESTS:
            return
        if place[0] != request.key_name and place[0] in {MAIN_KEY, OTHER_KEY} and response.status not in SUCCESSES:
            return  # a refusal for a key with fewer permissions says nothing
        known, found = self.state(place[1], place[0]), self._judged(place, response)
        is_changed = known is OwnershipState.OWN and found is not OwnershipState.ABSENT
        created_at = data_of(response).get("createdAt")
        is_same = created_at is not None and created_at == self._created_at.get(place)
        is_undoubted = place[1] not in self._doubted and (
            created_at is None or self._names.owns_engagement(data_of(response))
        )
        if is_changed and (is_same or is_undoubted):
            if found is OwnershipState.OWN:
                self._states[place] = found, time.monotonic()
            return  # the run itself, or a fault, has changed it
        self._states[place], self._created_at[place] = (found, time.monotonic()), created_at
        if not self._time.covers(created_at):
            self._untimely.add(place)

    def _learn_list(self, request: Request, response: Response) -> None:
        """Verify engagements that cannot be read by id: the item must agree with the response to the creation."""
        items = member_of(response, "data") if response.status in SUCCESSES else None
        for item in items if isinstance(items, list) else ():
            place = (self._realm(request), identifier_of(item) or "") if isinstance(item, dict) else ("", "")
            made, state = self._created.get(place), self._states.get(place)
            if made is None or state is None or state[0] is not OwnershipState.UNREADABLE:
                continue
            if all(item.get(name) == made.get(name) for name in ("name", "createdAt")) and self._is_marked(item):
                self._states[place] = OwnershipState.OWN, time.monotonic()

    def _judged(self, place: _Key, response: Response) -> OwnershipState:
        """Return the owner of an engagement by a read."""
        data = data_of(response)
        if response.status in GONE or (place[0] != MAIN_KEY and response.status in REFUSALS):
            return OwnershipState.ABSENT  # another organization's key may be refused in many ways
        if response.status in _OUT_OF_REACH and place not in self._created:
            return OwnershipState.ABSENT
        if not data or identifier_of(data) not in {None, place[1]}:
            return OwnershipState.UNREADABLE
        return OwnershipState.OWN if self._is_marked(data) else OwnershipState.ANOTHERS

    def _is_marked(self, data: Mapping[str, Any]) -> bool:
        """Whether an engagement has a name or description of the run, and was created during the run."""
        return self._names.owns_engagement(data) and self._time.covers(data.get("createdAt"))

    def _proved(self, places: Mapping[_Key, Credential | None]) -> list[OwnershipState | None]:
        """Return the owners of engagements, with reads if they are unknown.

        Args:
            places: The engagements, each with the key that reads it; None for the main key.
        """
        with ExitStack() as held:
            for place in sorted(place for place in places if not self._is_known(place)):
                with self._lock:
                    reading = self._reading[place]
                held.enter_context(reading)  # so that two threads do not read the same
            if unread := {place: reader for place, reader in places.items() if not self._is_known(place)}:
                self._read(unread)
        return [self.state(identifier, realm) for realm, identifier in places]

    def _read(self, places: Mapping[_Key, Credential | None]) -> None:
        self._send_all([_with_key(get_engagement(place[1]), reader) for place, reader in places.items()])
        if any(self.state(place[1], place[0]) is OwnershipState.UNREADABLE for place in places):
            newest = list_engagements(perPage=MAX_PER_PAGE, sort="createdAt", order="desc")
            self._send_all([_with_key(newest, reader) for reader in dict.fromkeys(places.values())])

    def _is_known(self, place: _Key) -> bool:
        """Whether the owner of an engagement is known, by a read that is not too old."""
        with self._lock:
            state, at = self._states.get(place, (None, 0.0))
            is_random, age = self._is_random(place[1]), time.monotonic() - at
        if state is OwnershipState.ABSENT:
            return is_random and age < _ABSENCE_HOLDS
        return state is OwnershipState.ANOTHERS or (state is OwnershipState.OWN and (is_random or age < _OWN_HOLDS))

    def _is_random(self, identifier: str) -> bool:
        """Whether an id is never assigned again, as it is long and not like another one but for its end."""
        beginning = identifier[: 1 - _OF_ITS_OWN]
        at = bisect_left(self._assigned, beginning)
        is_alone = all(other == identifier or not other.startswith(beginning) for other in self._assigned[at : at + 2])
        return len(identifier) >= _NEVER_AGAIN and is_alone

    def _is_recognizable(self, request: Request) -> bool:
        """Whether a valid creation has a name or description of the run."""
        body = object_in(request.body)
        if not isinstance(body.get("name"), str):
            return True
        return self._names.owns_engagement(body)

    def _place(self, request: Request) -> _Key:
        return self._realm(request), request.identifier or ""

    def _realm(self, request: Request) -> str:
        """Return the name of the full key of the organization that a request acts on, or of the request's own key."""
        name = request.key_name
        if name in {MAIN_KEY, OTHER_KEY}:
            return name
        organization, main = self._organizations.get(name), self._organizations.get(MAIN_KEY)
        return MAIN_KEY if None in {organization, main} or organization == main else name

    def _reader(self, request: Request) -> Credential | None:
        """Return the key that reads the engagement of a request."""
        return None if self._realm(request) == MAIN_KEY else request.credential


def _with_key(request: Request, key: Credential | None) -> Request:
    return request if key is None else request.with_key(key)
