"""Properties that a user requires of a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from conformance.cli.challenge import REGISTER
from conformance.running.options import Effort

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import timedelta
    from pathlib import Path

    from conformance.certificate.verifying import Verified

VERDICTS: Final[Mapping[str, tuple[str, ...]]] = {
    "conformant": ("conformant",),
    "inconclusive": ("conformant", "inconclusive"),
    "any": ("conformant", "inconclusive", "non-conformant"),
}
"""The verdicts that meet each required one."""
EFFORTS: Final = tuple(effort.value for effort in Effort)


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """The properties that a user requires of a certificate.

    Attributes:
        verdict: The verdict.
        classes: The classes.
        effort: The least effort, or None.
        max_age: The longest time since the end of the run, or None.
        challenge: The challenge from which the run's seed must be derived, or None.
        register: The certifier's list of the challenges given, which may be missing.
        countersigned: Whether the given certifier must have countersigned.
        stamped: Whether the given authority must have given a time stamp.
    """

    verdict: str
    classes: tuple[str, ...]
    effort: str | None
    max_age: timedelta | None
    challenge: str | None
    register: Path = REGISTER
    countersigned: bool = False
    stamped: bool = False

    def missing(self, claims: Mapping[str, Any], verified: Verified, now: datetime) -> Iterator[str]:
        """Yield each required property that a certificate does not have."""
        if claims["verdict"] not in VERDICTS[self.verdict]:
            yield f"the verdict {self.verdict}"
        yield from (f"the class {name}" for name in self.classes if name not in claims["classes_attained"])
        run = claims["run"]
        if self.effort is not None and EFFORTS.index(run["effort"]) < EFFORTS.index(self.effort):
            yield f"the effort {self.effort}"
        if self.max_age is not None and now - datetime.fromisoformat(run["finished_at"]) > self.max_age:
            yield f"a run of the last {self.max_age.total_seconds() / 3600:g} h"
        if self.challenge is not None and run["challenge"] != self.challenge:
            yield f"the challenge {self.challenge}"
        elif self.challenge is not None and not verified.created:
            yield "an engagement that was created with the mark of the challenge"
        if self.countersigned and not verified.is_countersigned:
            yield "the certifier's countersignature"
        if self.stamped and not verified.is_stamped:
            yield "a time stamp"
