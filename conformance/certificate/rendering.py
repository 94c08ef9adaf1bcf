"""Files of a run's folder, rendered again from its report and its exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.files import file_sha256
from conformance.reports.folder import ERRORS, LOG, outputs
from conformance.reports.sealing import ENVELOPE, EXCHANGES, PAGE, PROVISIONED, REPORT, sha256
from conformance.targets.journal_file import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from conformance.replay.recording import Recording

_BESIDE: Final = frozenset({JOURNAL, PROVISIONED, LOG, ERRORS, PAGE, ENVELOPE})
"""The files of a run that are not rendered from its report and exchanges."""
RECORDED: Final = frozenset({REPORT, EXCHANGES})
"""The rendered files whose bytes no library decides."""


def rendered(recording: Recording) -> dict[str, str]:
    """Return the SHA-256 digests of the files that a run's report and exchanges give, by name."""
    return {name: sha256(pieces()) for name, pieces in outputs(recording.report, recording.exchanges).items()}


def unlike(again: Mapping[str, str], folder: Path) -> list[str]:
    """Return the names of the files that are missing or not as they are rendered.

    Args:
        again: The digests of the rendered files.
        folder: The folder.

    Raises:
        OSError: A file cannot be read.
    """
    return [
        name for name, digest in again.items() if not (folder / name).is_file() or file_sha256(folder / name) != digest
    ]


def foreign(names: Iterable[str], again: Iterable[str]) -> list[str]:
    """Return the names of files that no run writes.

    Args:
        names: The names of the files of a folder.
        again: The names of the rendered files.
    """
    known = _BESIDE.union(again)
    return [name for name in names if name not in known]
