"""The folder of a run: its permitted content at the start, and the atomic writing of all outputs."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from conformance.catalogue import load_catalogue
from conformance.reports.atomic_files import place
from conformance.reports.formats import FROM_BOTH, FROM_REPORT
from conformance.reports.har import har_pieces
from conformance.reports.last_scan import LastScan
from conformance.reports.sealing import ENVELOPE, EXCHANGES, PAGE, PROVISIONED, REPORT, sealed
from conformance.reports.wording import REPRODUCE, reproductions
from conformance.targets.journal_file import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange
    from conformance.wire.redaction import Redactor

    Content = Callable[[], Iterable[bytes]]

LOG: Final = "provisioner.log"
ERRORS: Final = "errors.log"
OUTPUTS: Final = (
    *(name for name, _ in (*FROM_REPORT.values(), *FROM_BOTH.values()) if name),
    *(EXCHANGES, PROVISIONED, LOG, ERRORS),
)
"""Every file that a run writes, except those that reproduce failures and the journal, written during the run."""

_OURS: Final = re.compile(rb'\s*\{\s*"format":\s*"conformance-(?:report|journal)/')
_HEAD: Final = 200
_NUMBER: Final = re.compile(r"-\d+$")


class FolderError(Exception):
    """A run cannot write its outputs into the folder; the message is one plain sentence."""


def ensure_free(folder: Path) -> None:
    """Ensure that a run may write into a folder and replace its files.

    Raises:
        FolderError: The folder contains a certificate, or a file with an output's name that no run wrote, or the files
            that reproduce failures would be written elsewhere.
    """
    if (folder / REPRODUCE).is_symlink():
        raise FolderError(f"{folder / REPRODUCE} is a symbolic link: name another folder with --report.")
    there = [name for name in (ENVELOPE, PAGE, *OUTPUTS, *_reproductions(folder)) if os.path.lexists(folder / name)]
    if there and there[0] in {ENVELOPE, PAGE}:
        raise FolderError(f"{folder} holds a certificate, {there[0]}: name another folder with --report.")
    is_of_a_run = any(_is_of_a_run(folder / name) for name in (REPORT, JOURNAL))
    foreign = [name for name in there if not (is_of_a_run and (folder / name).is_file())]
    if foreign:
        raise FolderError(f"{folder} holds {foreign[0]}, which no run wrote: name another folder with --report.")


def remove_outputs(folder: Path) -> None:
    """Remove the outputs of an earlier run, in case the new run ends before it writes its own.

    Raises:
        FolderError: An output cannot be removed.
    """
    for name in (*OUTPUTS, *_reproductions(folder)):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise FolderError(f"{folder / name} cannot be removed: {error.strerror}.") from None
    with suppress(OSError):  # it holds other files, or does not exist
        (folder / REPRODUCE).rmdir()


def outputs(report: Report, exchanges: Sequence[Exchange]) -> Mapping[str, Content]:
    """Return every output of a run by its file name; each call of an entry makes its content in pieces."""
    rendered = {name: render(report) for name, render in FROM_REPORT.values() if name}
    rendered |= {name: render(report, exchanges) for name, render in FROM_BOTH.values() if name}
    pieces: dict[str, Content] = {name: partial(iter, (data,)) for name, data in rendered.items()}
    for requirement in report["requirements"]:
        for failure in requirement["failures"]:
            for name, content in reproductions(requirement, failure).items():
                pieces[name] = partial(iter, (content.encode("utf-8", "replace"),))
    return {**pieces, EXCHANGES: partial(har_pieces, exchanges)}


def write_all(
    report: Report,
    exchanges: Sequence[Exchange],
    folder: Path,
    redactor: Redactor,
    inputs: Sequence[bytes] = (),
    log: str = "",
) -> Mapping[str, set[str]]:
    """Write every output of a run atomically.

    The archive of a long run is large. Each output is therefore made once, searched for secrets and written piece by
    piece. The files get their names only after all of them are written.

    Args:
        report: The finished run.
        exchanges: Its exchanges as recorded; secrets that became known later are redacted here.
        folder: The folder to write to, created if missing. An existing journal in it is searched too.
        redactor: The redactor, which knows the secrets.
        inputs: The recorded inputs of the run, as lines: those of its checks that are not exchanges.
        log: The stderr of the provisioner; no file is written if it is empty.

    Returns:
        The names of the secrets that outputs would still have shown, by output; they were redacted.

    Raises:
        InvalidReport: The report breaks its schema; nothing was written.
        OSError: A file could not be written.
    """
    contents, digests = (
        dict(outputs(report, [exchange.without_secrets(redactor) for exchange in exchanges])),
        dict[str, str](),
    )
    if inputs:
        contents[PROVISIONED] = partial(sealed, inputs, digests)  # after the files whose digests it contains
    if log:
        contents[LOG] = partial(iter, (log.encode("utf-8", "replace"),))
    scan = LastScan(redactor)

    def pieces(name: str) -> Iterator[bytes]:
        digest = hashlib.sha256()
        for piece in scan.through(name, contents[name]()):
            digest.update(piece)
            yield piece
        digests[name] = digest.hexdigest()

    for parent in {folder, *((folder / name).parent for name in contents)}:
        parent.mkdir(parents=True, exist_ok=True)
    place({folder / name: partial(pieces, name) for name in contents})
    _search_journal(folder / JOURNAL, scan)
    return scan.found


def _reproductions(folder: Path) -> list[str]:
    """Return the paths, in a folder, of the scripts and pytest files of runs."""
    known = load_catalogue().requirements
    paths = [path for path in (folder / REPRODUCE).glob("*") if path.suffix in {".sh", ".py"}]
    stems = {path.name: path.stem.removeprefix("test_") for path in paths}
    return sorted(
        f"{REPRODUCE}/{name}" for name, stem in stems.items() if stem in known or _NUMBER.sub("", stem) in known
    )


def _search_journal(path: Path, scan: LastScan) -> None:
    """Redact secrets in the journal, which other modules wrote during the run."""
    if path.is_file():
        data = path.read_bytes()
        clean = b"".join(scan.through(JOURNAL, [data]))
        if clean != data:
            place({path: clean})


def _is_of_a_run(path: Path) -> bool:
    """Whether a run wrote this report or journal; False if it cannot be read."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            return _OURS.match(stream.read(_HEAD)) is not None
    except OSError:
        return False
