"""Invalid keys and schemes, derived from a real key."""

from __future__ import annotations

import base64
import re
import string
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final, Literal, Self

from conformance.wire.redaction import SHORTEST
from conformance.wire.requests import MAIN_KEY, Credential

if TYPE_CHECKING:
    from collections.abc import Iterable

    Alphabet = Literal["both cases", "one case", "not ASCII"]

_LONG_ENOUGH: Final = 16
"""Characters of a key that cannot be guessed."""

_TURNS: Final = re.compile("[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_MIXED: Final = 3
"""Changes of letter case from which on the case is part of a key's value."""
_FIRST_HALF: Final = string.ascii_uppercase + string.ascii_lowercase[:6]
"""The characters of base64 whose first bit is 0."""
_PREFIX: Final = re.compile(r"(?:[A-Za-z]{1,8}_){1,2}")
_LONGEST_GROUP: Final = 9
"""Characters of a group of a prefix, its underscore included."""
_MOST_NOTED: Final = 64
"""Characters after the prefix from which on the length of a key makes no difference."""
_LONG: Final = 400
"""Characters of a key that is far longer than usual."""
KINDS: Final = "kinds of unknown keys"
"""The name under which a run records the kinds of its wrong keys."""
_NULL: Final = "null"
"""The one wrong key that is not derived from the real key."""


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The facts about a key on which the kinds of wrong keys depend, which do not reveal it.

    Attributes:
        prefix: The length of the prefix that other keys of its service share.
        length: The length of the rest, up to 64.
        alphabet: The characters of the rest.
    """

    prefix: int
    length: int
    alphabet: Alphabet

    @property
    def characters(self) -> str:
        """The length of the rest in words."""
        return f"{self.length}{' or more' if self.length == _MOST_NOTED else ''} characters"

    @classmethod
    def of(cls, key: str) -> Self:
        """Return the form of a key."""
        prefix = len(_prefix(key))
        rest = key[prefix:]
        alphabet: Alphabet = "both cases" if len(_TURNS.findall(rest)) >= _MIXED else "one case"
        return cls(prefix, min(len(rest), _MOST_NOTED), alphabet if rest.isascii() else "not ASCII")

    @property
    def kinds(self) -> list[str]:
        """The kinds of wrong keys that are made from a key of this form."""
        return [kind for kind, _ in all_wrong_keys(self.example("0" * _MOST_NOTED), Random(0), Random(0))]  # noqa: S311 - any serves

    def example(self, digits: str) -> str:
        """Return a key of this form.

        Args:
            digits: 64 hexadecimal digits in lower case, which make it unlike other keys.
        """
        first = min(self.prefix, _LONGEST_GROUP)
        second = self.prefix - first
        if second == 1:  # a group has a letter, too
            first, second = first - 1, second + 1
        groups = [f"{'k' * (length - 1)}_" for length in (first, second) if length]
        start = {"both cases": "aAaA", "one case": "", "not ASCII": "\u00e9"}[self.alphabet]
        return "".join(groups) + (start + digits)[: self.length]


def other_schemes(key: str) -> list[tuple[str, Credential]]:
    """Return the real key under other schemes than Bearer."""
    basic = base64.b64encode(f"{key}:".encode()).decode()
    named = {"Basic": basic, "Token": key, "ApiKey": key}
    schemes = [(f"the scheme {name}", f"{name} {value}") for name, value in named.items()]
    if len(key) >= SHORTEST:  # a shorter key without a scheme would not be redacted
        schemes.append(("a key without a scheme", key))
    return [(what, Credential(MAIN_KEY, value, invalid=True)) for what, value in schemes]


def rarer_schemes(key: str) -> list[tuple[str, Credential]]:
    """Return the real key under schemes that services rarely treat specially."""
    password = base64.b64encode(f"api:{key}".encode()).decode()
    values = {name: f"{name} {key}" for name in ("Digest", "Key", "Api-Key", "JWT")}
    values |= {"Basic, with the key as it is": f"Basic {key}", "Basic, with the key as password": f"Basic {password}"}
    return [(f"the scheme {what}", Credential(MAIN_KEY, value, invalid=True)) for what, value in values.items()]


def resembling_schemes(key: str) -> list[tuple[str, Credential]]:
    """Return the real key under schemes that a careless comparison takes for Bearer."""
    return [(f"the scheme {name}", Credential(MAIN_KEY, f"{name} {key}", invalid=True)) for name in ("BearerX", "Bot")]


def all_wrong_keys(key: str, random: Random, near: Random) -> list[tuple[str, Credential]]:
    """Return all keys that the service never issued, each with its kind.

    Args:
        key: The real key.
        random: A generator for keys that are unlike it.
        near: A generator for keys that are nearly like it.
    """
    unknown = unknown_keys(key, random)
    return [*unknown[:1], *near_keys(key, near), *unknown[1:]]


def unknown_keys(key: str, random: Random) -> list[tuple[str, Credential]]:
    """Return keys that the service never issued, derived from a real key; no record may show them."""
    prefix = _prefix(key)
    rest = key[len(prefix) :]
    made = _fresh(rest.ljust(_LONG_ENOUGH, "a"), random)
    if made == rest:  # it has neither letters nor digits
        made = _fresh("a" * max(len(rest), _LONG_ENOUGH), random)
    half = len(rest) // 2
    keys = [("an unknown key", prefix + made), ("the real key with more behind it", key + _fresh("a" * 8, random))]
    if len(rest) >= _LONG_ENOUGH:
        keys.append(("a key that only begins as the real one", prefix + rest[:half] + made[half:]))
        keys.append(("a key that only ends as the real one", prefix + made[:half] + rest[half:]))
    if half >= _LONG_ENOUGH:
        keys.append(("the first half of the real key", prefix + rest[:half]))
    keys += [("the real key in a list", f"{key}, {_fresh('a' * 8, random)}"), ("the word null", _NULL)]
    long = ".".join(["a" * (_LONG // 3)] * 3)  # in three parts, like a JSON Web Token
    keys.append((f"a key of some {_LONG} characters", prefix + _fresh(long, random)))
    return _unknown(keys, key)


def near_keys(key: str, random: Random) -> list[tuple[str, Credential]]:
    """Return keys that differ from the real key in a single letter or in letter case; each reveals the real key."""
    prefix = _prefix(key)
    rest = key[len(prefix) :]
    if len(rest) < _LONG_ENOUGH or not rest.isascii():
        return []
    keys = [("the real key but for one of its last characters", prefix + _ending_otherwise(rest, random))]
    if len(_TURNS.findall(rest)) >= _MIXED:  # in UUIDs and hexadecimal digits case has no meaning
        keys.append(("the real key in other letter case", prefix + rest.swapcase()))
    keys.append(("the real key but for its first character", f"{prefix}{_another(rest[0], random)}{rest[1:]}"))
    return _unknown(keys, key)


def revealing_texts(key: str, wrong: Iterable[Credential]) -> list[str]:
    """Return the texts that reveal the real key: all wrong keys derived from it, and its two halves."""
    given = [credential.key for credential in wrong]
    rest = key[len(_prefix(key)) :]
    half = len(rest) // 2
    halves = [rest[:half], rest[half:]] if half >= _LONG_ENOUGH else []
    return [text for text in dict.fromkeys([*given, *halves]) if text != _NULL]


def _unknown(keys: list[tuple[str, str]], key: str) -> list[tuple[str, Credential]]:
    """Return the keys with their labels, without the real key, which a short key may have become again."""
    return [
        (what, replace(Credential.bearer("unknown_key", value), invalid=True)) for what, value in keys if value != key
    ]


def _ending_otherwise(rest: str, random: Random) -> str:
    """Replace the last character by one that also differs in value if the key encodes bits.

    In base64 (RFC 4648) decoders may ignore bits of the last character, but never the first of its six. In base32 only
    the first bit may count, which letters and digits do not show, and the character before has no such bits.
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


def _another(character: str, random: Random) -> str:
    """Return another character of the same kind."""
    return random.choice([other for other in _alphabet(character) if other != character] or ["x"])


def _prefix(key: str) -> str:
    """Return the prefix of a key that others of its service share, such as ``sk_live_``; empty if there is none."""
    found = _PREFIX.match(key)
    return found[0] if found and len(key) - found.end() >= _LONG_ENOUGH else ""


def _fresh(text: str, random: Random) -> str:
    """Return random characters of the same kinds; other characters stay."""
    return "".join(random.choice(_alphabet(character)) for character in text)


def _alphabet(character: str) -> str:
    kinds = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    return next((kind for kind in kinds if character in kind), character)
