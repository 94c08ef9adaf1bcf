"""The folder of a run: every output made, searched for secrets, and only then put in place."""

from __future__ import annotations

import hashlib
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
from conformance.reports.sealing import ENVELOPE, PAGE, PROVISIONED, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def outputs(report: Report, exchanges: Sequence[Exchange]) -> Mapping[str, Content]:
    """Every output of a run by its file name; the content is made in pieces each time that it is asked for.

    Args:
        report: The finished run.
        exchanges: Its exchanges.
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
    return {**pieces, "exchanges.har": partial(har_pieces, exchanges)}


def write_all(
    report: Report,
    exchanges: Sequence[Exchange],
    folder: Path,
    redactor_scan: Callable[[bytes], Sequence[str]],
    notes: Sequence[bytes] = (),
    log: str = "",
) -> list[Path]:
    """Write every output of a run, each whole or not at all; what an earlier run has left there goes.

    The archive of a long run is large: each output is made once, searched and written piece by piece, and gets its
    name only when all of them have been.

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
    contents, digests = dict(outputs(report, exchanges)), dict[str, str]()
    if notes:
        contents[PROVISIONED] = partial(sealed, notes, digests)  # after the files whose digests it holds
    if log:
        contents[LOG] = partial(iter, (log.encode("utf-8", "replace"),))
    journal = folder / JOURNAL
    if journal.is_file():
        for _ in _searched(JOURNAL, [journal.read_bytes()], redactor_scan):
            pass

    def pieces(name: str) -> Iterator[bytes]:
        digest = hashlib.sha256()
        for piece in _searched(name, contents[name](), redactor_scan):
            digest.update(piece)
            yield piece
        digests[name] = digest.hexdigest()

    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / name: partial(pieces, name) for name in contents}
    place(files)
    for name in _OF_SOME_RUNS - contents.keys():
        (folder / name).unlink(missing_ok=True)
    return list(files)


def _searched(name: str, pieces: Iterable[bytes], redactor_scan: Callable[[bytes], Sequence[str]]) -> Iterator[bytes]:
    """The pieces of an output, up to the first one that tells a secret.

    Raises:
        SecretFound: There is one; all of them have been searched.
    """
    found: set[str] = set()
    for piece in pieces:
        found.update(redactor_scan(piece))
        if not found:
            yield piece
    if found:
        raise SecretFound(sorted(found), name)
