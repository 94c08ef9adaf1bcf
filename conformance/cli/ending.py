"""Exit status of a run and the last line that explains it."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from conformance.catalogue import CLASSES
from conformance.cli.text import complain, plain
from conformance.exits import Exit
from conformance.reports.limits import broken_limits
from conformance.reports.wording import chosen, counted, excuse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rich.console import Console

    from conformance.reports.model import Report, Requirement

_SHOWN: Final = 3
"""Names in the last line."""

_LONGEST: Final = 10_000
"""Characters of the last line, which may name long paths."""


class ReasonedCommand(click.Command):
    """A command whose last line says why its exit status is not 0, also after a usage error."""

    def make_context(self, *arguments: object, **more: object) -> click.Context:
        """Read the command line."""
        with _explained_usage_errors():
            return super().make_context(*arguments, **more)  # type: ignore[arg-type]  # as click calls it

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with _explained_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _explained_usage_errors() -> Iterator[None]:
    """End the process with status 2 and the reason if a usage error leaves the ``with`` block."""
    try:
        yield
    except click.UsageError as error:
        click.echo("Try 'conformance run --help' for help.", err=True)
        say_why(Exit.USAGE, error.format_message())
        raise click.exceptions.Exit(Exit.USAGE) from None


def say_why(status: Exit, reason: object, console: Console | None = None) -> Exit:
    """Print the last line of a command that does not end with 0, and return its status.

    Args:
        status: The exit status.
        reason: The reason for it.
        console: The console that shows the line; None for stderr.
    """
    line = f"Exit {int(status)}: {reason}"
    if console is None:
        complain(line, limit=_LONGEST)
    else:
        console.print(plain(line, "bold red", limit=_LONGEST))
    return status


def ending(
    report: Report,
    *,
    reason: str | None,
    strict: bool,
    problems: Collection[str],
) -> tuple[Exit, str]:
    """Return the exit status of a run that no signal ended, and the reason; no text for status 0.

    Args:
        report: The finished run.
        reason: Why the target could not be tested, or how the suite failed; None if neither happened.
        strict: Whether every chosen requirement must be decided.
        problems: Problems of the waiver file, as sentences.
    """
    requirements = chosen(report)
    failed = (entry for entry in requirements if entry["outcome"] == "failed")
    if new := [entry["id"] for entry in failed if excuse(entry) is None]:
        return Exit.FAILED, f"{counted(len(new), 'requirement')} broken ({_some(new)})"
    if reason is not None:
        return Exit.UNTESTABLE, reason
    if "cleanup" in report:
        return Exit.UNTESTABLE, f"{counted(len(report['not_undone']), 'record')} left in the organization"
    if problems:
        return Exit.FAILED, " ".join(problems)
    unjudged = [entry for entry in requirements if entry["outcome"] in {"untested", "cantTell"}]
    reasons = [f"--strict, and {_by_class(unjudged)}"] if strict and unjudged else []
    reasons += broken_limits(report.get("limits", []))
    return (Exit.UNDECIDED, "; ".join(reasons)) if reasons else (Exit.OK, "")


def _some(names: list[str]) -> str:
    """Return the first names of a list and the number of the others."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _by_class(requirements: list[Requirement]) -> str:
    """Return the number of untested and undecided requirements of each class."""
    parts = []
    for outcome, phrase in (("untested", "not tested"), ("cantTell", "undecided")):
        counts = Counter(entry["class"] for entry in requirements if entry["outcome"] == outcome)
        if counts:
            shown = ", ".join(f"{name} {counts[name]}" for name in CLASSES if name in counts)
            parts.append(f"{counted(counts.total(), 'requirement')} {phrase} ({shown})")
    return " and ".join(parts)
