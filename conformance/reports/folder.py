"""The folder of a run: every output made, searched for secrets, and only then put in place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.reports.badge import badge_bytes
from conformance.reports.ctrf import ctrf_bytes
from conformance.reports.earl import earl_bytes
from conformance.reports.har import har_pieces
from conformance.reports.html import html_bytes
from conformance.reports.junit import junit_bytes
from conformance.reports.markdown import markdown_bytes
from conformance.reports.model import report_bytes
from conformance.reports.placing import place
from conformance.reports.sealing import ENVELOPE, PAGE, PROVISIONED, SEALED, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange

    Content = Callable[[], Iterable[bytes]]

JOURNAL: Final = "journal.jsonl"
LOG: Final = "provisioner.log"
_OF_SOME_RUNS: Final = frozenset({LOG, PROVISIONED, ENVELOPE, PAGE})
"""Outputs that would be of an earlier run where this one has none."""


class SecretFound(Exception):
    """An output would have told a secret; nothing was written.

    Attributes:
        names: The names of the secrets.
        file: The output that would have told them first.
    """

    def __init__(self, names: Sequence[str], file: str) -> None:
        super().__init__(f"{file} would have told {', '.join(names)}; nothing was written")
        self.names = tuple(names)
        self.file = file


def outputs(report: Report, exchanges: Sequence[Exchange], notes: Sequence[bytes] = ()) -> Mapping[str, Content]:
    """Every output of a run by its file name; the content is made in pieces each time that it is asked for.

    Args:
        report: The finished run.
        exchanges: Its exchanges.
        notes: What its checks were told beside HTTP, as lines; without any the run cannot be judged again.
    """
    rendered = {
        "report.json": report_bytes(report),
        "report.html": html_bytes(report, exchanges),
        "junit.xml": junit_bytes(report),
        "summary.md": markdown_bytes(report),
        "earl.jsonld": earl_bytes(report),
        "ctrf.json": ctrf_bytes(report),
        "badge.svg": badge_bytes(report),
    }
    pieces: dict[str, Content] = {name: partial(iter, (data,)) for name, data in rendered.items()}
    pieces["exchanges.har"] = partial(har_pieces, exchanges)
    if notes:
        pieces[PROVISIONED] = partial(sealed, notes, {name: pieces[name] for name in SEALED})
    return pieces


def write_all(
    report: Report,
    exchanges: Sequence[Exchange],
    folder: Path,
    redactor_scan: Callable[[bytes], Sequence[str]],
    notes: Sequence[bytes] = (),
    log: str = "",
) -> list[Path]:
    """Write every output of a run, each whole or not at all; what an earlier run has left there goes.

    Args:
        report: The finished run.
        exchanges: Its exchanges, already redacted.
        folder: Where to write; made if it is not there. A journal that lies there is searched too.
        redactor_scan: Gives the names of the secrets that some bytes tell.
        notes: What its checks were told beside HTTP, as lines.
        log: What the provisioner wrote to its stderr; no file is made of nothing.

    Returns:
        The files written.

    Raises:
        SecretFound: An output would tell a secret; nothing was written.
        InvalidReport: The report breaks its schema; nothing was written.
        OSError: A file could not be written.
    """
    contents = dict(outputs(report, exchanges, notes))
    if log:
        contents[LOG] = partial(iter, (log.encode("utf-8", "replace"),))
    for name, content in contents.items():
        _search(name, content(), redactor_scan)
    journal = folder / JOURNAL
    if journal.is_file():
        _search(JOURNAL, [journal.read_bytes()], redactor_scan)
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / name: content for name, content in contents.items()}
    place(files)
    for name in _OF_SOME_RUNS - contents.keys():
        (folder / name).unlink(missing_ok=True)
    return list(files)


def _search(name: str, pieces: Iterable[bytes], redactor_scan: Callable[[bytes], Sequence[str]]) -> None:
    found = sorted({secret for piece in pieces for secret in redactor_scan(piece)})
    if found:
        raise SecretFound(found, name)
