"""Which suite this is: its version and the digest of its files."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent
_APART: Final = "openapi.yaml"
"""Has a digest of its own, and lies beside the package in a checkout."""


@cache
def suite_sha256() -> str:
    """The SHA-256 digest, in hexadecimal, of a list of the package's files, each line a file's digest and its path.

    It is what ``sha256sum`` over the sorted files gives when its output is digested again.
    """
    return _digest(_files())


@cache
def catalogue_sha256() -> str:
    """The same of the catalogue's files, which say what a service is judged by."""
    return _digest({name: path for name, path in _files().items() if name.startswith("catalogue/data/")})


def _digest(files: dict[str, Path]) -> str:
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _files() -> dict[str, Path]:
    found = {path.relative_to(_PACKAGE).as_posix(): path for path in _PACKAGE.rglob("*") if path.is_file()}
    return {
        name: path
        for name, path in found.items()
        if "__pycache__" not in path.parts and path.suffix != ".pyc" and name != _APART
    }
