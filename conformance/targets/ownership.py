"""Proof that an engagement is the run's own, by reading it, before any request that could change it is sent."""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from conformance.targets.queries import (
    GONE,
    MAIN_KEY,
    OTHER_KEY,
    PER_PAGE,
    data_of,
    identifier_of,
    key_name,
    member_of,
    moment_of,
    object_in,
)
from conformance.wire.exchange import REFUSALS, SUCCESSES, TOO_MANY_REQUESTS, NotSent
from conformance.wire.requests import get_engagement, get_organization, list_engagements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.targets.names import RunNames
    from conformance.wire.exchange import Exchange, Response
    from conformance.wire.requests import Credential, Request

CHANGES_ENGAGEMENT: Final = frozenset(
    {"updateEngagement", "archiveEngagement", "unarchiveEngagement", "deleteEngagement"}
)
"""Operations that change one engagement."""

CLOCKS_APART: Final = 300.0
"""Seconds by which a creation time may lie outside of the run, by the service's own Date."""

_ABSENCE_HOLDS: Final = 5.0
"""Seconds after which an id that nothing had is read again: the service may have given it to another engagement."""

_Key = tuple[str, str]
"""The key whose organization is meant, and an id in it."""


class OwnershipState(StrEnum):
    """Whose an id is, as far as reads have shown."""

    OWN = "own"
    ABSENT = "absent"
    """Nothing has it."""
    ANOTHERS = "another's"
    UNREADABLE = "unreadable"


_NOT_OWN: Final = "a read shows that the engagement is not one of this run, so nothing is done to it"
_NOT_READ: Final = "no read shows whether the engagement is one of this run, so nothing is done to it"
_OUT_OF_REACH: Final = frozenset({400, 403, 422})
"""Statuses that a full key may get for an id of another organization, or of a shape that the service never gives."""
_MILLISECONDS: Final = 1e11
"""From here on a number that stands for a time counts milliseconds."""


class RunTime:
    """The time of the run by the service's clock: from the earliest to the latest Date of its responses.

    Args:
        period: When an earlier run began and ended by that clock, in seconds of the epoch; None for the run that goes
            on, whose time the responses tell.
    """

    def __init__(self, period: tuple[float, float] | None = None) -> None:
        self._goes_on = period is None
        self._first, self._last = period or (math.inf, -math.inf)

    def learn(self, exchange: Exchange) -> None:
        """Take the Date of a response into account; without one our own clock counts."""
        if self._goes_on and (moment := moment_of(exchange)) is not None:
            self._first, self._last = min(self._first, moment), max(self._last, moment)

    def covers(self, created_at: object) -> bool:
        """Whether a creation time may be one of the run; a time that cannot be read excludes nothing."""
        moment = _moment(created_at)
        return moment is None or self._first - CLOCKS_APART <= moment <= self._last + CLOCKS_APART


