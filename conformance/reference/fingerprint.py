"""Fingerprint of the reference service: the sentences of its error responses."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.targets.responses import object_in
from conformance.wire.statuses import ERRORS_FROM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.wire.exchange import Exchange

_LEAST: Final = 5
"""Sentences of the reference service from which on chance is no explanation."""
_SHARE: Final = 0.75
"""The least share of a service's error messages that are these sentences."""
_LONGEST: Final = 500
"""Characters of a message that is looked at."""
_MOST: Final = 1000
"""Different messages that are looked at."""


def recognized(exchanges: Iterable[Exchange]) -> str | None:
    """Return a sentence if a service responded with the texts of the reference service; None otherwise.

    Args:
        exchanges: The exchanges with a service. With a latitude that empties messages, none is recognized.
    """
    given = list(islice(_messages(exchanges), _MOST))
    matched = {text: sentence for text in given for sentence in _sentences() if sentence.fullmatch(text)}
    if len(set(matched.values())) < _LEAST or len(matched) < _SHARE * len(given):
        return None
    return (
        f"{len(matched)} of the {len(given)} different error messages are sentences of this suite's reference service: "
        "that service responded, or a service with its texts."
    )


def _messages(exchanges: Iterable[Exchange]) -> Iterator[str]:
    """Yield the different messages of error responses."""
    known: set[str] = set()
    for exchange in exchanges:
        response = exchange.received
        if response is None or response.status < ERRORS_FROM:
            continue
        error = object_in(response.body).get("error")
        text = error.get("message") if isinstance(error, dict) else None
        if isinstance(text, str) and len(text) <= _LONGEST and text not in known:
            known.add(text)
            yield text


@cache
def _sentences() -> tuple[re.Pattern[str], ...]:
    """Return the sentences in the source of the reference service, with any text for what it fills in."""
    trees = (ast.parse(path.read_text("utf-8")) for path in sorted(Path(__file__).parent.glob("*.py")))
    found = (
        _pattern(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)
    )
    return tuple(re.compile(pattern, re.DOTALL) for pattern in dict.fromkeys(found) if pattern)


def _pattern(node: ast.Constant | ast.JoinedStr) -> str | None:
    """Return the pattern of a sentence that begins and ends with its own words; None for another text."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    first, last = (texts[0], texts[-1]) if texts else (None, None)
    if not isinstance(first, str) or not isinstance(last, str) or not first[:1].isupper() or not last.endswith("."):
        return None
    return "".join(".+" if text is None else re.escape(str(text)) for text in texts) if " " in first else None
