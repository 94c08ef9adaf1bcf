"""Scenarios that call every operation without a valid key, and read whether that changed anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, cycle, repeat
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.bulk import Sent
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import (
    OTHER_ROLE,
    OperationInputs,
    label,
    latest_engagements,
    unknown_like,
    untouchable_member,
)
from conformance.scenarios.access.invalid_credentials import (
    KINDS,
    all_wrong_keys,
    other_schemes,
    rarer_schemes,
    resembling_schemes,
    revealing_texts,
)
from conformance.scenarios.access.reserved_engagements import ReservedEngagements, engagements_in_every_state
from conformance.scenarios.renaming import harmless_name
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.gateways import MAX_SENT_HEADERS
from conformance.wire.redaction import SHORTEST
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.running.run import Run
    from conformance.targets.fixtures import Member
    from conformance.wire.requests import Request

_UNPARSABLE: Final = b'{"name": "cut short'
_INVALID_BODIES: Final = {
    "updateCurrentOrganization": b"[]",
    "createEngagement": b'{"description": 12345}',
    "updateEngagement": b'{"name": 12345, "description": 12345}',
}
"""JSON that is invalid for an operation, and harmless if it is carried out; ``{}`` for other operations."""
_NONSENSE_QUERY: Final = {
    "listMembers": (("role", "no-such-role"), ("page", "abc")),
    "listEngagements": (
        *(("status", "no-such-status"), ("sort", "no-such-field"), ("order", "no-such-order")),
        *(("page", "abc"), ("perPage", "abc")),
    ),
}
_ELSEWHERE: Final = 2
"""Operations that get the real key in another header."""
_OTHER_HEADERS: Final = ("X-Api-Key", "X-Api-Token", "X-Auth-Token", "X-Access-Token", "Api-Key")
_LONGEST_HEADER: Final = 16
_MOST_ELSEWHERE: Final = MAX_SENT_HEADERS - 96
"""Bytes of headers with the key, which leaves room for the others of a request."""
_COOKIES: Final = ("api_key", "access_token", "token", "session")
_SCHEMES: Final = 2
"""Calls of all operations with other schemes in turn in a standard run."""
_APART: Final = 3
"""States from one kind of key to the next for the same operation."""
_Batches = Callable[[int], "list[Request]"]
_Kind = tuple[str, Credential]
"""A kind of key in words, and a key of this kind."""
NO_KEY: Final = Credential("no_key", None, invalid=True)
_WITHOUT_KEY: Final = ("no key", NO_KEY)
_EMPTY_KEY: Final = Credential("empty_key", "Bearer", invalid=True)
_EMPTY_HEADER: Final = Credential("empty_header", "", invalid=True)


@dataclass(frozen=True, slots=True)
class UnauthenticatedInputs:
    """The inputs of the requests.

    Attributes:
        proper: Inputs that a faulty service can carry out without harm.
        unknown: The same with identifiers that do not exist.
        reserved: The engagements of the run that the proper requests are about.
        sends_proper_invitations: Whether a faulty service may send the invitation.
    """

    proper: OperationInputs
    unknown: OperationInputs
    reserved: ReservedEngagements
    sends_proper_invitations: bool

    def batch(self, turn: int, *, on_member: bool = True) -> list[Request]:
        """Return a proper request of each operation, on engagements in other states than those of another turn.

        Reads come first, and last those on members, which show least if a key is accepted.
        """
        batch = (self.proper if on_member else replace(self.proper, promoted=None)).batch().values()
        aimed = [
            replace(request, identifier=self.reserved.turn(place + turn * _APART) or request.identifier)
            if request.identifier == self.proper.engagement
            else request
            for place, request in enumerate(batch)
        ]
        return sorted(aimed, key=lambda request: (request.method != "GET", "/members" in request.path))


@dataclass(frozen=True, slots=True)
class WrongKeys:
    """The results of requests without a valid key.

    Attributes:
        inputs: The inputs of these requests.
        sent: The requests for all thirteen operations, by the kind of key: none, scheme, empty, unknown.
        unknown_engagements: Requests with an unknown key for a missing engagement.
        invalid: Requests with an unknown key and an invalid JSON body, or an invalid parameter.
        unparsable: A creation without a key whose body is no JSON.
    """

    inputs: UnauthenticatedInputs
    sent: Mapping[str, tuple[Sent, ...]]
    unknown_engagements: tuple[Sent, ...]
    invalid: tuple[Sent, ...]
    unparsable: tuple[Sent, ...]

    @property
    def everything(self) -> tuple[Sent, ...]:
        """All requests without a valid key."""
        sent = (attempt for attempts in self.sent.values() for attempt in attempts)
        return (*sent, *self.unknown_engagements, *self.invalid, *self.unparsable)

    @property
    def lookups(self) -> tuple[Sent, ...]:
        """The requests with an unknown key for missing resources; no request concerns an existing member."""
        members = (
            attempt
            for attempt in self.sent["unknown"]
            if attempt.exchange.request.identifier == self.inputs.unknown.user
        )
        return (*members, *self.unknown_engagements)


@scenario(alone=True)
def wrong_keys(run: Run) -> WrongKeys:
    """Call every operation without a key, with other schemes, with an empty key and with unknown keys."""
    inputs = _unauthenticated_inputs(run)
    key = run.fixtures.main.key
    unknown = _unknown_keys(run, key)
    sent = {
        "none": _without_a_key(run, inputs, key),
        "scheme": _with_other_schemes(run, inputs, key),
        "empty": _with_an_empty_key(run, inputs.batch(2)),
        "unknown": _with_unknown_keys(run, inputs, unknown),
    }
    engagements = [
        request for request in inputs.unknown.batch().values() if request.identifier == inputs.unknown.engagement
    ]
    lookups = _sent(run, zip(cycle([unknown[0], _WITHOUT_KEY]), engagements, strict=False))
    invalid = _sent(run, zip(cycle([_WITHOUT_KEY, unknown[0]]), _invalid(inputs.proper), strict=False))
    unparsable = _sent(run, [(_WITHOUT_KEY, requests.create_engagement({}).with_body(_UNPARSABLE))])
    tried = WrongKeys(inputs, sent, lookups, invalid, unparsable)
    if inputs.reserved.ids:  # for the ledger, which judges whether a refused request had an effect
        latest_engagements(run, sort="updatedAt", order="desc")
        run.send(requests.get_organization())
    return tried


def _unknown_keys(run: Run, key: str) -> list[_Kind]:
    """Return keys that were never issued; a replay derives the same kinds from a key of the same form."""
    made = all_wrong_keys(key, run.random("unknown keys"), run.random("near keys"))
    for text in revealing_texts(key, [credential for _, credential in made]):
        if not _is_public(run, text):
            run.fixtures.hide("unknown_key", text)
    run.recorded_value(KINDS, lambda: [kind for kind, _ in made])  # verify compares it with the form of the key
    return made


def _is_public(run: Run, text: str) -> bool:
    """Whether a response has already shown a text: half of a key may be the id of its organization."""
    raw = text.encode()
    return any(exchange.received is not None and raw in exchange.received.body for exchange in run.wire.exchanges)


def _unauthenticated_inputs(run: Run) -> UnauthenticatedInputs:
    """Return inputs of existing resources if that is safe.

    These are engagements of the run, and a member made for it, who may get another role; no member to remove.
    """
    name = label(run, "no-key")
    reserved = run.scenarios.result(engagements_in_every_state)
    own = reserved.active
    shape = own or read.first_identifier(run.send(requests.list_engagements(perPage=1)))
    random = run.random("unknown identifiers")
    disposable = run.mode is Mode.DISPOSABLE
    member = new_member(run) if disposable else None
    organization = name if disposable else harmless_name(run.send(requests.get_organization()))
    unknown = OperationInputs(
        engagement=unknown_like(shape, random),
        user=unknown_like(None if member is None else member.user_id, random),  # like no other member's
        role="member",
        organization=organization,
        address=run.address("no-key") if disposable else f"{run.name('no-key')}.invalid",
        name=name,
        description=label(run, "changed"),
        renamed=label(run, "renamed"),
    )
    proper = replace(unknown, engagement=own or unknown.engagement)
    if member is not None:
        proper = replace(proper, promoted=member.user_id, role=OTHER_ROLE[member.role or "member"])
    return UnauthenticatedInputs(proper, unknown, reserved, disposable)


def new_member(run: Run) -> Member | None:
    """Return the member reserved for requests that must be refused, if it was made for the run."""
    try:
        member = run.scenarios.result(untouchable_member)
    except MissingMeans:
        return None
    return member if member.is_new else None


def _invalid(inputs: OperationInputs) -> Iterable[Request]:
    """Return requests with a JSON body, or with parameters, that are invalid for every service."""
    for name, request in inputs.batch().items():
        if request.operation.takes_body:
            yield request.with_body(_INVALID_BODIES.get(name, b"{}"))
        elif name in _NONSENSE_QUERY:
            yield replace(request, query=_NONSENSE_QUERY[name])


def _send(run: Run, batches: _Batches, first: int, keys: list[_Kind], *, turns: int) -> tuple[Sent, ...]:
    """Call all thirteen operations several times on other engagements, with the keys in turn; in a deep run with each.

    Args:
        run: The run.
        batches: Returns the requests of a turn.
        first: The first turn.
        keys: The keys.
        turns: The number of turns, unless the run is deep.
    """
    if run.effort is Effort.DEEP:
        return _sent(run, ((key, request) for turn, key in enumerate(keys, first) for request in batches(turn)))
    calls = ((turn, place, request) for turn in range(turns) for place, request in enumerate(batches(first + turn)))
    return _sent(run, ((keys[(place + turn) % len(keys)], request) for turn, place, request in calls))


def _with_other_schemes(run: Run, inputs: UnauthenticatedInputs, key: str) -> tuple[Sent, ...]:
    """Call all operations with the real key under other schemes; rarer schemes with a single operation each."""
    usual, rare = [*other_schemes(key), *resembling_schemes(key)], rarer_schemes(key)
    if run.effort is Effort.QUICK:
        return _send(run, inputs.batch, 1, [*usual, *rare], turns=1)
    again = _sent(run, zip(rare, inputs.batch(1), strict=False))
    return _send(run, inputs.batch, 1, usual, turns=_SCHEMES) + again


def _without_a_key(run: Run, inputs: UnauthenticatedInputs, key: str) -> tuple[Sent, ...]:
    """Call all operations without Authorization, the first two with the real key in other headers and a cookie."""
    batch = inputs.batch(0)
    count = _ELSEWHERE if len(key) >= SHORTEST else 0  # a shorter one would stand in a header unrecognized
    elsewhere = [replace(request, headers=(*request.headers, *_other_headers(key))) for request in batch[:count]]
    sent = _sent(run, ((("the key in other headers", NO_KEY), request) for request in elsewhere))
    return sent + _sent(run, ((_WITHOUT_KEY, request) for request in batch[count:]))


def _other_headers(key: str) -> list[tuple[str, str]]:
    """Return headers and cookies that show a key, as many as gateways let through."""
    fitting = _MOST_ELSEWHERE // (len(key.encode()) + _LONGEST_HEADER)
    headers = [(name, key) for name in _OTHER_HEADERS[:fitting]]
    cookies = [f"{name}={key}" for name in _COOKIES[: fitting - len(headers)]]
    return [*headers, ("Cookie", "; ".join(cookies))] if cookies else headers


def _with_an_empty_key(run: Run, batch: list[Request]) -> tuple[Sent, ...]:
    """Call all operations with an empty key, the first with an empty header."""
    kinds = [("an empty header", _EMPTY_HEADER), *[("an empty key", _EMPTY_KEY)] * (len(batch) - 1)]
    return _sent(run, zip(kinds, batch, strict=True))


def _with_unknown_keys(run: Run, inputs: UnauthenticatedInputs, keys: list[_Kind]) -> tuple[Sent, ...]:
    """Call all operations with unknown keys; those that are like the real one first, unless the run is deep."""
    batches = partial(inputs.batch, on_member=False)
    if run.effort is Effort.DEEP:
        return _send(run, batches, 3, keys, turns=1)
    return _sent(run, zip(chain(keys[1:], repeat(keys[0])), batches(3), strict=False))


def _sent(run: Run, pairs: Iterable[tuple[_Kind, Request]]) -> tuple[Sent, ...]:
    """Send requests with keys, if others' data is safe; each must be refused, so it can be retried."""
    batch = [*pairs]
    exchanges = run.send_permitted([replace(request.with_key(key), repeatable=True) for (_, key), request in batch])
    return tuple(
        Sent(what, exchange) for ((what, _), _), exchange in zip(batch, exchanges, strict=True) if exchange is not None
    )
