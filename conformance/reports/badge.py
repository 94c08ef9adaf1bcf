"""Rendering of badge.svg: the verdict as a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from conformance.reports.wording import VERDICTS, tally, verdict_sentence

if TYPE_CHECKING:
    from conformance.reports.model import Report

_LABEL: Final = "conformance"
_COLOURS: Final = {"conformant": "#2f6b3c", "non-conformant": "#9c2b20", "inconclusive": "#6b5a2a"}
_CHARACTER: Final = 6.8
_NARROW: Final = frozenset("fijlrt(), ")
_NARROWER: Final = 2.4
"""Width by which these characters are narrower in the fonts of badges."""
_PADDING: Final = 10
_HEIGHT: Final = 22


def badge_bytes(report: Report) -> bytes:
    """Return the content of badge.svg, which has no external references."""
    value = _value(report)
    left, right = _width(_LABEL), _width(value)
    title = escape(f"{_LABEL}: {value}. {verdict_sentence(report)}")
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img">
<title>{title}</title>
<clipPath id="frame"><rect width="{left + right}" height="{_HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#frame)">
<rect width="{left}" height="{_HEIGHT}" fill="#3a3835"/>
<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{_COLOURS[report["verdict"]]}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
{_text(_LABEL, left / 2, left)}
{_text(value, left + right / 2, right)}
</g>
</svg>
""".encode()


def _value(report: Report) -> str:
    failed = tally(report)["failed"]
    interrupted = ", interrupted" if report["run"]["interrupted"] else ""
    word = VERDICTS[report["verdict"]].lower()
    return f"{word} ({failed} failed){interrupted}" if failed else f"{word}{interrupted}"


def _width(text: str) -> int:
    narrow = sum(character in _NARROW for character in text)
    return round(len(text) * _CHARACTER - narrow * _NARROWER) + 2 * _PADDING


def _text(text: str, middle: float, width: int) -> str:
    """Return the text element, set to the width of its box in any font."""
    return f'<text x="{middle:g}" y="15" textLength="{width - 2 * _PADDING}">{escape(text)}</text>'
