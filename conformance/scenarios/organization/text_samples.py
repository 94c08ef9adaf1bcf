"""Texts that a careless service alters, and that the interface requires it to keep if it accepts them.

The texts have no leading, trailing or repeated blanks, and no control or format characters. All are in normal form C.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

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

SIGNS: Final[Mapping[str, str]] = MappingProxyType(
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
        "prices": "5 \u20ac 6 \u20b9 7 \u00a3",
        "faces": ":) ;-) :smile:",
        "flags": "\U0001f1e9\U0001f1ea\U0001f1ef\U0001f1f5",
        "typing": "1/2 2x3 (tm) (r) a -- b -> c",
    }
)
"""Text with a meaning for user interfaces."""


def joined(*texts: Mapping[str, str]) -> str:
    """Join all texts to one."""
    return " ".join(text for table in texts for text in table.values())
