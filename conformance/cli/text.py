"""Text of a target on a terminal: nothing in it may act there."""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from typing import IO, Final, cast

import click
from rich.console import Console
from rich.text import Text

_LONGEST_SENTENCE: Final = 1000
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 400) -> str:
    """Text in one line without characters that a terminal would obey or hide, cut where it is long."""
    shown = "".join(
        character if unicodedata.category(character) not in _HIDDEN else f"\\u{ord(character):04x}"
        for character in text[:limit].replace("\n", " ")
    )
    return shown if len(text) <= limit else f"{shown}... ({len(text)} characters)"


def plain(text: str, style: str = "", limit: int = 400) -> Text:
    """Text for rich, in which no markup is looked for."""
    return Text(printable(text, limit), style=style)


_UNBOUNDED: Final = 10_000
"""Columns of what is no terminal: no line is wrapped there."""


class _Trimmed(io.TextIOBase):
    """stdout without blanks at the ends of lines."""

    def write(self, text: str, /) -> int:
        """Write a text of whole lines."""
        sys.stdout.write(re.sub(r" +$", "", text, flags=re.MULTILINE))
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        sys.stdout.flush()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # of which the base class says nothing
        """That of stdout, which may lack characters."""
        return sys.stdout.encoding


def open_console(*, soft_wrap: bool = False) -> Console:
    """Return a console on stdout; if that is no terminal, its lines are as long as they need be.

    Args:
        soft_wrap: Whether a terminal wraps long lines by itself.
    """
    if sys.stdout.isatty():
        return Console(file=sys.stdout, highlight=False, soft_wrap=soft_wrap)
    return Console(file=cast("IO[str]", _Trimmed()), highlight=False, width=_UNBOUNDED)


def complain(sentence: object, limit: int = _LONGEST_SENTENCE) -> None:
    """Say on stderr what is wrong; a file or a target may have words in it."""
    click.echo(printable(str(sentence), limit), err=True)


def usage_error(error: Exception) -> click.UsageError:
    """The usage error that says what another error says."""
    return click.UsageError(printable(str(error), limit=_LONGEST_SENTENCE))
