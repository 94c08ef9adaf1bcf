"""Digests of the suite's files."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent
_APART: Final = ("commit.txt", "openapi.yaml")
"""Files that differ between a checkout and a wheel of the same commit: openapi.yaml has its own digest."""


@cache
def suite_sha256() -> str:
    """Return the SHA-256 digest, in hexadecimal, of a list of the package's files, with digest and path on each line.

    It is the digest of the output of ``sha256sum`` over the sorted files.
    """
    return _digest(_files())


@cache
def catalogue_sha256() -> str:
    """Return the same digest of the catalogue's files."""
    return _digest({name: path for name, path in _files().items() if name.startswith("catalogue/data/")})


GENERATING: Final = ("python", "unicodedata", "hypothesis", "schemathesis")
"""The versions on which generated requests depend."""
RENDERING: Final = ("python", "unicodedata", "jinja2", "markupsafe")
"""The versions on which the files of a report depend."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of everything beside the suite's files that generates requests or renders files."""
    own = {"python": f"{sys.version_info.major}.{sys.version_info.minor}", "unicodedata": unicodedata.unidata_version}
    return own | {name: metadata.version(name) for name in (*GENERATING, *RENDERING) if name not in own}


def _digest(files: dict[str, Path]) -> str:
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _files() -> dict[str, Path]:
    found = {path.relative_to(_PACKAGE).as_posix(): path for path in _PACKAGE.rglob("*") if path.is_file()}
    return {
        name: path
        for name, path in found.items()
        if "__pycache__" not in path.parts and path.suffix != ".pyc" and name not in _APART
    }
