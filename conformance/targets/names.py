"""Names of one run, with a prefix that no other run has."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from conformance.targets.challenge import mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = re.compile("cf-(?=[a-z]*[2-7])[a-z2-7]{8}-", re.ASCII)
"""The prefix of a run: one of 2^40, less those without a digit."""

_ORIGIN: Final = re.compile("[0-9a-f]{32}", re.ASCII)
_COST: Final = 2**12
"""Cost of scrypt (RFC 7914): finding another origin of a prefix takes some 2^40 times 10 ms."""

_UNSEEN: Final = "\ufffd"
"""The replacement for bytes that are no UTF-8."""


@dataclass(frozen=True, slots=True)
class RunNames:
    """Names and addresses for the objects that a run creates.

    Attributes:
        prefix: For example ``cf-k3vq7t2a-``: lower-case letters, digits and hyphens, which no service changes.
        origin: The secret number that the prefix was computed from, 32 hexadecimal digits; None if it is not known. The
            run stores it in its journal alone, so that it proves who wrote the journal.
        challenge: The certifier's challenge, whose mark follows the prefix in all names; or None.
    """

    prefix: str
    origin: str | None = field(default=None, compare=False, repr=False)
    challenge: str | None = None

    @classmethod
    def fresh(cls, challenge: str | None = None) -> Self:
        """Return names for a new run.

        They come from the system's randomness and not from the run's seed, because two runs with one seed may use one
        organization. Each has a digit, so that no word of any language looks like the prefix of a run.
        """
        while True:
            origin = secrets.token_hex(16)
            if PREFIX.fullmatch(prefix := _prefix(origin)):
                return cls(prefix, origin, challenge)

    @property
    def is_proved(self) -> bool:
        """Whether the origin is that of the prefix; the service's other users see the prefix only."""
        origin = self.origin
        return origin is not None and _ORIGIN.fullmatch(origin) is not None and _prefix(origin) == self.prefix

    @property
    def mark(self) -> str:
        """The mark of the challenge, such as ``m4xq2-``; empty without a challenge."""
        return "" if self.challenge is None else mark_of(self.challenge)

    @property
    def beginning(self) -> str:
        """The beginning of every name that the run gives: the prefix and the mark."""
        return self.prefix + self.mark

    def name(self, label: str) -> str:
        """Return the run's name for a label; the same label has the same name."""
        return f"{self.beginning}{label}"

    def address(self, label: str, domain: str) -> str:
        """Return the run's e-mail address for a label in a domain."""
        return f"{self.beginning}{label}@{domain}"

    def owns(self, text: object) -> bool:
        """Whether a text of a service begins with the prefix, ignoring letter case, normal form and blanks.

        The prefix inside a text proves nothing: a user may quote a name of the run.
        """
        return isinstance(text, str) and normalized(text).startswith(self.prefix)

    def owns_engagement(self, engagement: Mapping[str, object]) -> bool:
        """Whether the name or the description shows that this run created an engagement."""
        return self.owns(engagement.get("name")) or self.owns(engagement.get("description"))


def normalized(name: str) -> str:
    """Normalize what a service may change in a name: letter case, normal form, blanks and invisible characters."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        char for char in folded if not (char.isspace() or char in _UNSEEN or unicodedata.category(char).startswith("C"))
    )


def _prefix(origin: str) -> str:
    """Compute the prefix of an origin."""
    digest = hashlib.scrypt(origin.encode("ascii"), salt=b"conformance prefix", n=_COST, r=8, p=1, dklen=5)
    return f"cf-{base64.b32encode(digest).decode('ascii').lower()}-"
