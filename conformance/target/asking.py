"""Asks a service and takes whatever comes: an answer, or the reason why there is none."""

from __future__ import annotations

import json
import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from conformance.json_text import Malformed, Parsed, read_json
from conformance.target.salvage import salvage
from conformance.wire.call import list_engagements, list_members
from conformance.wire.exchange import SUCCESSES, Answer, Exchange, Unanswered
from conformance.wire.ratelimits import date_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.target.names import RunNames
    from conformance.wire.call import Call, Credential

MAIN_KEY: Final = "api_key"
OTHER_KEY: Final = "other_organization"
"""The names of the credentials that fixtures give to the two organizations' full keys."""

GONE: Final = frozenset({404, 410})
"""Statuses of what is not there any more."""

PAGES: Final = 10
"""Pages of engagements, the latest first, that are looked through for those of a run."""

MEMBER_PAGES: Final = 20
"""Pages of members that are looked through."""

PER_PAGE: Final = 100

_PATIENCE: Final = 3
"""Calls without an answer in a row after which no other is tried."""

_TOGETHER: Final = 50


class Asking:
    """Sends calls whose answers nobody judges, and repeats them where answers are lost.

    Args:
        send: Sends a call, with the main key where it names none.
        send_all: Sends independent calls together, or None to send them one by one.
        credentials: Further keys by their names.
    """

    def __init__(
        self,
        send: Callable[[Call], Exchange],
        send_all: Callable[[Sequence[Call]], Sequence[Exchange]] | None = None,
        credentials: Mapping[str, Credential] | None = None,
    ) -> None:
        self._send_all = send_all or (lambda calls: [send(call) for call in calls])
        self._together = _TOGETHER if send_all else 1
        self._credentials = dict(credentials or {})
        self._silent = 0

    def one(self, call: Call, key: str = MAIN_KEY) -> Answer | str:
        """The answer to a call, or why there is none, as a clause."""
        return self.all([call], key)[0]

    def all(self, calls: Sequence[Call], key: str = MAIN_KEY) -> list[Answer | str]:
        """The answers to independent calls with one key."""
        if key != MAIN_KEY and key not in self._credentials:
            return [f"the key <{key}> is not at hand"] * len(calls)
        credential = self._credentials.get(key)
        keyed = [replace(call, credential=credential, repeatable=True) for call in calls]
        answers: list[Answer | str] = []
        for first in range(0, len(keyed), self._together):
            answers += self._some(keyed[first : first + self._together])
        return answers

    def _some(self, calls: Sequence[Call]) -> list[Answer | str]:
        """The answers to a few calls; where a service takes only some at once, the others go alone."""
        if len(calls) == 1 or self._silent >= _PATIENCE:
            return [self._alone(call) for call in calls]
        together = self._sent(calls)
        if all(isinstance(one, str) for one in together):
            self._silent += len(calls)
            return together
        self._silent = 0
        return [self._alone(call) if isinstance(one, str) else one for call, one in zip(calls, together, strict=True)]

    def _alone(self, call: Call) -> Answer | str:
        if self._silent >= _PATIENCE:
            return "the service does not answer any more"
        (answer,) = self._sent([call])
        self._silent = self._silent + 1 if isinstance(answer, str) else 0
        return answer

    def _sent(self, calls: Sequence[Call]) -> list[Answer | str]:
        try:
            return [_answer(exchange) for exchange in self._send_all(calls)]
        except Unanswered as stopped:
            return [str(stopped)] * len(calls)


@dataclass(frozen=True, slots=True)
class Listed:
    """The latest engagements of an organization.

    Attributes:
        items: The items of the list, those that are objects.
        complete: Whether none can have been missed: the list was seen to its end, or it began with the latest.
        created: When each was created, in seconds of the epoch by our clock; infinitely late if that cannot be told.
    """

    items: tuple[Mapping[str, Any], ...]
    complete: bool
    created: tuple[float, ...]


def latest_items(asking: Asking, *, pages: int = PAGES, key: str = MAIN_KEY) -> Listed | str:
    """Look through the latest engagements, or say why it cannot be done, as a clause."""
    items: list[Mapping[str, Any]] = []
    created: list[float] = []
    ended, whole = False, True
    for page in range(1, pages + 1):
        answer = asking.one(list_engagements(page=page, perPage=PER_PAGE, sort="createdAt", order="desc"), key)
        if isinstance(answer, str):
            return answer
        listed = member_of(answer, "data")
        if answer.status not in SUCCESSES or not isinstance(listed, list):
            return f"the engagements could not be listed (status {answer.status})"
        items += [item for item in listed if isinstance(item, dict)]
        created += [_created(item, answer) for item in listed if isinstance(item, dict)]
        whole = whole and _value_of(answer)[1] and len(items) == len(created)
        if (ended := whole and len(listed) < PER_PAGE) or not listed:
            break
    times = [str(item.get("createdAt")) for item in items]
    return Listed(tuple(items), ended or (whole and times == sorted(times, reverse=True)), tuple(created))


