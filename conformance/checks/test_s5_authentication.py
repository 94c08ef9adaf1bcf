"""Section 5: without a valid key every operation gives 401, before any other validation, and has no effect."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import observes, requirement
from conformance.checks.observations import observing
from conformance.interface.operations import OPERATIONS
from conformance.oracle import bulk
from conformance.oracle.bulk import Sent
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell
from conformance.running.options import Effort
from conformance.scenarios.access.unauthenticated import NO_KEY, wrong_keys
from conformance.scenarios.untried import untried_refusals
from conformance.verdicts.stages import Stage
from conformance.wire import requests
from conformance.wire.requests import MAIN_KEY, Credential

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from conformance.running.run import Run
    from conformance.scenarios.access.unauthenticated import WrongKeys

_INVALID: Final = (400, 422)


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("key-missing-refused")
def test_requests_without_a_key_are_refused(run: Run, wrong_keys: WrongKeys) -> None:
    """Each of the thirteen operations gives 401 without an Authorization header, in the whole run."""
    _expect_all_unauthorized(wrong_keys, "none", _elsewhere(run, wrong_keys, "no key", {NO_KEY}))


@requirement("key-other-scheme-refused")
def test_other_schemes_are_refused(wrong_keys: WrongKeys) -> None:
    """Each of the thirteen operations gives 401 to the real key under another scheme than Bearer."""
    _expect_all_unauthorized(wrong_keys, "scheme")


@requirement("key-empty-refused")
def test_empty_keys_are_refused(wrong_keys: WrongKeys) -> None:
    """Each of the thirteen operations gives 401 to the scheme Bearer without a key."""
    _expect_all_unauthorized(wrong_keys, "empty")


@pytest.mark.stage(Stage.WHOLE_RUN)
@requirement("key-unknown-refused")
def test_unknown_keys_are_refused(run: Run, wrong_keys: WrongKeys) -> None:
    """Each of the thirteen operations gives 401 to a key that the service never issued, in the whole run."""
    keys = {sent.exchange.request.credential for sent in wrong_keys.sent["unknown"]}
    _expect_all_unauthorized(wrong_keys, "unknown", _elsewhere(run, wrong_keys, "an unknown key", keys))


@requirement("authentication-before-lookup")
def test_the_key_is_judged_before_the_resource_is_looked_up(wrong_keys: WrongKeys) -> None:
    """An operation that gives 401 for an existing resource also gives 401 for a missing one."""
    judged = [sent for sent in wrong_keys.lookups if _refuses_wrong_keys(wrong_keys, sent)]
    bulk.every_status(judged, _is_unauthorized, "401")

    _ensure_none_left_out(wrong_keys.lookups, judged)


@requirement("authentication-before-validation")
def test_the_key_is_judged_before_the_request(wrong_keys: WrongKeys) -> None:
    """An operation that gives 401 for a valid request also gives 401 for an invalid one."""
    judged = [
        sent
        for sent in wrong_keys.invalid
        if _refuses_wrong_keys(wrong_keys, sent) and not _was_looked_up(wrong_keys, sent)
    ]
    bulk.every_status(judged, _is_unauthorized, "401")

    _ensure_none_left_out(wrong_keys.invalid, judged)


@observes("bearer-letter-case")
def test_letter_case_of_the_scheme(run: Run) -> None:
    """Observe the scheme in other letter case."""
    key = run.fixtures.main.key
    for scheme in ("bearer",) if run.effort is Effort.QUICK else ("bearer", "BEARER"):
        exchange = run.send(requests.get_organization().with_key(Credential(MAIN_KEY, f"{scheme} {key}")))
        run.observe("bearer-letter-case", f"{scheme}: {describe_response(exchange)}", exchange)


def _expect_all_unauthorized(tried: WrongKeys, kind: str, others: Sequence[Sent] = ()) -> None:
    """Expect 401 from all thirteen operations; other faults are left to the requirement that states them."""
    sent = (*tried.sent[kind], *others)
    judged = [attempt for attempt in sent if _is_refused(attempt) or not _fails_elsewhere(tried, attempt, kind)]
    bulk.every_status(judged, _is_unauthorized, "401")
    _ensure_none_left_out(sent, judged)
    if withheld := OPERATIONS.keys() - {attempt.exchange.operation_id for attempt in sent}:
        raise CantTell(f"operations could not be tried without harm to others' data: {', '.join(sorted(withheld))}")


def _elsewhere(run: Run, tried: WrongKeys, what: str, keys: Collection[Credential | None]) -> list[Sent]:
    """Return the exchanges of other scenarios with these keys."""
    known = {sent.exchange.number for sent in tried.everything}
    run.scenarios.wait_for(untried_refusals)
    found = bulk.last_attempts(exchange for exchange in run.wire.exchanges if exchange.request.credential in keys)
    return [Sent(what, exchange) for exchange in found if exchange.number not in known]


def _ensure_none_left_out(sent: Iterable[Sent], judged: list[Sent]) -> None:
    if left := [attempt for attempt in sent if attempt not in judged]:
        described = ", ".join(
            sorted({f"{attempt.summary} got {describe_response(attempt.exchange)}" for attempt in left})
        )
        raise CantTell(f"{described}, which another requirement forbids", *[attempt.exchange for attempt in left])


def _is_refused(sent: Sent) -> bool:
    received = sent.exchange.received
    return received is not None and _is_unauthorized(received.status)


def _fails_elsewhere(tried: WrongKeys, sent: Sent, kind: str) -> bool:
    """Whether another requirement states what is wrong with a response."""
    is_elsewhere = _was_looked_up(tried, sent) or _was_validated(tried, sent)
    return is_elsewhere or (kind != "none" and _asks_for_no_key(tried, sent))


def _is_unauthorized(status: int) -> bool:
    return status == HTTPStatus.UNAUTHORIZED


def _was_looked_up(tried: WrongKeys, sent: Sent) -> bool:
    """Whether a request for a missing resource got this response, as one with an unknown key did."""
    named, operation = sent.exchange.request.identifier, sent.exchange.request.operation
    known = {None, tried.inputs.proper.promoted, *tried.inputs.reserved.ids.values()}
    if named in known or _status(sent) != HTTPStatus.NOT_FOUND:
        return False
    lookups = [other for other in tried.lookups if other.exchange.request.operation is operation]
    return any(_status(other) == HTTPStatus.NOT_FOUND for other in lookups)


def _was_validated(tried: WrongKeys, sent: Sent) -> bool:
    """Whether an invitation, made invalid for safety, was refused as invalid regardless of the key."""
    is_invalid = sent.exchange.operation_id == "inviteMember" and not tried.inputs.sends_proper_invitations
    return is_invalid and _status(sent) in _INVALID


def _asks_for_no_key(tried: WrongKeys, sent: Sent) -> bool:
    """Whether the operation accepts requests without any key, so that an invalid one makes no difference."""
    operation = sent.exchange.request.operation
    return any(
        _status(other) != HTTPStatus.UNAUTHORIZED
        for other in tried.sent["none"]
        if other.exchange.request.operation is operation
    )


def _refuses_wrong_keys(tried: WrongKeys, sent: Sent) -> bool:
    """Whether the operation gives 401 to valid requests with unknown keys and without a key, if that could be tried."""
    operation = sent.exchange.request.operation
    tries = [other for other in tried.sent["unknown"] if other.exchange.request.operation is operation]
    proper = [other for other in tries if not _was_looked_up(tried, other) and not _was_validated(tried, other)]
    return all(_status(other) == HTTPStatus.UNAUTHORIZED for other in proper) and not _asks_for_no_key(tried, sent)


def _status(sent: Sent) -> int | None:
    return sent.exchange.status if sent.exchange.judgeable else None


OBSERVATIONS: Final = (
    observing("unparsable-body-without-key", wrong_keys, lambda seen: [sent.exchange for sent in seen.unparsable]),
)
