"""Section 5: a key with few permissions may use their operations, and gets 403 for those that they do not imply."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from http import HTTPStatus
from math import inf
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import for_each
from conformance.checks.observations import observing
from conformance.interface.operations import OPERATIONS, SCOPES
from conformance.oracle import bulk, expect, read
from conformance.oracle.bulk import Sent
from conformance.oracle.exchanges import of_operation
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell, NonConformity
from conformance.oracle.permissions import MATRIX, Rule, keys_with, rule_of
from conformance.scenarios.access.every_operation import member_of
from conformance.scenarios.access.single_scope import single_permissions
from conformance.scenarios.untried import untried_refusals
from conformance.targets.capabilities import MissingMeans
from conformance.verdicts.stages import Stage
from conformance.wire.exchange import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.observations import Described
    from conformance.running.run import Run
    from conformance.scenarios.access.single_scope import Permissions
    from conformance.wire.exchange import Exchange

_REFUSALS: Final = (401, 403, 404)
"""Includes 404: the key may not find what the main key has created for it."""

_STATED: Final = tuple(name for name, operation in OPERATIONS.items() if operation.scope is not None)
"""The operations with a stated permission."""
_UNCHANGED: Final = ("name", "description", "createdAt")
"""Fields that no scenario changes between the reads that are compared."""


@pytest.mark.stage(Stage.WHOLE_RUN)
@for_each(_STATED, "scope-allows")
def test_the_permission_listed_is_enough(run: Run, single_permissions: Permissions, operation: str) -> None:
    """A key with the permission listed for an operation, and at most one of the other family, is not refused."""
    scope = OPERATIONS[operation].scope or ""
    _expect_enough(single_permissions, scope, operation)
    for other in keys_with(Rule.ALLOWED, operation):
        if other != scope and (other, operation) in single_permissions.cells:
            _expect_enough(single_permissions, other, operation)
    for denied, again in _sent_again_with_main_key(run, operation):
        key = _words(denied.request.key_name)
        message = f"{operation} was refused to the key with {key}, and the same request succeeded with the main key"
        raise NonConformity(message, denied, again, expected="no 403", actual="403")


def _sent_again_with_main_key(run: Run, operation: str) -> Iterator[tuple[Exchange, Exchange]]:
    """Yield requests that keys with the permission listed got a 403 for, each with its success with the main key."""
    sent = of_operation(run.wire.exchanges, operation)
    for denied in sent:
        is_allowed = not denied.by_main_key and rule_of(denied.request) is Rule.ALLOWED
        if denied.received_status == HTTPStatus.FORBIDDEN and is_allowed:
            same = (denied.check, replace(denied.request, credential=None))
            later = (
                exchange
                for exchange in sent
                if exchange.number > denied.number and (exchange.check, exchange.request) == same
            )
            if (again := next(later, None)) is not None and again.accepted:
                yield denied, again


def _expect_enough(single_permissions: Permissions, scope: str, operation: str) -> None:
    (exchange,) = single_permissions.cell(scope, operation)
    if single_permissions.is_unknown(scope):
        raise CantTell(f"the service does not know the key with {scope}", exchange)
    by_main = single_permissions.missing.get(exchange.request.identifier or "")
    if by_main is not None and exchange.status == by_main.status == HTTPStatus.NOT_FOUND:
        raise CantTell("the main key does not find the engagement either", exchange, by_main)

    # The texts in a body may be refused for another reason.
    refusals = _REFUSALS if OPERATIONS[operation].takes_body else REFUSALS
    expect.status(exchange, lambda status: status not in refusals, f"a success, with {_words(scope)}")
    read.success(exchange)
    if operation in _EXPECT_SAME_VIEW:
        _EXPECT_SAME_VIEW[operation](single_permissions, exchange)


@pytest.mark.stage(Stage.WHOLE_RUN)
@for_each(_STATED, "scope-refuses")
def test_other_permissions_are_not_enough(run: Run, single_permissions: Permissions, operation: str) -> None:
    """Keys with only permissions that cannot imply the listed one get 403, in the whole run."""
    run.scenarios.wait_for(untried_refusals)
    cells = _refusals(run, single_permissions, operation)
    known = [scope for scope in cells if not single_permissions.is_unknown(scope)]
    if not known:
        raise CantTell(f"the service does not know the key with {' nor with '.join(cells)}")

    sent = [attempt for scope in known for attempt in cells[scope]]
    exactly = [attempt for attempt in sent if not _may_look_first(run, single_permissions, attempt)]
    bulk.every_status(exactly, lambda status: status == HTTPStatus.FORBIDDEN, "403")
    bulk.every_status([attempt for attempt in sent if attempt not in exactly], _refuses, "403, or the state's refusal")


def _may_look_first(run: Run, tried: Permissions, sent: Sent) -> bool:
    """Whether the state of the engagement, the member's role or the page is a reason for another refusal.

    Which reason comes first is open. Any page but the first may be past the end.
    """
    if dict(sent.exchange.request.query).get("page", "1") != "1":
        return True
    identifier = sent.exchange.request.identifier or ""
    if identifier == tried.user and sent.exchange.operation_id == "updateMemberRole":
        member = member_of(tried.members[0], identifier) or {}
        return sent.exchange.sent_fields.get("role") == member.get("role")
    if (known := tried.reserved.reads.get(identifier)) is None:
        return False
    status = tried.reserved.status(identifier)
    later = [exchange for exchange in run.wire.exchanges if known.number < exchange.number < sent.exchange.number]
    changes = [exchange for exchange in later if exchange.accepted and exchange.request.operation.changes]
    is_changed = any(exchange.request.identifier == identifier for exchange in changes)
    return status is None or is_changed or (status != "active" and sent.exchange.operation_id != "getEngagement")


def _refuses(status: int) -> bool:
    return status in REFUSALS and status not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS}


def _expect_same_organization(tried: Permissions, exchange: Exchange) -> None:
    """Expect that the key reads the main key's organization."""
    if (by_main := tried.organization) is not None:
        expect.equal("id", read.data(exchange).get("id"), read.data(by_main).get("id"), by_main, exchange)


