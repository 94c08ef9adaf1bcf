"""The first line of a journal's file, by which a run tells that the file is still its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.target.journal import FILE_NAME

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST: Final = 2**16


def head_of(folder: Path) -> bytes | None:
    """The first line of the journal in a folder, which names its run; None where there is no such file."""
    path = folder / FILE_NAME
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.readline(_LONGEST)
    except OSError:
        return None
