"""Application of a law to many exchanges, with one failure for all offending exchanges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.oracle.outcomes import CantTell, Inapplicable, NonConformity, evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.oracle.laws.responses import LawFunction
    from conformance.wire.exchange import Exchange

_CITED: Final = 5
"""The number of offending exchanges that a failure cites; it counts the others."""
_EVIDENCE: Final = 25
_KINDS: Final = 2


@dataclass(slots=True)
class Survey:
    """Results of a law over many exchanges.

    Attributes:
        kept: The exchanges for which it held.
        broken: The exchanges that broke it, each with its failure.
        unclear: The reasons why exchanges could not be judged.
    """

    kept: list[Exchange] = field(default_factory=list)
    broken: list[tuple[Exchange, NonConformity]] = field(default_factory=list)
    unclear: list[CantTell] = field(default_factory=list)

    @property
    def applied(self) -> bool:
        """Whether there was anything to judge."""
        return bool(self.kept or self.broken or self.unclear)


def survey(law: LawFunction, exchanges: Iterable[Exchange]) -> Survey:
    """Apply a law to every exchange that can be judged; a 429 followed by a retry is a response too."""
    found = Survey()
    for exchange in exchanges:
        if (received := exchange.as_received) is None:
            continue
        try:
            applies = law(received)
        except NonConformity as fault:
            found.broken.append((exchange, fault))
        except CantTell as undecided:
            found.unclear.append(undecided)
        else:
            if applies:
                found.kept.append(exchange)
    return found


def conclude(found: Survey, *, nothing: str = "no response of the run was of this kind") -> None:
    """Raise the outcome of a survey, unless the law held.

    Args:
        found: The survey.
        nothing: The message if the law applied to no exchange.

    Raises:
        NonConformity: An exchange broke the law; the first offending exchanges are cited, all are counted.
        CantTell: No exchange broke it, but some could not be judged.
        Inapplicable: There was nothing to judge.
    """
    evidence(*found.kept[:_EVIDENCE])
    if found.broken:
        raise _finding(found)
    if found.unclear:
        raise CantTell(found.unclear[0].message, *found.unclear[0].exchanges)
    if not found.kept:
        raise Inapplicable(nothing)


def _finding(found: Survey) -> NonConformity:
    _, first = found.broken[0]
    offenders = [exchange for exchange, _ in found.broken]
    return NonConformity(
        f"{first.message} ({len(offenders)} of {len(offenders) + len(found.kept)} responses: {_operations(offenders)})",
        *offenders[:_CITED],
        expected=first.expected,
        actual=first.actual + _other_kinds(found),
        pointer=first.pointer,
    )


def _operations(offenders: Sequence[Exchange]) -> str:
    """Return the operations of the offending exchanges, the most frequent first."""
    counted = Counter(exchange.operation_id for exchange in offenders)
    return ", ".join(f"{operation} {times}" for operation, times in counted.most_common())


def _other_kinds(found: Survey) -> str:
    """Return the other actual values, if the offending exchanges differ."""
    first = found.broken[0][1].actual
    others = [actual for actual in dict.fromkeys(fault.actual for _, fault in found.broken) if actual != first]
    more = f"; and {len(others) - _KINDS} more" if len(others) > _KINDS else ""
    return f"; elsewhere {'; '.join(others[:_KINDS])}{more}" if others else ""
