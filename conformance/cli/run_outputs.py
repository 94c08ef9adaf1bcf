"""Outputs of a run, with pseudonyms if people are masked."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from conformance.cli.text import complain
from conformance.replay.recorded_inputs_file import input_lines
from conformance.reports.atomic_files import place
from conformance.reports.folder import ERRORS, write_all
from conformance.reports.model import InvalidReport, report_bytes
from conformance.reports.sealing import REPORT
from conformance.reports.text import with_texts
from conformance.running.pseudonyms import Pseudonyms
from conformance.targets.journal_file import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reports.model import Report
    from conformance.running.run_session import RunSession
    from conformance.wire.exchange import Exchange


def is_masked(session: RunSession) -> bool:
    """Whether outputs show pseudonyms: as the options say, or else the target file."""
    chosen = session.options.mask_people
    return session.profile.mask_people if chosen is None else chosen


class RunOutputs:
    """The outputs of a run that has been undone."""

    def __init__(self, session: RunSession) -> None:
        self._session = session
        self._pseudonyms: Pseudonyms | None = None
        if is_masked(session):
            run = session.run
            self._pseudonyms = Pseudonyms(run.wire.exchanges, session.inputs.lines, run.names)

    def masked(self, report: Report) -> Report:
        """Return a report as outputs show it."""
        return report if self._pseudonyms is None else cast("Report", with_texts(report, self._pseudonyms.text))

    def exchanges(self) -> Sequence[Exchange]:
        """Return the exchanges of the run as outputs show them."""
        exchanges = self._session.run.wire.exchanges
        return (
            exchanges if self._pseudonyms is None else [self._pseudonyms.exchange(exchange) for exchange in exchanges]
        )

    def log(self, errors: Sequence[str]) -> bool:
        """Write the suite's own errors to a file for its developers; return whether that succeeded."""
        text = self._session.redactor.text("\n\n".join(errors))
        data = (text if self._pseudonyms is None else self._pseudonyms.prose(text)).encode(errors="replace")
        try:
            place({self._session.folder / ERRORS: data})
        except OSError:
            return False
        return True

    def write(self, report: Report, exchanges: Sequence[Exchange]) -> bool:
        """Write the outputs, with the report and the exchanges as outputs show them; return whether that succeeded."""
        session, pseudonyms = self._session, self._pseudonyms
        lines, log, journal = session.inputs.lines, session.log.text(), session.run.journal
        try:
            if pseudonyms is not None:
                lines = [pseudonyms.line(line) for line in lines]
                log = pseudonyms.prose(log)
            inputs = input_lines(session.run, lines, session.redactor.text, session.certificate)
            taken_out = write_all(report, exchanges, session.folder, session.redactor, inputs, log)
            if pseudonyms is not None and not journal.is_lost:
                content = journal.changed(pseudonyms.text)
                place({session.folder / JOURNAL: content})
        except OSError as error:
            complain(f"The report cannot be written to {session.folder}: {error.strerror}.")
            return False
        except Exception as error:  # noqa: BLE001 - no error may lose the results
            complain(f"The suite itself failed while writing the report: {type(error).__name__}.")
            self._write_report_alone(report)
            return False
        if taken_out:
            places = "; ".join(f"{', '.join(sorted(names))} in {output}" for output, names in taken_out.items())
            complain(f"The last scan found secrets in outputs and removed them: {places}.")
        return True

    def _write_report_alone(self, report: Report) -> None:
        """Write report.json alone after another output failed."""
        path = self._session.folder / REPORT
        with suppress(InvalidReport, OSError):
            data = report_bytes(report)
            if not self._session.redactor.find(data):
                place({path: data})
                complain(f"Only {path} was written.")
