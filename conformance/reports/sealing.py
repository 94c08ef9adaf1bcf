"""The files of a run's folder that no report is rendered to: their names, and the digests that tie them together."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from conformance.reports.text import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

PROVISIONED: Final = "provisioned.jsonl"
"""What the checks were given beside HTTP, so that they can be judged again."""
ENVELOPE: Final = "certificate.dsse.json"
PAGE: Final = "certificate.html"
"""With the envelope, what signing adds to the folder."""
SEALED: Final = ("exchanges.har", "report.json")
"""The files whose digests stand in the last line of ``PROVISIONED``."""


def sealed(lines: Sequence[bytes], digests: Mapping[str, str]) -> Iterator[bytes]:
    """``PROVISIONED``: the lines, and a last one with the digests of all that belongs together.

    Args:
        lines: What the checks were given.
        digests: The SHA-256 digests of the files of ``SEALED``; looked at when the lines have been taken.
    """
    yield from lines
    files = {name: digests[name] for name in SEALED}
    yield json_bytes({"sha256": {**files, "above": sha256(lines)}}) + b"\n"


def sha256(pieces: Iterable[bytes]) -> str:
    """The SHA-256 digest of the pieces put together, in hexadecimal."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
