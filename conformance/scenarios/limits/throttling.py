"""Scenario that sends a key past its limit, once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.exchanges import of_operation
from conformance.oracle.laws import rate_limits
from conformance.oracle.laws.responses import first_resource, readable_resources
from conformance.oracle.outcomes import CantTell, Untested
from conformance.running.options import Effort
from conformance.running.scenarios import scenario
from conformance.scenarios.access.every_operation import OTHER_ROLE, untouchable_member
from conformance.scenarios.access.reserved_engagements import LastChange, engagements_in_every_state
from conformance.scenarios.limits.exhaust_window import SURELY_LEFT, TRIES, ExhaustedWindow, at_once, exhaust
from conformance.scenarios.limits.recovery import send_after_reset
from conformance.scenarios.lists.finding import NEWEST
from conformance.targets.capabilities import MissingMeans
from conformance.targets.profile import Mode
from conformance.wire import requests
from conformance.wire.exchange import TOO_MANY_REQUESTS
from conformance.wire.rate_limit_headers import quota
from conformance.wire.requests import MAIN_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential, Request

_AROUND: Final = 2
_LIMIT_TRIED_TWICE: Final = 50
"""The highest limit of a key whose next window is used up, too."""


@dataclass(frozen=True, slots=True)
class Throttling:
    """A key at its limit.

    Attributes:
        exhausted: The requests that used up its window.
        refusals: Every 429 of the key.
        passed: Requests that were served between refusals, of an operation that was served so in every attempt.
        early: Refusals of a window that had requests left, if every attempt had one, at first or after its reset.
        other: A request with another key while this one was refused, between two refusals; None if that failed.
        other_missing: The reason why there is no other key; None if there is one.
        after_reset: The response after the reset; None if the suite did not wait for it.
        not_awaited: The reason why it did not wait.
    """

    exhausted: ExhaustedWindow
    refusals: tuple[Exchange, ...]
    passed: tuple[Exchange, ...]
    early: tuple[Exchange, ...]
    other: Exchange | None
    other_missing: str | None
    after_reset: Exchange | None
    not_awaited: str


@dataclass(slots=True)
class _Attempt:
    """An attempt to use up the window and to send all other requests before it ends."""

    exhausted: ExhaustedWindow
    between: list[Exchange] = field(default_factory=list)
    before: list[Exchange] = field(default_factory=list)
    other: Exchange | None = None
    after: list[Exchange] = field(default_factory=list)

    @property
    def refusals(self) -> list[Exchange]:
        """Every 429 of the key."""
        return _refused([*self.exhausted.refused, *self.before, *self.between, *self.after])

    @property
    def last_refusal(self) -> Exchange:
        """The last 429 of the key."""
        return max(self.refusals, key=lambda exchange: exchange.number)

    @property
    def changes(self) -> tuple[Exchange, ...]:
        """The refused requests that would change an engagement; none if another such request was served."""
        return tuple(self._changing) if _refused(self._changing) == self._changing else ()

    @property
    def _changing(self) -> list[Exchange]:
        return [exchange for exchange in (*self.before, *self.after) if exchange.request.method != "GET"]

    @property
    def refused_creation(self) -> Exchange | None:
        """The creation, if it was refused."""
        creations = of_operation(self.between, "createEngagement")
        return next(iter(_refused(creations)), None)

    @property
    def passed(self) -> list[Exchange]:
        """The requests that were served between reads that were all refused, if writes were all refused or all served.

        A request whose headers name requests left, or another limit, was counted separately.
        """
        reads = [exchange for exchange in (*self.before, *self.after) if exchange.request.method == "GET"]
        if _refused(reads) != reads or _refused(self._changing) not in ([], self._changing):
            return []
        limits = {rate_limits.limit(exchange) for exchange in reads}
        return [
            exchange
            for exchange in self.between
            if exchange.succeeded
            and (rate_limits.remaining(exchange) or 0) <= 0
            and rate_limits.limit(exchange) in limits
        ]

    @property
    def other_meanwhile(self) -> Exchange | None:
        """The request with another key, if the key was refused before and after it."""
        return self.other if _refused(self.before) and _refused(self.after) else None


@scenario(alone=True)
def throttling(run: Run) -> Throttling:
    """Send until a key is refused; then try a creation, another key, and a request after the reset."""
    key = run.fixtures.throttled()
    other, missing = _other_key(run, key)
    passed: list[list[Exchange]] = []
    early: list[Exchange] = []
    refused_after_reset: list[Exchange] = []
    is_left = False
    target = None if run.mode is Mode.READ_ONLY else _untouched_engagement(run)
    for _ in range(TRIES):
        try:
            attempt = _attempt(run, key, other, target)
        except CantTell:
            if not passed:
                raise
            break  # what the earlier attempts have shown counts
        passed.append(_passed_again(run, key, attempt.passed))
        is_left = is_left or attempt.exhausted.shows_what_is_left
        early += [attempt.exhausted.early] if is_left and attempt.exhausted.early is not None else []
        target = target if attempt.changes else None
        after_reset, not_awaited = None, "the key was never refused"
        if attempt.exhausted.refused:
            after_reset, not_awaited = send_after_reset(run, key, attempt.last_refusal)
        if after_reset is not None and after_reset.succeeded and attempt.exhausted.exclusive:
            refused_after_reset += _refused_again(run, key, after_reset, _after_refusal(run, attempt))
        done = not early and not refused_after_reset and not passed[-1] and _complete(attempt, run, other)
        if after_reset is None or not after_reset.succeeded or done:
            break
    if run.effort is not Effort.QUICK and after_reset is not None and after_reset.succeeded and key.name != MAIN_KEY:
        attempt.exhausted = _in_next_window(run, key, attempt.exhausted)
    if attempt.refused_creation is not None:  # for the ledger, which judges whether a refused request had an effect
        run.send(requests.list_engagements(**NEWEST, perPage=100))
    return Throttling(
        exhausted=attempt.exhausted,
        refusals=tuple(attempt.refusals),
        passed=_always_passed(passed) if len(passed) == TRIES else (),
        # A single such refusal may be for too many requests at once.
        early=next((tuple(found) for found in (early, refused_after_reset) if len(found) == TRIES), ()),
        other=attempt.other_meanwhile,
        other_missing=missing,
        after_reset=after_reset,
        not_awaited=not_awaited,
    )


def _in_next_window(run: Run, key: Credential, exhausted: ExhaustedWindow) -> ExhaustedWindow:
    """Use up the window after the reset, too; return it if the service serves requests beyond its limit."""
    if exhausted.limit > _LIMIT_TRIED_TWICE:
        return exhausted
    with suppress(CantTell, Untested):
        following = exhaust(run, key)
        return exhausted if following.beyond is None else following
    return exhausted


def _after_refusal(run: Run, attempt: _Attempt) -> Request:
    """Return another request after the reset: a creation, which must not be carried out twice after a refused one."""
    if attempt.refused_creation is None or _is_of_another_organization(run, attempt.exhausted):
        return requests.get_organization()
    return requests.create_engagement({"name": run.name("resumed")})


def _refused_again(run: Run, key: Credential, after_reset: Exchange, asked: Request) -> list[Exchange]:
    """Send another request after the reset; return it, after the next reset, if it is refused with requests left.

    What it creates is deleted at once, as later scenarios know nothing of the key's organization.
    """
    again = run.send(at_once(asked, key))
    if again.operation_id == "createEngagement" and (made := read.identifier_or_none(again)) is not None:
        run.send_permitted([requests.delete_engagement(made)])
    before, window = quota(after_reset.response), quota(again.response)
    if again.status != TOO_MANY_REQUESTS or before is None or window is None:
        return []
    if before.reset != window.reset or before.remaining < SURELY_LEFT:
        return []
    send_after_reset(run, key, again)
    return [again]


def _passed_again(run: Run, key: Credential, passed: Sequence[Exchange]) -> list[Exchange]:
    """Return the requests that pass twice more at once, between reads that are refused.

    A bucket that refills may let a single request pass, and in every attempt the same one.
    """
    found = []
    for exchange in passed:
        reading, asked = at_once(requests.get_organization(), key), exchange.request
        first, *again, last = run.send_all([reading, asked, asked, reading])
        if _refused([first, last]) == [first, last] and not _refused(again):
            found.append(exchange)
    return found


def _always_passed(attempts: Sequence[Sequence[Exchange]]) -> tuple[Exchange, ...]:
    """Return the requests of the operations that were served in every attempt."""
    served = set.intersection(*({exchange.operation_id for exchange in attempt} for attempt in attempts))
    return tuple(exchange for attempt in attempts for exchange in attempt if exchange.operation_id in served)


def _other_key(run: Run, key: Credential) -> tuple[Credential | None, str | None]:
    """Return another key than the refused one, or the reason why there is none."""
    if key.name != MAIN_KEY:
        return run.fixtures.main, None
    try:
        return run.fixtures.scoped_key("organizations:read"), None
    except MissingMeans as missing:
        reason = f"the main key is sent past its limit, and there is no other key. {missing.reason}"
    try:
        return run.fixtures.other_organization(), None
    except MissingMeans:
        return None, reason


def _untouched_engagement(run: Run) -> str | None:
    """Return the engagement that the main key created last, active and unchanged since; None if there is none."""
    aimed = {exchange.request.identifier for exchange in run.wire.exchanges if exchange.request.operation.changes}
    made = [
        identifier
        for exchange in of_operation(run.wire.exchanges, "createEngagement")
        if exchange.request.credential is None
        for resource in readable_resources(exchange)
        if (identifier := read.id_of(resource)) is not None
        and identifier not in aimed
        and resource.get("status") == "active"
    ]
    return made[-1] if made else None


def _attempt(run: Run, key: Credential, other: Credential | None, target: str | None) -> _Attempt:
    """Use up the window; then send several operations and another key's request between some of the key's own.

    They are sent simultaneously, so that a bucket that refills all the time has nothing left for them.
    """
    rest, target = _read_first(run, other, target)
    name = "" if run.mode is Mode.READ_ONLY else run.name("throttled")
    on_members, in_every_state = _on_members(run), _in_every_state(run, name)
    attempt = _Attempt(exhaust(run, key))
    if not attempt.exhausted.refused:
        return attempt
    is_elsewhere = _is_of_another_organization(run, attempt.exhausted)
    organization = requests.get_organization()
    first, last = [organization] * _AROUND, [organization] * _AROUND
    between = [requests.list_engagements(), requests.list_members()]
    if run.mode is not Mode.READ_ONLY:
        between.insert(0, requests.create_engagement({"name": name}))
    if run.mode is Mode.DISPOSABLE:
        between += [requests.update_organization({}), *([] if is_elsewhere else on_members)]
    if target is not None and not is_elsewhere:
        reading = requests.get_engagement(target)
        between += [reading, requests.unarchive_engagement(target), reading, *in_every_state]
        first[0] = requests.update_engagement(target, {"name": f"{name}-renamed", "description": name})
        last = [requests.archive_engagement(target), requests.delete_engagement(target)]
    before, after = ([at_once(asked, key) for asked in batch] for batch in (first + between, last))
    by_other = []
    if other is not None and rest is not None and (rate_limits.remaining(rest) or 0) > 0:
        by_other.append(at_once(organization, other))
    responses = run.send_all([*before, *by_other, *after])
    attempt.before, attempt.after = responses[:_AROUND], responses[-_AROUND:]
    attempt.between = responses[_AROUND : _AROUND + len(between)]
    attempt.other = responses[_AROUND + len(between)] if by_other else None
    if other is not None and attempt.other is not None and _refused([attempt.other]):
        _send_in_turn(run, key, other, attempt)
    return attempt


def _on_members(run: Run) -> list[Request]:
    """Return an invitation, and changes of the member for requests that must be refused, if the run has sent some."""
    member = run.scenarios.result_if_any(untouchable_member)
    if member is None or all(exchange.request.identifier != member.user_id for exchange in run.wire.exchanges):
        return []
    role = OTHER_ROLE.get(member.role or "", "member")
    return [
        requests.invite_member({"email": run.address("throttled"), "role": "member"}),
        requests.update_member_role(member.user_id, {"role": role}),
        requests.remove_member(member.user_id),
    ]


def _in_every_state(run: Run, description: str) -> list[Request]:
    """Return changes of reserved engagements: each change of every third one or, in a run that is not quick, of all."""
    reserved = run.scenarios.result_if_any(engagements_in_every_state)
    ids = [] if reserved is None else [found for found in reserved.ids.values() if reserved.status(found) is not None]
    first = run.random("engagements beyond the limit").randrange(len(LastChange))
    changes: tuple[Callable[[str], Request], ...] = (
        lambda identifier: requests.update_engagement(identifier, {"description": description}),
        requests.archive_engagement,
        requests.unarchive_engagement,
        requests.delete_engagement,
    )
    return [
        change(identifier)
        for place, change in enumerate(changes)
        for turn, identifier in enumerate(ids)
        if run.effort is not Effort.QUICK or (first + place + turn) % 3 == 0
    ]


def _is_of_another_organization(run: Run, exhausted: ExhaustedWindow) -> bool:
    """Whether the throttled key belongs to another organization than the main key.

    There an engagement of the main key would have to be looked up first, and the window would be over.
    """
    main = [exchange for exchange in run.wire.exchanges if exchange.request.credential is None]
    organizations = (
        {_organization(exchange) for exchange in exchanges} - {None} for exchanges in (main, exhausted.served)
    )
    own, others = organizations
    return bool(own and others) and own.isdisjoint(others)


def _organization(exchange: Exchange) -> object:
    """Return the id in a read of the organization; None for any other response."""
    if exchange.operation_id != "getCurrentOrganization":
        return None
    return read.id_of(first_resource(exchange) or {})


def _read_first(run: Run, other: Credential | None, target: str | None) -> tuple[Exchange | None, str | None]:
    """Return a response with the other key's remaining requests; and the engagement, if the main key still finds it."""
    seen = None if target is None else run.send(requests.get_engagement(target))
    found = target if seen is not None and seen.accepted else None
    if other is None:
        return None, found
    if seen is not None and other.name == MAIN_KEY:
        return seen, found
    return run.send(requests.get_organization().with_key(other)), found


def _send_in_turn(run: Run, key: Credential, other: Credential, attempt: _Attempt) -> None:
    """Send another key's request again between two of the key's own, one by one: too many at once may be refused."""
    asked = requests.get_organization()
    first, again, last = (run.send(at_once(asked, credential)) for credential in (key, other, key))
    attempt.before.append(first)
    attempt.after.append(last)
    attempt.other = again if _refused([first, last]) == [first, last] else None


def _complete(attempt: _Attempt, run: Run, other: Credential | None) -> bool:
    """Whether every request was sent before the window ended."""
    created = run.mode is Mode.READ_ONLY or attempt.refused_creation is not None
    return created and (other is None or attempt.other_meanwhile is not None)


def _refused(exchanges: list[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.status == TOO_MANY_REQUESTS]
