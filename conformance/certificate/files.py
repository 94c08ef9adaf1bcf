"""Digests of the files in a run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.files import file_sha256
from conformance.reports.sealing import ENVELOPE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class FolderError(Exception):
    """The folder cannot be certified or verified; the message is one plain sentence."""


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 digests of all files in a folder except the envelope, sorted by their relative paths.

    Raises:
        FolderError: It contains something other than files and folders, or a file cannot be read.
    """
    try:
        paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
        for path in paths:
            if path.is_symlink() or not path.is_file():
                raise FolderError(f"{path} is neither a file nor a folder.")
        return {name: file_sha256(path) for path in paths if (name := path.relative_to(folder).as_posix()) != ENVELOPE}
    except OSError as error:
        raise FolderError(f"{error.filename or folder} cannot be read: {error.strerror}.") from error
    except RecursionError:
        raise FolderError(f"{folder} has too deeply nested folders.") from None


def changes(signed: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the changes since signing, a clause each."""
    added = [f"{name} was added" for name in found if name not in signed]
    removed = [f"{name} is missing" for name in signed if name not in found]
    changed = [f"{name} was changed" for name in signed if name in found and found[name] != signed[name]]
    return [*changed, *removed, *added]