def _expect_members(tried: Permissions, exchange: Exchange) -> None:
    """Expect that the key lists members, if the main key does."""
    pages = tried.members[1] or (() if tried.organization is None else (tried.organization,))
    found = read.items(exchange)
    if not found and not any(_shows_members(page) for page in pages):
        raise CantTell("the main key sees no member either", exchange, *pages)
    expect.holds(found, "the key lists no members", *pages, exchange, expected="members", actual="none")


def _shows_members(response: Exchange) -> bool:
    """Whether a list of members has any, or an organization counts any."""
    if response.request.operation.response == "list":
        return bool(read.items(response))
    return read.integer(read.data(response), "memberCount", response) > 0


def _expect_whole_engagement(tried: Permissions, exchange: Exchange) -> None:
    """Expect that the key reads the texts and the creation time that the main key reads."""
    identifier = exchange.request.identifier or ""
    refused = [
        Sent(_words(key), sent)
        for (key, name), exchanges in tried.cells.items()
        for sent in exchanges
        if MATRIX[key, name] is Rule.REFUSED and sent.request.identifier == identifier
    ]
    if (by_main := tried.reserved.reads.get(identifier)) is not None:
        was, now = read.data(by_main), read.data(exchange)
        same = partial(expect.unchanged, "the engagement", was, now, _UNCHANGED, by_main, exchange)
        bulk.only_if_refused(refused, same)


def _expect_found_by_main_key(tried: Permissions, exchange: Exchange) -> None:
    """Expect that the main key can read what the key has created."""
    if tried.lost is not None:
        is_found = tried.lost.status != HTTPStatus.NOT_FOUND
        expect.exists("the engagement that the key has created", is_found, exchange, tried.lost)


_EXPECT_SAME_VIEW: Final = {
    "getCurrentOrganization": _expect_same_organization,
    "listMembers": _expect_members,
    "getEngagement": _expect_whole_engagement,
    "createEngagement": _expect_found_by_main_key,
}
"""By operation, the function that expects of a success that the key sees what the main key sees."""


def _refusals(run: Run, tried: Permissions, operation: str) -> dict[str, list[Sent]]:
    """Return the exchanges of an operation that must be refusals, by permission, for the existing keys.

    Raises:
        Untested: There is none.
    """
    found, obstacles = {}, []
    for scope in keys_with(Rule.REFUSED, operation):
        try:
            own = tried.cell(scope, operation)
            found[scope] = [Sent(_words(scope), exchange) for exchange in (*own, *_elsewhere(run, tried, own))]
        except (MissingMeans, CantTell) as obstacle:
            obstacles.append(obstacle)
    if not found:
        raise obstacles[0]
    return found


def _elsewhere(run: Run, tried: Permissions, own: list[Exchange]) -> list[Exchange]:
    """Return the other exchanges of the run with the same key and operation, on targets whose state is known.

    A success counts, whatever the state of its target. Those before the service knew the key are left out.
    """
    targets = {None, tried.user, *tried.reserved.reads}
    judged, request = {exchange.number for exchange in (*own, *tried.invalid)}, own[0].request
    of_key = bulk.last_attempts(
        exchange for exchange in run.wire.exchanges if exchange.request.key_name == request.key_name
    )
    known = [exchange.number for exchange in of_key if exchange.received_status != HTTPStatus.UNAUTHORIZED]
    return [
        exchange
        for exchange in of_key
        if exchange.number > min(known, default=inf)
        and exchange.number not in judged
        and exchange.request.operation is request.operation
        and (exchange.request.identifier in targets or exchange.accepted)
    ]


def _words(key: str) -> str:
    """Return the permissions of a key in words."""
    return f"{key} alone" if key in SCOPES else key


def _implied(tried: Permissions) -> list[Described]:
    return [
        (f"{scope}, {operation}: {describe_response(exchange)}", exchange)
        for (scope, operation), exchanges in tried.cells.items()
        for exchange in exchanges
        if MATRIX[scope, operation] is Rule.OPEN and OPERATIONS[operation].scope is not None
    ]


def _column(operation: str, tried: Permissions) -> list[Described]:
    return [
        (f"{scope}: {describe_response(exchange)}", exchange)
        for scope in SCOPES
        for exchange in tried.cells.get((scope, operation), [])
    ]


OBSERVATIONS: Final = (
    observing("scope-implications", single_permissions, _implied),
    observing("scope-of-list-engagements", single_permissions, partial(_column, "listEngagements")),
    observing("scope-of-unarchive", single_permissions, partial(_column, "unarchiveEngagement")),
    observing("permission-or-lookup-first", single_permissions, lambda seen: seen.unknown),
    observing("permission-or-validation-first", single_permissions, lambda seen: seen.invalid),
)
