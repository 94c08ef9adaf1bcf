"""OpenAPI document of the package."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

_PLACES: Final = tuple(parent / "openapi.yaml" for parent in Path(__file__).parents[1:3])
"""Its path in an installed package, and in a checkout."""


def openapi_path() -> Path:
    """Return the path of the document.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    for place in _PLACES:
        if place.is_file():
            return place
    raise FileNotFoundError("openapi.yaml is missing from this installation")


@cache
def openapi_sha256() -> str:
    """Return the SHA-256 digest of the document, in hexadecimal."""
    return hashlib.sha256(openapi_path().read_bytes()).hexdigest()
