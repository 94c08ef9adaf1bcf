"""Digests of the files in a run's folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.files import file_sha256
from conformance.reports.sealing import ENVELOPE, TIME_STAMP, WITNESS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


_OF_SYSTEMS: Final = re.compile(r"(?:.*/)?(?:\.DS_Store|\._[^/]*|\.directory|Thumbs\.db|desktop\.ini)")


class UncertifiableFolder(Exception):
    """The folder cannot be certified or verified; the message is one plain sentence."""


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 digests of a folder's files by their relative paths, in order.

    The envelope, its time stamp, its witness and the files that file managers write are left out.

    Raises:
        UncertifiableFolder: It contains something other than files and folders, or a file cannot be read.
    """
    try:
        paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
        for path in paths:
            if path.is_symlink() or not path.is_file():
                raise UncertifiableFolder(f"{path} is neither a file nor a folder.")
        named = {path.relative_to(folder).as_posix(): path for path in paths}
        return {
            name: file_sha256(path)
            for name, path in named.items()
            if name not in {ENVELOPE, TIME_STAMP, WITNESS} and not _is_of_a_system(name)
        }
    except OSError as error:
        raise UncertifiableFolder(f"{error.filename or folder} cannot be read: {error.strerror}.") from error
    except RecursionError:
        raise UncertifiableFolder(f"{folder} has too deeply nested folders.") from None


def ignored(folder: Path) -> list[str]:
    """Return the files of a folder that file managers wrote into it, which no certificate is about."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return [name for name in names if _is_of_a_system(name)]


def _is_of_a_system(name: str) -> bool:
    """Whether file managers write files of this name into any folder."""
    return _OF_SYSTEMS.fullmatch(name) is not None


def changes(signed: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the changes since signing, a clause each."""
    added = [f"{name} was added" for name in found if name not in signed]
    removed = [f"{name} is missing" for name in signed if name not in found]
    changed = [f"{name} was changed" for name in signed if name in found and found[name] != signed[name]]
    return [*changed, *removed, *added]
