"""Claims of a certificate, and how each of them is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Basis(StrEnum):
    """The ground on which a claim stands."""

    RECOMPUTED = "recomputed"
    STATED = "stated by the vendor"
    NOT_HERE = "not recomputed here"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that a certificate makes or depends on.

    Attributes:
        text: The claim, as a sentence.
        faults: The reasons why it does not hold, a clause each; empty if it holds, or if nothing here can refute it.
        basis: The ground on which it stands.
    """

    text: str
    faults: tuple[str, ...] = ()
    basis: Basis = Basis.RECOMPUTED

    @property
    def holds(self) -> bool:
        """Whether nothing refutes the claim."""
        return not self.faults
