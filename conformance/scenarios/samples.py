"""Values that a careless service alters, misreads or stumbles over: texts, headers, parameters and identifiers.

A service that accepts a text must keep it, except for those of ``BROKEN``: the others have no leading, trailing or
repeated blanks, no control or format characters, and are in normal form C.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

V = TypeVar("V")

SCRIPTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "emoji": "\U0001f680 \U0001f44d\U0001f3fd 1\ufe0f\u20e3",
        "astral": "\U0001d53c\U00010348\U00020bb7",
        "marks": "\u00e9\u00f1\u00fc x\u0323",
        "letters": "\u00df\u00f8\u0130\u0142",
        "compatible": "\ufb01\uff21\u00b2",
        "greek": "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2",
        "cyrillic": "\u041f\u0440\u0438\u0432\u0435\u0442",
        "thai": "\u0e44\u0e17\u0e22\u0939\u093f\u0928\u094d\u0926\u0940",
        "right-to-left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
        "cjk": "\u6f22\u5b57\u304b\u306a\ud55c\uae00",
    }
)
"""Letters of many scripts, and symbols of several code points."""

SYNTAX: Final[Mapping[str, str]] = MappingProxyType(
    {
        "quotes": '"it\'s" `x` \u201cy\u201d \u2018z\u2019',
        "typography": "... \u2026 \u2013 \u2014 (c)\u00a9",
        "backslashes": "C:\\new\\table \\u0041",
        "markup": "<b>a</b> &amp; &lt;",
        "markdown": "_a_ *b* ~c~ [d] |e| ^f",
        "sql": "x'); DROP TABLE t;--",
        "signs": "%20+%s {0} $1 ?a=b&c #d /e,f:@!",
        "number": "0012",
        "null": "null",
    }
)
"""Text with a meaning for programs."""

ADDRESSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "formula": "=1+1",
        "addresses": "https://example.com/a?b=c a@b.example javascript:alert(1)",
        "scripts": "<script>alert(1)</script> {{7*7}} ${x}",
        "secrets": "password: x1 token=y2",
        "prices": "5 \u20ac 6 \u20b9 7 \u00a3",
        "faces": ":) ;-) :smile:",
        "flags": "\U0001f1e9\U0001f1ea\U0001f1ef\U0001f1f5",
        "typing": "1/2 2x3 (tm) (r) a -- b -> c",
    }
)
"""Text with a meaning for user interfaces."""

ALONE: Final = (
    *("null", "undefined", "None", "NaN", "true", "false", "yes", "off", "N/A"),
    *("0", "-0", "007", "+49", "1.0", ".5", "1e3", "0x1F", "1,000", "12345", "9007199254740993"),
    *("2026-01-02", "2026-01-02T03:04:05.678Z", "12:30", "\u0661\u0662", "\u00bd"),
    *("[]", '{"a": 1}', '""', "()", "-", ".", "*", "%", "\\", "\u00df", "\U0001f680", "\u0301a"),
    *("=1+1", "+a", "-a", "@a", "#a", "/a", "\\a", "'a", "&a", "<a", "{a", "$a"),
)
"""Texts that a service may misread if a field has nothing else: like other types, or with a special first character."""

ENDINGS: Final = (
    *(".", "...", "\\", "\\\\", '"', "'", "/", ",", ";", ":", "-", "_", "?", "!", "%", "&"),
    *("=", "+", "#", "@", "*", "~", "(", "[", "{", "<", "|", "$", "\u0323", "\U0001f44d"),
)
"""Characters that a service may lose at the end of a text."""

AT_THE_END: Final = (
    *(f"x{ending}" for ending in ENDINGS),
    *("1.0", "0", "\u00df", "\u00e9", "\u05e9", "\u03c2", "\u0130"),
)
"""Texts whose last character a service may lose or change."""

LENGTHS: Final = ((255, 256), (256, 1_001), (1_001, 65_535))
"""Characters of a name and of a description, around the usual limits."""

BROKEN: Final = ("a\x00b", "a\ud800", "\udc00\ud83d", "a\x7f\x1bb", "\ufeffa\u202eb\u200d", "a\r\nb\u2028c\u0085d")
"""Texts that are escaped in JSON and that a service may refuse or change: no characters, controls and formats."""

HEADERS: Final = (
    *(
        ("Accept", value)
        for value in ("text/html, text/csv, application/json;q=0.5", "*/*", "application/xml", "text/html", "x")
    ),
    *(("Accept-Language", value) for value in ("de-CH, fr;q=0.5", "*", "x")),
    ("Accept", ""),
    ("Content-Type", ""),
    ("If-Modified-Since", "2001-02-03T04:05:06.789Z"),  # no date of HTTP, so that it must be ignored
)
"""Headers of a request beside its key; without a value, the request has no such header."""

PARAMETERS: Final = (
    "",
    " ",
    "\x00",
    "\udcff",
    "1.5",
    "1e9",
    "-1",
    "9" * 30,
    "null",
    "0x1",
    "\uff11",
    "a'\"",
    "x" * 300,
)
"""Values of a query parameter; ``\\udcff`` is sent as bytes that are no UTF-8."""

IDENTIFIERS: Final = ("0", "-1", "9" * 30, "null", "\x00", "\udcff", "a/b", "%", "a;b", "[a]", "\u00e9\U0001f600'\"--")
"""Identifiers that no service issues."""


def joined(*texts: Mapping[str, str]) -> str:
    """Join all texts to one."""
    return " ".join(text for table in texts for text in table.values())


def counted(length: int) -> str:
    """Return a text of that length, in which every place is different."""
    return ".".join(f"{number:04}" for number in range(length // 5 + 1))[:length]


def shuffled(values: Iterable[V], random: Random) -> list[V]:
    """Return values in an order of the seed."""
    return random.sample(known := [*values], len(known))


def forms_of(name: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return queries in which a parameter is repeated, or is an array or an object to some services."""
    return ((name, "1"), (name, "2")), ((f"{name}[]", "1"),), ((f"{name}[a]", "1"),)
