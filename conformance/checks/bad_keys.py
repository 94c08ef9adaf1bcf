"""Journeys that call every operation without a valid key, and look whether that changed anything."""

from __future__ import annotations

import base64
import re
import string
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.checks.aims import Aim, identifier, label, latest_engagements, unknown_like
from conformance.oracle import read
from conformance.oracle.batches import Sent
from conformance.oracle.judgement import Judgement
from conformance.running.options import Effort, Mode
from conformance.wire import call
from conformance.wire.call import Credential
from conformance.wire.redaction import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    from conformance.running.run import Run
    from conformance.wire.call import Call
    from conformance.wire.exchange import Exchange

_NAMED_SCHEMES: Final = 3
"""How many of ``other_schemes`` are schemes; what follows is a key alone."""

_LONG_ENOUGH: Final = 16
"""Characters of a key that are not guessed by chance."""

_PREFIX: Final = re.compile(r"(?:[A-Za-z]{1,8}_){1,2}")
_NONSENSE: Final = b'{"name": "cut short'

NO_KEY: Final = Credential("no_key", None, invalid=True)
EMPTY_KEY: Final = Credential("empty_key", "Bearer", invalid=True)


@dataclass(frozen=True, slots=True)
class Aims:
    """What the calls are aimed at.

    Attributes:
        proper: What a faulty service can carry out without doing harm.
        unknown: The same with identifiers that do not exist.
        own: The engagement of the run that ``proper`` is aimed at; None where it has none.
        sends_proper_invitations: Whether a faulty service may send the invitation.
    """

    proper: Aim
    unknown: Aim
    own: str | None
    sends_proper_invitations: bool


@dataclass(frozen=True, slots=True)
class BadKeys:
    """What came of calls without a valid key.

    Attributes:
        aims: What they were aimed at.
        before: A read of the engagement that they were aimed at, unarchiving aside; None where the run has none.
        sent: The calls of all thirteen operations, by the kind of key: none, scheme, empty, unknown.
        unknown_engagements: Calls with an unknown key for an engagement that does not exist.
        invalid: Calls with an unknown key and an invalid body or parameter.
        after: A read of the engagement afterwards.
        archived: A read of the archived engagement that unarchiving was aimed at, afterwards; None without one.
        newest: The newest engagements afterwards.
        organization: The organization afterwards.
    """

    aims: Aims
    before: Exchange | None
    sent: Mapping[str, tuple[Sent, ...]]
    unknown_engagements: tuple[Sent, ...]
    invalid: tuple[Sent, ...]
    after: Exchange | None = None
    archived: Exchange | None = None
    newest: tuple[Exchange, ...] = ()
    organization: Exchange | None = None

    @property
    def everything(self) -> tuple[Sent, ...]:
        """All calls without a valid key."""
        sent = (one for batch in self.sent.values() for one in batch)
        return (*sent, *self.unknown_engagements, *self.invalid)

    @property
    def lookups(self) -> tuple[Sent, ...]:
        """Calls with an unknown key for what does not exist; no call is aimed at a member who does."""
        members = (one for one in self.sent["unknown"] if one.exchange.call.identifier == self.aims.unknown.user)
        return (*members, *self.unknown_engagements)


def bad_keys(run: Run) -> BadKeys:
    """Every operation is called without a key, with other schemes, with an empty and with unknown keys."""
    aims = _aims(run)
    before = run.send(call.get_engagement(aims.own)) if aims.own is not None else None
    key = run.fixtures.main.authorization or ""
    unknown = unknown_keys(key.partition(" ")[2], run.random("unknown keys"))
    sent = {
        "none": _send(run, aims.proper, [("no key", NO_KEY)]),
        "scheme": _with_other_schemes(run, aims.proper, other_schemes(key.partition(" ")[2])),
        "empty": _send(run, aims.proper, [("an empty key", EMPTY_KEY)]),
        "unknown": _send(run, aims.proper, unknown),
    }
    engagements = [one for one in aims.unknown.calls().values() if one.identifier == aims.unknown.engagement]
    lookups = _sent(run, [(unknown[0], one) for one in engagements])
    invalid = _sent(run, [(unknown[0], one) for one in _invalid(aims.proper)])
    tried = BadKeys(aims, before, sent, lookups, invalid)
    return tried if aims.own is None else _looked_after(run, tried)


def _looked_after(run: Run, tried: BadKeys) -> BadKeys:
    archived = tried.aims.proper.archived
    return replace(
        tried,
        archived=None if archived is None else run.send(call.get_engagement(archived)),
        after=run.send(call.get_engagement(tried.aims.own or "")),
        newest=tuple(latest_engagements(run, status="active", sort="updatedAt", order="desc")),
        organization=run.send(call.get_organization()),
    )


# --- keys


def other_schemes(key: str) -> list[tuple[str, Credential]]:
    """The real key under other schemes than Bearer."""
    basic = base64.b64encode(f"{key}:".encode()).decode()
    schemes = [("the scheme Basic", f"Basic {basic}"), ("the scheme Token", f"Token {key}")]
    schemes.append(("the scheme ApiKey", f"ApiKey {key}"))
    if len(key) >= SHORTEST:  # a shorter one that stands alone would not be taken out of the records
        schemes.append(("a key without a scheme", key))
    return [(what, Credential("api_key", value, invalid=True)) for what, value in schemes]


