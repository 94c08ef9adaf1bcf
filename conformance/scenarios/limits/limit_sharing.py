"""Rate limits of separate keys: a new key sends a few requests, alone and between many of other keys."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final

from conformance.interface.operations import SCOPES
from conformance.oracle import read
from conformance.oracle.laws import rate_limits
from conformance.oracle.laws.per_key_limits import limit_evidence, of_one_window
from conformance.oracle.laws.rate_limit_course import AnnouncedLimit
from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence
from conformance.scenarios.keys_in_turn import RetryNewKeys
from conformance.scenarios.limits.exhaust_window import is_made
from conformance.targets.capabilities import MissingMeans
from conformance.wire import requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

_MANY: Final = 20
"""Requests of other keys between two of the new key."""
_MORE: Final = _MANY // 4
"""Extra fall of the limit that counts: more than the new key itself has sent."""
_TRIES: Final = 3


class _OtherWindow(Exception):
    """Two responses name different windows, or none, so that their counts cannot be compared."""


def expect_limits_apart(run: Run) -> None:
    """Expect that requests of one key take nothing from the limit of another.

    The responses of the run usually show that. A new key is tried only if a key has less left than its own requests
    explain, or no key was used between requests of others.

    Raises:
        NonConformity: A new key lost far more than its own request took, twice, while the main key sent many.
        Inapplicable: No key was made in this run, or the windows end at once.
        CantTell: A key has less left than its own requests explain, and no new key could be tried.
    """
    run.scenarios.finish_background()
    used = [sent.request.credential.name for sent in run.wire.exchanges if sent.request.credential is not None]
    keys = {name for name in {*used} if is_made(run, name)}
    found = limit_evidence(run.wire.exchanges, keys)
    if found.kept and not found.doubtful:
        evidence(*found.kept)
        return
    if not found.doubtful and not found.has_windows and sum(name in keys for name in used) > 1:
        raise Inapplicable("the windows of this service end at once")
    try:
        _try(run, *_keys(run, found.doubtful))
    except MissingMeans as missing:
        raise _untried(found.doubtful, missing.reason) from None
    except _OtherWindow:
        raise _untried(found.doubtful, "Every window ended at once") from None


def _keys(run: Run, doubtful: Sequence[Exchange]) -> tuple[Credential, list[Credential]]:
    """Return a new key, and the doubtful keys of members that are served still; they may share the limit of a member.

    The new key is then a member's, too.
    """
    last = {
        exchange.request.credential: exchange.accepted
        for exchange in run.wire.exchanges
        if exchange.request.credential is not None and exchange.was_sent
    }
    doubted = dict.fromkeys(exchange.request.credential for exchange in doubtful)
    of_members = {member.credential for member in run.fixtures.members.values()}
    served = [key for key in doubted if key is not None and key in of_members and last[key]]
    with suppress(MissingMeans):
        if served and (new := run.fixtures.member(with_key=True).credential) is not None:
            return new, served
    return run.fixtures.new_key(SCOPES[0]), []


def _untried(doubtful: Sequence[Exchange], reason: str) -> Exception:
    """Return the outcome if no new key can be tried."""
    if not doubtful:
        return Inapplicable(f"the limit of a key could not be seen beside requests of others. {reason}")
    return CantTell("a key has fewer requests left than it sent itself, and no test could show why", *doubtful[:3])


def _try(run: Run, key: Credential, others: Sequence[Credential]) -> None:
    """Try a key within one window, beside the main key and others, again if the window ends meanwhile.

    Raises:
        _OtherWindow: The window ended each time.
        NonConformity: See ``expect_limits_apart``.
    """
    sender = RetryNewKeys(run)
    for number in range(1, _TRIES + 1):
        try:
            _try_in_one_window(run, sender, key, others)
        except _OtherWindow:
            if number == _TRIES:
                raise
        else:
            return


def _try_in_one_window(run: Run, sender: RetryNewKeys, key: Credential, others: Sequence[Credential]) -> None:
    asked = requests.get_organization()
    beside = [asked, *map(asked.with_key, others)]
    course = [sender.send(asked.with_key(key)) for _ in range(2)]
    silent, busy = [_taken(*course)], []
    many = min(_MANY, (rate_limits.remaining(course[-1]) or 0) // 3)
    if (many * len(others) // len(beside) or many) <= _MORE:
        raise CantTell("a new key has too few requests left to show whether other keys use them up", *course)
    for _ in range(2):
        run.send_all([*islice(cycle(beside), many)])
        course += [sender.send(asked.with_key(key)) for _ in range(2)]
        busy.append(_taken(*course[-3:-1]))
        silent.append(_taken(*course[-2:]))
        evidence(*course)
        if busy[-1] <= max(silent) + _MORE:
            return
    raise NonConformity(
        f"the limit of a key fell by {busy[0]} and by {busy[1]} with one request of its own, while other keys sent "
        f"{many} each time",
        *course,
        expected=f"{max(silent)} less, as while the other keys sent nothing",
        actual=", ".join(str(rate_limits.remaining(exchange)) for exchange in course),
    )


def _taken(before: Exchange, after: Exchange) -> int:
    """Return by how much the limit fell between two responses.

    Raises:
        _OtherWindow: They name different windows, or none.
        CantTell: A response is no success.
    """
    for exchange in (before, after):
        read.success(exchange)
    then, now = AnnouncedLimit.by(before), AnnouncedLimit.by(after)
    if then.remaining is None or now.remaining is None or not of_one_window(then, now):
        raise _OtherWindow
    return then.remaining - now.remaining
