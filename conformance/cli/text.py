"""Safe output of a target's text on a terminal."""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from typing import IO, Any, Final, cast

import click
from rich.console import Console
from rich.text import Text

_LONGEST_SENTENCE: Final = 1000
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str, limit: int = 400) -> str:
    """Return text in a single line, without control and invisible characters, cut at a limit."""
    shown = "".join(
        character if unicodedata.category(character) not in _HIDDEN else f"\\u{ord(character):04x}"
        for character in text[:limit].replace("\n", " ")
    )
    return shown if len(text) <= limit else f"{shown}... ({len(text)} characters)"


def plain(text: str, style: str = "", limit: int = 400) -> Text:
    """Return printable text for rich, without markup."""
    return Text(printable(text, limit), style=style)


_UNBOUNDED: Final = 10_000
"""Columns if stdout is no terminal, so that no line is wrapped."""


class _Trimmed(io.TextIOBase):
    """stdout without spaces at the ends of lines."""

    def write(self, text: str, /) -> int:
        """Write whole lines."""
        sys.stdout.write(re.sub(r" +$", "", text, flags=re.MULTILINE))
        return len(text)

    def flush(self) -> None:
        """Flush stdout."""
        sys.stdout.flush()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class does not declare the type
        """The encoding of stdout, which may lack characters."""
        return sys.stdout.encoding


def open_console(*, soft_wrap: bool = False) -> Console:
    """Return a console on stdout, with the colors of ``--color``; if it is no terminal, lines are not wrapped.

    Args:
        soft_wrap: Whether the terminal wraps long lines itself.
    """
    context = click.get_current_context(silent=True)
    chosen = None if context is None else context.color
    colors: dict[str, Any] = (
        {} if chosen is None else {"no_color": False, "color_system": "standard" if chosen else None}
    )
    if sys.stdout.isatty():
        return Console(file=sys.stdout, highlight=False, soft_wrap=soft_wrap, **colors)
    return Console(file=cast("IO[str]", _Trimmed()), highlight=False, width=_UNBOUNDED, **colors)


def complain(sentence: object, limit: int = _LONGEST_SENTENCE) -> None:
    """Print a sentence on stderr; unprintable characters of files and targets are escaped."""
    click.echo(printable(str(sentence), limit), err=True)


def usage_error(error: Exception) -> click.UsageError:
    """Return a usage error with the message of another error."""
    return click.UsageError(printable(str(error), limit=_LONGEST_SENTENCE))