@dataclass(frozen=True, slots=True)
class OwnEngagements:
    """The engagements of a run that a service lists.

    Attributes:
        ids: Their ids.
        complete: Whether none can have been missed.
        latest_other: When the latest of the other engagements was created, in seconds of the epoch by our clock.
    """

    ids: tuple[str, ...]
    complete: bool
    latest_other: float = -math.inf


def own_among(listed: Listed, names: RunNames) -> OwnEngagements:
    """Those of some engagements that look like a run's, going by name and description."""
    marked = [names.marks(item.get("name")) or names.marks(item.get("description")) for item in listed.items]
    ids = [identifier_of(item) for item, is_own in zip(listed.items, marked, strict=True) if is_own]
    others = [moment for moment, is_own in zip(listed.created, marked, strict=True) if not is_own]
    return OwnEngagements(
        tuple(dict.fromkeys(found for found in ids if found is not None)),
        listed.complete,
        max(others, default=-math.inf),
    )


def member_roles(asking: Asking) -> dict[str, str] | None:
    """The roles of all members of the organization of the main key by id; None where they cannot all be seen.

    A role that cannot be read is empty.
    """
    roles: dict[str, str] = {}
    for page in range(1, MEMBER_PAGES + 1):
        answer = asking.one(list_members(page=page, perPage=PER_PAGE))
        listed = None if isinstance(answer, str) else member_of(answer, "data")
        if (
            isinstance(answer, str)
            or answer.status != HTTPStatus.OK
            or not isinstance(listed, list)
            or not _value_of(answer)[1]
        ):
            return None
        roles |= listed_roles(answer)
        if len(listed) < PER_PAGE:
            return roles
    return None


def listed_roles(answer: Answer) -> dict[str, str]:
    """The roles of the members that a page shows, by id."""
    listed = member_of(answer, "data")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    roles = {identifier_of(item): item.get("role") for item in items}
    return {found: role if isinstance(role, str) else "" for found, role in roles.items() if found is not None}


def _created(item: Mapping[str, Any], answer: Answer) -> float:
    """When an engagement was created, by our clock, whatever the service's shows; infinitely late where untold."""
    now, date = time.time(), date_of(answer)
    created_at = item.get("createdAt")
    try:
        moment = datetime.fromisoformat(str(created_at)).timestamp()
    except (ValueError, OverflowError):
        return math.inf
    return moment if date is None else moment - date + now


def member_of(answer: Answer, name: str) -> object:
    """A member of the object that an answer's body is; None where there is none."""
    value, _ = _value_of(answer)
    return value.get(name) if isinstance(value, dict) else None


def _value_of(answer: Answer) -> tuple[object, bool]:
    """What the body of an answer says, and whether that is all of it."""
    reading = answer.reading
    if isinstance(reading, Parsed):
        return reading.value, True
    if isinstance(reading, Malformed):
        with suppress(ValueError, RecursionError):  # a byte order mark or a NaN is a fault, and leaves nothing out
            text = answer.body.decode(json.detect_encoding(answer.body), "replace")
            return json.loads(text.removeprefix("\ufeff")), True
    return salvage(answer.body), False


def identifier_of(data: Mapping[str, Any]) -> str | None:
    """The id of a resource as a path shows it, where it has one; a faulty service may give a number."""
    value = data.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def data_of(answer: Answer) -> Mapping[str, Any]:
    """The ``data`` of a success; an empty object where there is none."""
    data = member_of(answer, "data") if answer.status in SUCCESSES else None
    return data if isinstance(data, dict) else {}


def key_name(call: Call) -> str:
    """The name of the key that a call shows."""
    return MAIN_KEY if call.credential is None else call.credential.name


def moment_of(exchange: Exchange) -> float | None:
    """When a response was made by the service's Date, or else by our clock, in seconds of the epoch."""
    if exchange.received is None:
        return None
    date = date_of(exchange.received)
    return exchange.started_at.timestamp() + exchange.seconds if date is None else date


def object_in(body: bytes | None) -> Mapping[str, Any]:
    """The JSON object that a body is; anything else counts as an empty one."""
    reading = read_json(body or b"")
    return reading.value if isinstance(reading, Parsed) and isinstance(reading.value, dict) else {}


def told(answer: Answer | str) -> str:
    """What came of a call, as a clause."""
    return answer if isinstance(answer, str) else f"status {answer.status}"


def _answer(exchange: Exchange) -> Answer | str:
    try:
        return exchange.answer
    except Unanswered as unanswered:
        return str(unanswered)
