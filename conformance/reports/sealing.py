"""Names of the files in a run's folder that other modules read, and their digests."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from conformance.reports.text import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

REPORT: Final = "report.json"
EXCHANGES: Final = "exchanges.har"
PROVISIONED: Final = "provisioned.jsonl"
"""The recorded inputs of a run, which its re-evaluation needs beside the exchanges."""
ENVELOPE: Final = "certificate.dsse.json"
PAGE: Final = "certificate.html"
"""The page that signing adds to the folder, beside the envelope."""
TIME_STAMP: Final = "certificate.tsr"
"""The time stamp of the envelope, which countersigning adds."""
WITNESS: Final = "witness.dsse.json"
"""The certifier's statement about its own run, which witnessing adds."""
SEALED: Final = (EXCHANGES, REPORT)
"""The files whose digests the last line of ``PROVISIONED`` contains."""


def sealed(lines: Sequence[bytes], digests: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the content of ``PROVISIONED``: the lines, and a last line with the digests of the related files.

    Args:
        lines: The recorded inputs of the run.
        digests: The SHA-256 digests of the files of ``SEALED``; read after the lines are consumed.
    """
    yield from lines
    files = {name: digests[name] for name in SEALED}
    yield json_bytes({"sha256": {**files, "above": sha256(lines)}}) + b"\n"


def sha256(pieces: Iterable[bytes]) -> str:
    """Return the SHA-256 digest of the concatenated pieces, in hexadecimal."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
