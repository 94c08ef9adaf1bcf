"""Keys and schemes that are not what the service gave out, made from a real key."""

from __future__ import annotations

import base64
import re
import string
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.wire.redaction import SHORTEST
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

_LONG_ENOUGH: Final = 16
"""Characters of a key that are not guessed by chance."""

_TURNS: Final = re.compile("[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_MIXED: Final = 3
"""Turns from one letter case to the other, from which on it is part of what a key says."""
_FIRST_HALF: Final = string.ascii_uppercase + string.ascii_lowercase[:6]
"""The characters of base64 whose first bit is 0."""
_PREFIX: Final = re.compile(r"(?:[A-Za-z]{1,8}_){1,2}")
_LONG: Final = 400
"""Characters of a key that is far longer than others."""
NULL: Final = "null"
"""The one wrong key that is not made from the real one."""


def other_schemes(key: str) -> list[tuple[str, Credential]]:
    """The real key under other schemes than Bearer."""
    basic = base64.b64encode(f"{key}:".encode()).decode()
    schemes = [("the scheme Basic", f"Basic {basic}"), ("the scheme Token", f"Token {key}")]
    schemes.append(("the scheme ApiKey", f"ApiKey {key}"))
    if len(key) >= SHORTEST:  # a shorter one that stands alone would not be taken out of the records
        schemes.append(("a key without a scheme", key))
    return [(what, Credential("api_key", value, invalid=True)) for what, value in schemes]


def rarer_schemes(key: str) -> list[tuple[str, Credential]]:
    """The real key under schemes that a service looks at less often."""
    password = base64.b64encode(f"api:{key}".encode()).decode()
    values = {name: f"{name} {key}" for name in ("Digest", "Key", "Api-Key", "JWT")}
    values |= {"Basic, with the key as it is": f"Basic {key}", "Basic, with the key as password": f"Basic {password}"}
    return [(f"the scheme {what}", Credential("api_key", value, invalid=True)) for what, value in values.items()]


def resembling_schemes(key: str) -> list[tuple[str, Credential]]:
    """The real key under schemes that are not Bearer either, although a careless look takes them for it."""
    return [(f"the scheme {name}", Credential("api_key", f"{name} {key}", invalid=True)) for name in ("BearerX", "Bot")]


def unknown_keys(key: str, random: Random) -> list[tuple[str, Credential]]:
    """Keys that the service never issued, made from a real one; no record may show them, see ``telling``."""
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
    keys += [("the real key in a list", f"{key}, {_fresh('a' * 8, random)}"), ("the word null", NULL)]
    long = ".".join(["a" * (_LONG // 3)] * 3)  # in three parts, as a JSON Web Token has them
    keys.append((f"a key of some {_LONG} characters", prefix + _fresh(long, random)))
    return _unknown(keys, key)


def near_keys(key: str, random: Random) -> list[tuple[str, Credential]]:
    """Keys that differ from the real one in a letter, or in letter case alone; whoever reads one knows the real one."""
    prefix = _prefix(key)
    rest = key[len(prefix) :]
    if len(rest) < _LONG_ENOUGH or not rest.isascii():
        return []
    keys = [("the real key but for one of its last characters", prefix + _ending_otherwise(rest, random))]
    if len(_TURNS.findall(rest)) >= _MIXED:  # in a UUID, or hexadecimal digits, it says nothing
        keys.append(("the real key in other letter case", prefix + rest.swapcase()))
    keys.append(("the real key but for its first character", f"{prefix}{_another(rest[0], random)}{rest[1:]}"))
    return _unknown(keys, key)


def telling(key: str, wrong: Iterable[Credential]) -> list[str]:
    """What of wrong keys tells something of the real one: all of them that are made from it, and its two halves."""
    given = [(one.authorization or "").partition(" ")[2] for one in wrong]
    rest = key[len(_prefix(key)) :]
    half = len(rest) // 2
    halves = [rest[:half], rest[half:]] if half >= _LONG_ENOUGH else []
    return [text for text in dict.fromkeys([*given, *halves]) if text != NULL]


def _unknown(keys: list[tuple[str, str]], key: str) -> list[tuple[str, Credential]]:
    """What is shown for each but the real one, which a short key may have become again."""
    return [
        (what, replace(Credential.bearer("unknown_key", value), invalid=True)) for what, value in keys if value != key
    ]


def _ending_otherwise(rest: str, random: Random) -> str:
    """The same with another character in the end, which stands for other bits too where a key is an encoding of bits.

    In base64 (RFC 4648) the last character may have bits that no decoder looks at, but never the first of its six; in
    base32 it may have the first bit alone, which letters and digits do not tell, and the one before has none such.
    """
    whole = rest.rstrip("=")
    padding = rest[len(whole) :]
    if re.fullmatch("[0-9A-Fa-f-]+", whole):
        last = _another(whole[-1], random)
    elif whole not in {whole.lower(), whole.upper()}:
        last = "7" if whole[-1] in _FIRST_HALF else "a"
    else:
        return whole[:-2] + _another(whole[-2], random) + whole[-1] + padding
    return whole[:-1] + last + padding


def _another(sign: str, random: Random) -> str:
    """Another character of the same kind."""
    return random.choice([one for one in _alphabet(sign) if one != sign] or ["x"])


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
