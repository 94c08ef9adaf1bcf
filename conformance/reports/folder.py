"""The folder of a run: what it may hold when the run begins, and every output, put in place whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.catalogue import load_catalogue
from conformance.reports.badge import badge_bytes
from conformance.reports.ctrf import ctrf_bytes
from conformance.reports.earl import earl_bytes
from conformance.reports.har import har_pieces
from conformance.reports.html import html_bytes
from conformance.reports.junit import junit_bytes
from conformance.reports.last_scan import LastScan
from conformance.reports.markdown import markdown_bytes
from conformance.reports.model import report_bytes
from conformance.reports.placing import place
from conformance.reports.sealing import ENVELOPE, PAGE, PROVISIONED, sealed
from conformance.reports.wording import SCRIPT, script_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor

    Content = Callable[[], Iterable[bytes]]

JOURNAL: Final = "journal.jsonl"
REPORT: Final = "report.json"
EXCHANGES: Final = "exchanges.har"
LOG: Final = "provisioner.log"
ERRORS: Final = "errors.log"
_RENDERED: Final[Mapping[str, Callable[[Report, Sequence[Exchange]], bytes]]] = {
    REPORT: lambda report, _: report_bytes(report),
    "report.html": html_bytes,
    "junit.xml": lambda report, _: junit_bytes(report),
    "summary.md": lambda report, _: markdown_bytes(report),
    "earl.jsonld": lambda report, _: earl_bytes(report),
    "ctrf.json": lambda report, _: ctrf_bytes(report),
    "badge.svg": lambda report, _: badge_bytes(report),
}
OUTPUTS: Final = (*_RENDERED, EXCHANGES, PROVISIONED, LOG, ERRORS)
"""Every file that a run writes, but for scripts and the journal, which it writes from its beginning on."""

_OURS: Final = re.compile(rb'\s*\{\s*"format":\s*"conformance-(?:report|journal)/')
_HEAD: Final = 200
_NUMBER: Final = re.compile(r"-\d+$")


class FolderError(Exception):
    """A run cannot write its outputs into the folder; the message is one plain sentence."""


def ensure_free(folder: Path) -> None:
    """Make sure that a run may write into a folder and replace what lies there.

    Raises:
        FolderError: There is a certificate, or a file of the name of an output that no run wrote.
    """
    there = [name for name in (ENVELOPE, PAGE, *OUTPUTS, *_scripts(folder)) if os.path.lexists(folder / name)]
    if there and there[0] in {ENVELOPE, PAGE}:
        raise FolderError(f"{folder} holds a certificate, {there[0]}: name another folder with --report.")
    is_of_a_run = any(_is_ours(folder / name) for name in (REPORT, JOURNAL))
    foreign = [name for name in there if not (is_of_a_run and (folder / name).is_file())]
    if foreign:
        raise FolderError(f"{folder} holds {foreign[0]}, which no run wrote: name another folder with --report.")


def remove_outputs(folder: Path) -> None:
    """Remove the outputs of an earlier run, lest they be taken for those of a run that ends before it writes its own.

    Raises:
        FolderError: One of them cannot be removed.
    """
    for name in (*OUTPUTS, *_scripts(folder)):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise FolderError(f"{folder / name} cannot be removed: {error.strerror}.") from None


def outputs(report: Report, exchanges: Sequence[Exchange]) -> Mapping[str, Content]:
    """Every output of a run by its file name; the content is made in pieces each time that it is asked for.

    Args:
        report: The finished run.
        exchanges: Its exchanges.
    """
    rendered = {name: render(report, exchanges) for name, render in _RENDERED.items()}
    pieces: dict[str, Content] = {name: partial(iter, (data,)) for name, data in rendered.items()}
    for requirement in report["requirements"]:
        for failure in requirement["failures"]:
            if (name := script_name(requirement, failure)) is not None:
                pieces[name] = partial(iter, ((failure.get("script") or "").encode("utf-8", "replace"),))
    return {**pieces, EXCHANGES: partial(har_pieces, exchanges)}


def write_all(
    report: Report,
    exchanges: Sequence[Exchange],
    folder: Path,
    redactor: Redactor,
    notes: Sequence[bytes] = (),
    log: str = "",
) -> Mapping[str, set[str]]:
    """Write every output of a run, each whole or not at all.

    The archive of a long run is large: each output is made once, searched for secrets and written piece by piece, and
    gets its name only when all of them have been.

    Args:
        report: The finished run.
        exchanges: Its exchanges, as they were recorded; secrets that became known later are taken out here.
        folder: Where to write; made if it is not there. A journal that lies there is searched too.
        redactor: Knows the secrets.
        notes: What its checks were told beside HTTP, as lines.
        log: What the provisioner wrote to its stderr; no file is made of nothing.

    Returns:
        The names of the secrets that rendered outputs would still have shown, by the output; they were taken out.

    Raises:
        InvalidReport: The report breaks its schema; nothing was written.
        OSError: A file could not be written.
    """
    contents, digests = dict(outputs(report, [one.without_secrets(redactor) for one in exchanges])), dict[str, str]()
    if notes:
        contents[PROVISIONED] = partial(sealed, notes, digests)  # after the files whose digests it holds
    if log:
        contents[LOG] = partial(iter, (log.encode("utf-8", "replace"),))
    scan = LastScan(redactor)

    def pieces(name: str) -> Iterator[bytes]:
        digest = hashlib.sha256()
        for piece in scan.through(name, contents[name]()):
            digest.update(piece)
            yield piece
        digests[name] = digest.hexdigest()

    folder.mkdir(parents=True, exist_ok=True)
    place({folder / name: partial(pieces, name) for name in contents})
    _search_journal(folder / JOURNAL, scan)
    return scan.found


def _scripts(folder: Path) -> list[str]:
    """The scripts of runs that lie in a folder."""
    known = load_catalogue().requirements
    stems = {path.name: path.stem.removeprefix(SCRIPT) for path in folder.glob(f"{SCRIPT}*.sh")}
    return sorted(name for name, stem in stems.items() if stem in known or _NUMBER.sub("", stem) in known)


def _search_journal(path: Path, scan: LastScan) -> None:
    """Take secrets out of the journal, which others wrote during the run."""
    if path.is_file():
        data = path.read_bytes()
        clean = b"".join(scan.through(JOURNAL, [data]))
        if clean != data:
            place({path: lambda: [clean]})


def _is_ours(path: Path) -> bool:
    """Whether a run wrote this report or journal, as far as it can be read."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return _OURS.match(stream.read(_HEAD)) is not None
    except OSError:
        return False
