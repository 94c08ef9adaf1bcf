"""Whether a run's journal is still the file that it wrote; a clean-up job, or another run, may have taken it away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.target.journal import FILE_NAME

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_HEAD: Final = 2**16


def is_kept(folder: Path, prefix: str) -> bool:
    """Whether the journal in a folder begins as that of a run does.

    Args:
        folder: The report's folder.
        prefix: What all names of the run begin with.
    """
    path = folder / FILE_NAME
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return prefix.encode() in stream.readline(_LONGEST_HEAD)
    except OSError:
        return False