class Ownership:
    """Guards the wire: an id of an engagement is written to only if it is the run's own or nothing has it.

    What a response to a creation or a list says is never enough, since a faulty service may name another user's
    engagement there. A read by id must show a name of the run, and a creation time within the run; only where the
    service cannot be read by id, an item of the list that agrees with the response to the creation counts as much.

    Args:
        names: The names of the run.
        send_all: Sends reads, for a write to an id that has not been read yet.
        run_time: When the run takes place.
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
        self._created: dict[_Key, Mapping[str, Any]] = {}
        self._organizations: dict[str, str] = {}

    @property
    def foreign_ids(self) -> list[str]:
        """Ids that responses to creations named, and that are other users' engagements."""
        with self._lock:
            return [
                key[1] for key, (state, _) in self._states.items()
                if state is OwnershipState.ANOTHERS and key in self._created
            ]  # fmt: skip

    def state(self, identifier: str, key: str = MAIN_KEY) -> OwnershipState | None:
        """Whose an id is; None if it has not been read.

        Args:
            identifier: The id of an engagement.
            key: The name of the key in whose organization it is looked for.
        """
        with self._lock:
            found = self._states.get((key, identifier))
        return None if found is None else found[0]

    def ensure(self, requests: Sequence[Request]) -> None:
        """Read what calls would change, unless that is proved already.

        Raises:
            NotSent: One of them could change what is not the run's, or creates what could not be told as the run's.
        """
        for request in requests:
            if request.operation.id == "createEngagement" and request.is_proper and not self._can_be_told(request):
                raise NotSent("what it creates could not be told as the run's: neither name nor description says so")
        writes = [request for request in requests if request.operation.id in CHANGES_ENGAGEMENT]
        # A faulty service may let any key reach the main key's organization.
        places: dict[_Key, Credential | None] = {(MAIN_KEY, request.identifier or ""): None for request in writes}
        places |= {self._place(request): self._reader(request) for request in writes}
        for state in self._proved(places):
            if state not in {OwnershipState.OWN, OwnershipState.ABSENT}:
                raise NotSent(_NOT_OWN if state is OwnershipState.ANOTHERS else _NOT_READ)

    def ensure_own(self, identifier: str) -> None:
        """Make sure that an engagement is the run's before something is made below it.

        Raises:
            NotSent: It is not.
        """
        for state in self._proved({(MAIN_KEY, identifier): None}):
            if state is not OwnershipState.OWN:
                raise NotSent(_NOT_READ if state in {None, OwnershipState.UNREADABLE} else _NOT_OWN)

    def before(self, request: Request) -> None:
        """Do nothing: the guard has looked at the request already."""

    def after(self, exchange: Exchange) -> None:
        """Learn from a response whose the engagement is."""
        request, response = exchange.request, exchange.received
        self._time.learn(exchange)
        if request.operation.id == "deleteEngagement" and exchange.was_sent:
            self._learn_deletion(exchange)
        if (
            response is None
            or request.probe is not None
            or (request.credential is not None and request.credential.invalid)
        ):
            return
        with self._lock:
            learn = {
                "getCurrentOrganization": self._learn_organization,
                "createEngagement": self._learn_creation,
                "getEngagement": self._learn_read,
                "listEngagements": self._learn_list,
            }.get(request.operation.id)
            began = exchange.started_at.timestamp()
            if request.operation.id == "getEngagement" and began < self._deleted.get(request.identifier or "", began):
                return  # it was under way when the id became free for another engagement
            if learn is not None:
                learn(request, response)

    def is_foreign(self, key: Credential) -> bool:
        """Whether a key shows another organization than the main key does.

        It is asked for its organization once; a key that may not read that is taken for the organization's own.
        """
        if key.name not in self._organizations:
            self._send_all([get_organization().with_key(key)])
        shown, main = self._organizations.get(key.name), self._organizations.get(MAIN_KEY)
        return None not in {shown, main} and shown != main

    def made(self, identifiers: Iterable[str], key: str = MAIN_KEY) -> None:
        """Learn from a journal that creations were answered with these ids, so that a refusal to read one hides it."""
        with self._lock:
            for identifier in identifiers:
                self._created.setdefault((key, identifier), {})

    def _learn_deletion(self, exchange: Exchange) -> None:
        """Prove anew whose an id is after its deletion, for a service may give it to another user's engagement.

        A faulty service may delete in any organization and with any key. If it says that it has not, what was proved
        holds until a read shows something else.
        """
        identifier, response = exchange.request.identifier or "", exchange.received
        with self._lock:
            if response is not None and response.status in REFUSALS:
                self._doubted.add(identifier)
                return
            for place in [place for place in self._states if place[1] == identifier]:
                del self._states[place]
            self._deleted[identifier] = exchange.started_at.timestamp() + exchange.seconds

    def _learn_organization(self, request: Request, response: Response) -> None:
        if (found := identifier_of(data_of(response))) is not None:
            self._organizations[key_name(request)] = found

    def _learn_creation(self, request: Request, response: Response) -> None:
        data = data_of(response)
        if (made := identifier_of(data)) is not None:
            place = self._realm(request), made
            self._created[place] = data
            self._states.pop(place, None)

    def _learn_read(self, request: Request, response: Response) -> None:
        place = self._place(request)
        if response.status == TOO_MANY_REQUESTS:
            return
        if place[0] != key_name(request) and place[0] in {MAIN_KEY, OTHER_KEY} and response.status not in SUCCESSES:
            return  # what a key of fewer permissions is refused says nothing
        known, found = self.state(place[1], place[0]), self._judged(place, response)
        if known is OwnershipState.OWN and found is not OwnershipState.ABSENT and place[1] not in self._doubted:
            return  # the run itself, or a fault, has changed its name
        self._states[place] = found, time.monotonic()

    def _learn_list(self, request: Request, response: Response) -> None:
        """Prove what cannot be read by id: the item must agree with the response to its creation."""
        items = member_of(response, "data") if response.status in SUCCESSES else None
        for item in items if isinstance(items, list) else ():
            place = (self._realm(request), identifier_of(item) or "") if isinstance(item, dict) else ("", "")
            made, state = self._created.get(place), self._states.get(place)
            if made is None or state is None or state[0] is not OwnershipState.UNREADABLE:
                continue
            if all(item.get(name) == made.get(name) for name in ("name", "createdAt")) and self._is_marked(item):
                self._states[place] = OwnershipState.OWN, time.monotonic()

    def _judged(self, place: _Key, response: Response) -> OwnershipState:
        """Whose an engagement is that was read by id."""
        data = data_of(response)
        if response.status in GONE or (place[0] != MAIN_KEY and response.status in REFUSALS):
            return OwnershipState.ABSENT  # another organization's key may be refused in many ways
        if response.status in _OUT_OF_REACH and place not in self._created:
            return OwnershipState.ABSENT
        if not data or identifier_of(data) not in {None, place[1]}:
            return OwnershipState.UNREADABLE
        return OwnershipState.OWN if self._is_marked(data) else OwnershipState.ANOTHERS

    def _is_marked(self, data: Mapping[str, Any]) -> bool:
        """Whether an engagement bears a name of the run, or a description that names the run, and is as young."""
        return self._names.made(data) and self._time.covers(data.get("createdAt"))

    def _proved(self, places: Mapping[_Key, Credential | None]) -> list[OwnershipState | None]:
        """Whose these engagements are; those of which too little is known are read now.

        Args:
            places: The engagements, each with the key that reads it; None for the main key.
        """
        with ExitStack() as held:
            for place in sorted(place for place in places if not self._is_known(place)):
                with self._lock:
                    reading = self._reading[place]
                held.enter_context(reading)  # two threads need not read the same
            if unread := {place: reader for place, reader in places.items() if not self._is_known(place)}:
                self._read(unread)
        return [self.state(identifier, realm) for realm, identifier in places]

    def _read(self, places: Mapping[_Key, Credential | None]) -> None:
        self._send_all([_with_key(get_engagement(place[1]), reader) for place, reader in places.items()])
        if any(self.state(place[1], place[0]) is OwnershipState.UNREADABLE for place in places):
            newest = list_engagements(perPage=PER_PAGE, sort="createdAt", order="desc")
            self._send_all([_with_key(newest, reader) for reader in dict.fromkeys(places.values())])

    def _is_known(self, place: _Key) -> bool:
        """Whether enough is known of an engagement to write to it, or not to."""
        with self._lock:
            state, at = self._states.get(place, (None, 0.0))
        if state is OwnershipState.ABSENT:
            return time.monotonic() - at < _ABSENCE_HOLDS
        return state in {OwnershipState.OWN, OwnershipState.ANOTHERS}

    def _can_be_told(self, request: Request) -> bool:
        """Whether a creation that may be accepted says whose it is."""
        body = object_in(request.body)
        if not isinstance(body.get("name"), str):
            return True
        return self._names.made(body)

    def _place(self, request: Request) -> _Key:
        return self._realm(request), request.identifier or ""

    def _realm(self, request: Request) -> str:
        """Return the name of the full key of the organization that a request acts on, or of the request's own key."""
        name = key_name(request)
        if name in {MAIN_KEY, OTHER_KEY}:
            return name
        organization, main = self._organizations.get(name), self._organizations.get(MAIN_KEY)
        return MAIN_KEY if None in {organization, main} or organization == main else name

    def _reader(self, request: Request) -> Credential | None:
        """The key that reads what a request would change."""
        return None if self._realm(request) == MAIN_KEY else request.credential


def _with_key(request: Request, key: Credential | None) -> Request:
    return request if key is None else request.with_key(key)


def _moment(created_at: object) -> float | None:
    """A time as a service may write it, in seconds of the epoch."""
    if isinstance(created_at, bool) or not isinstance(created_at, str | int | float):
        return None
    try:
        if isinstance(created_at, str):
            moment = datetime.fromisoformat(created_at)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        seconds = float(created_at)
    except (ValueError, OverflowError):
        return None
    return seconds / 1000 if seconds > _MILLISECONDS else seconds
