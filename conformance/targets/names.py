"""The names of one run: all begin alike, and like those of no other run."""

from __future__ import annotations

import base64
import re
import unicodedata
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = re.compile("cf-(?=[a-z]*[2-7])[a-z2-7]{8}-", re.ASCII)
"""The prefix of every run: one of 2^40, less those without a digit."""

_UNSEEN: Final = "\ufffd"
"""What stands for bytes that are no UTF-8."""


@dataclass(frozen=True, slots=True)
class RunNames:
    """Makes the names and addresses that a run gives to what it creates.

    Attributes:
        prefix: Such as ``cf-k3vq7t2a-``: lower-case letters, digits and hyphens, which no service changes.
    """

    prefix: str

    @classmethod
    def fresh(cls) -> Self:
        """Names for a new run.

        They come from the system's randomness and not from the run's seed: two runs with one seed may meet in one
        organization. Each holds a digit, so that no word of any language makes a name look like a run's.
        """
        while True:
            text = base64.b32encode(uuid.uuid4().bytes).decode("ascii").lower()
            if PREFIX.fullmatch(prefix := f"cf-{text[:8]}-"):
                return cls(prefix)

    def name(self, label: str) -> str:
        """The run's name for something; the same label gives the same name."""
        return f"{self.prefix}{label}"

    def address(self, label: str, domain: str) -> str:
        """The run's e-mail address for somebody under a domain."""
        return f"{self.prefix}{label}@{domain}"

    def owns(self, text: object) -> bool:
        """Whether a text of a service begins with the prefix, in whatever letter case, normal form and blanks.

        The prefix in the middle of a text proves nothing: a person may quote a name of the run.
        """
        return isinstance(text, str) and normalized(text).startswith(self.prefix)

    def made(self, engagement: Mapping[str, object]) -> bool:
        """Whether the name or the description of an engagement says that this run made it."""
        return self.owns(engagement.get("name")) or self.owns(engagement.get("description"))


def normalized(name: str) -> str:
    """A name without what a service may change in it: letter case, normal form, blanks, and what is not to be seen."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(char for char in folded if not (char.isspace() or char in _UNSEEN or _is_control(char)))


def _is_control(char: str) -> bool:
    return unicodedata.category(char).startswith("C")