def unknown_keys(key: str, random: Random) -> list[tuple[str, Credential]]:
    """Keys that nobody was given; those that can be taken out of no record give half of the real one away at most."""
    prefix = _prefix(key)
    rest = key[len(prefix) :]
    made = _fresh(rest.ljust(_LONG_ENOUGH, "a"), random)
    half = len(rest) // 2
    keys = [("an unknown key", prefix + made), ("the real key with more behind it", key + _fresh("a" * 8, random))]
    if len(rest) >= _LONG_ENOUGH:
        keys.append(("a key that only begins as the real one", prefix + rest[:half] + made[half:]))
        keys.append(("a key that only ends as the real one", prefix + made[:half] + rest[half:]))
    if half >= _LONG_ENOUGH:
        keys.append(("the first half of the real key", prefix + rest[:half]))
    return [
        (what, replace(Credential.bearer("unknown_key", value), invalid=True)) for what, value in keys if value != key
    ]


def _prefix(key: str) -> str:
    """What a key has in common with others of its service, such as ``sk_live_``; empty where nothing is."""
    found = _PREFIX.match(key)
    return found[0] if found and len(key) - found.end() >= _LONG_ENOUGH else ""


def _fresh(text: str, random: Random) -> str:
    """Random characters of the same kinds, other marks as they are."""
    return "".join(random.choice(_alphabet(sign)) for sign in text)


def _alphabet(sign: str) -> str:
    kinds = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    return next((kind for kind in kinds if sign in kind), sign)


# --- calls


def _aims(run: Run) -> Aims:
    """Aims that exist where that is safe: engagements of the run; never a member, who might be removed."""
    name = label(run, "no-key")
    own, shape = _engagement(run)
    archived = None if own is None else _archived(run)
    random = run.random("unknown identifiers")
    disposable = run.mode is Mode.DISPOSABLE
    organization = name if disposable else _name(run.send(call.get_organization()))
    unknown = Aim(
        engagement=unknown_like(shape, random),
        user=unknown_like(identifier(run.send(call.list_members(perPage=1))), random),
        role="member",
        organization=organization,
        address=run.address("no-key") if disposable else f"{run.name('no-key')}.invalid",
        name=name,
        description=label(run, "changed"),
    )
    proper = replace(unknown, engagement=own or unknown.engagement, archived=archived)
    return Aims(proper, unknown, own, disposable)


def _engagement(run: Run) -> tuple[str | None, str | None]:
    """An engagement of the run, if there can be one, and what identifiers of engagements look like."""
    if run.mode is Mode.READ_ONLY:
        return None, identifier(run.send(call.list_engagements(perPage=1)))
    made = identifier(run.send(call.create_engagement({"name": run.name("not-without-a-key")})))
    return made, made


def _archived(run: Run) -> str | None:
    """An archived engagement of the run, if there can be one."""
    made = identifier(run.send(call.create_engagement({"name": run.name("not-unarchived-without-a-key")})))
    done = None if made is None else run.send(call.archive_engagement(made))
    return made if done is not None and done.judgeable and done.succeeded else None


def _name(exchange: Exchange) -> str | None:
    try:
        return read.text(read.data(exchange), "name", exchange)
    except Judgement:
        return None


def _invalid(aim: Aim) -> Iterable[Call]:
    """Calls with a body or a parameter that no service can make anything of."""
    for one in aim.calls().values():
        if one.operation.takes_body:
            yield one.with_body(_NONSENSE)
        elif one.operation.answer == "list":
            yield replace(one, query=(("page", "abc"),))


def _send(run: Run, aim: Aim, keys: list[tuple[str, Credential]]) -> tuple[Sent, ...]:
    """Call all thirteen operations: each with every key, or in a quick run with one after the other.

    Reads come first, so that no key is tried on writes alone.
    """
    calls = sorted(aim.calls().values(), key=lambda one: one.method != "GET")
    if run.effort is Effort.QUICK:
        return _sent(run, [(keys[place % len(keys)], one) for place, one in enumerate(calls)])
    return _sent(run, [(key, one) for key in keys for one in calls])


def _with_other_schemes(run: Run, aim: Aim, schemes: list[tuple[str, Credential]]) -> tuple[Sent, ...]:
    """Call all operations under other schemes; in a quick run one of them with the key alone, without any."""
    if run.effort is not Effort.QUICK:
        return _send(run, aim, schemes)
    alone = [(key, call.get_organization()) for key in schemes[_NAMED_SCHEMES:]]
    return _send(run, aim, schemes[:_NAMED_SCHEMES]) + _sent(run, alone)


def _sent(run: Run, calls: list[tuple[tuple[str, Credential], Call]]) -> tuple[Sent, ...]:
    """Send calls with keys; each must be refused, so that repeating it does no harm."""
    exchanges = run.send_all([replace(one.with_key(key), repeatable=True) for (_, key), one in calls])
    return tuple(Sent(what, exchange) for ((what, _), _), exchange in zip(calls, exchanges, strict=True))
