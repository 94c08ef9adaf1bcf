"""Search for the shortest sequence that still fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
F = TypeVar("F")


def shrink(
    steps: Sequence[T],
    failure: F,
    guesses: Sequence[Sequence[T]],
    attempt: Callable[[Sequence[T]], F | None],
    budget: int,
) -> tuple[Sequence[T], F]:
    """Try shorter sequences within a budget.

    Args:
        steps: A sequence that fails.
        failure: Its failure.
        guesses: Shorter sequences that may fail, the shortest first.
        attempt: Runs a sequence; returns its failure, or None. It costs as much as the sequence is long.
        budget: The cost that all attempts together may have.

    Returns:
        The shortest sequence that failed, and its failure.
    """
    best, found = list(steps), failure
    for guess in guesses:
        if len(guess) < len(best) and len(guess) <= budget:
            budget -= len(guess)
            if (again := attempt(guess)) is not None:
                best, found = list(guess), again
                break
    size = max(1, len(best) // 2)
    while True:
        before, place = len(best), 0
        while place < len(best):
            shorter = best[:place] + best[place + size :]
            if len(shorter) > budget:
                return best, found
            budget -= len(shorter)
            if shorter and (again := attempt(shorter)) is not None:
                best, found = shorter, again
            else:
                place += size
        if size == 1 and len(best) == before:
            return best, found
        size = max(1, size // 2)
