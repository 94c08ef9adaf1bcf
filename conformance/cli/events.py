"""Events of a run: a line of JSON for each, for programs that follow it."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import click

from conformance.cli.output import UnbreakableStream
from conformance.cli.progress import waits_for
from conformance.cli.text import printable
from conformance.reports.outcome import Outcome, of_checks
from conformance.reports.text import json_bytes, with_texts
from conformance.reports.wording import chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    from conformance.cli.progress import ProgressDisplay
    from conformance.reports.model import Report
    from conformance.running.run_session import RunSession
    from conformance.verdicts.results import CheckResult

FORMAT: Final = "conformance-events/1"
STDOUT: Final = Path("-")
_EVERY: Final = 5.0
"""Seconds between two events of progress."""
_LIMIT: Final = 1_000


class EventLog:
    """The events of a run, written to a file inside a ``with``; with stdout as the file, other output goes to stderr.

    Args:
        path: The file, ``STDOUT``, or None to write nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stack = ExitStack()
        self._stream: UnbreakableStream | None = None
        self._lock = threading.Lock()
        self._decided: set[str] = set()
        self._facts: dict[str, object] = {"verdict": None, "requests": 0, "report": None}
        self._redacted: Callable[[str], str] = str

    def __enter__(self) -> Self:
        """Open the file.

        Raises:
            click.UsageError: It cannot be opened.
        """
        if self._path == STDOUT:
            self._stream = UnbreakableStream(sys.stdout)
            self._stack.enter_context(redirect_stdout(sys.stderr))
        elif self._path is not None:
            try:
                self._stream = UnbreakableStream(
                    self._stack.enter_context(self._path.open("w", encoding="utf-8", newline="\n"))
                )
            except OSError as error:
                name = click.format_filename(self._path)
                raise click.UsageError(f"{name} cannot be written: {error.strerror}.") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def follow(self, session: RunSession, shown: ProgressDisplay) -> ProgressDisplay:
        """Return a progress display that also writes events; the same one if there is no file."""
        if self._stream is None:
            return shown
        run, self._redacted = session.run, session.redactor.text
        self._facts["report"] = str(session.folder)
        self.write(
            "started",
            format=FORMAT,
            target=run.profile.name,
            base_url=run.profile.base_url,
            mode=run.mode.value,
            effort=run.options.effort.value,
            seed=run.options.seed,
            report=self._facts["report"],
        )
        return _Followed(self, session, shown)

    def write(self, event: str, **facts: object) -> None:
        """Write an event with its time; every text is redacted."""
        if self._stream is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        shown = with_texts({"event": event, "time": now, **facts}, self._redacted)
        line = json_bytes(shown).decode().replace("##", "#\\u0023")  # which pipelines would take for a command
        with self._lock:
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def decided(self, requirement: str, outcome: str, message: str | None, exchanges: Iterable[int]) -> None:
        """Write the outcome of a requirement, unless it has been written."""
        if requirement not in self._decided:
            self._decided.add(requirement)
            text = printable(message, _LIMIT) if message else None
            self.write(
                "decided", requirement=requirement, outcome=outcome, message=text, exchanges=sorted(set(exchanges))
            )

    def built(self, report: Report) -> None:
        """Write the outcomes of a report that were not written while the run went on."""
        self._facts |= {"verdict": report["verdict"], "requests": report["run"]["requests"]}
        for entry in chosen(report):
            failure = entry["failures"][0] if entry["failures"] else None
            message, exchanges = (failure["message"], failure["exchanges"]) if failure else (entry["reason"], [])
            self.decided(entry["id"], entry["outcome"], message, exchanges)

    def finished(self, status: int, reason: str) -> None:
        """Write the end of the run: its exit status, and the reason if that is not 0."""
        self.write("finished", status=status, reason=printable(reason, _LIMIT) if status else None, **self._facts)


class _Followed:
    """A progress display that also writes events."""

    def __init__(self, log: EventLog, session: RunSession, shown: ProgressDisplay) -> None:
        self.began, self.undoing = shown.began, shown.undoing
        self._log = log
        self._run = session.run
        self._shown = shown
        self._open: dict[str, int] = {}
        self._results: dict[str, list[CheckResult]] = {}
        self._total = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._report_regularly, name="events", daemon=True)

    def __enter__(self) -> Self:
        self._shown.__enter__()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._shown.__exit__(kind, error, trace)

    def planned(self, requirements: Sequence[str]) -> None:
        """Count the checks of each requirement."""
        self._shown.planned(requirements)
        self._total = len(requirements)
        for requirement in requirements:
            self._open[requirement] = self._open.get(requirement, 0) + 1
        self._progress()

    def ended(self, result: CheckResult) -> None:
        """Write the outcome of a requirement at its first failure, or after its last check."""
        self._shown.ended(result)
        name = result.requirement
        results = self._results.setdefault(name, [])
        results.append(result)
        outcome = of_checks([each.outcome for each in results])
        if outcome is Outcome.FAILED or len(results) == self._open.get(name):
            found = next(each for each in results if each.outcome is outcome)
            message = found.failure.message if found.failure else found.reason
            cited = found.failure.exchanges if found.failure else ()
            self._log.decided(name, outcome.value, message, (exchange.number for exchange in cited))

    def _report_regularly(self) -> None:
        while not self._over.wait(_EVERY):
            self._progress()

    def _progress(self) -> None:
        done = sum(map(len, list(self._results.values())))
        self._log.write(
            "progress", requests=self._run.wire.sent, checks=done, of=self._total, waiting=waits_for(self._run)
        )
