"""Finding the shortest sequence that still fails, by trying shorter ones."""

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
    """Try shorter sequences as long as that can be afforded.

    Args:
        steps: A sequence that fails.
        failure: What it came to.
        guesses: Shorter ones that may fail, the shortest first.
        attempt: Tries one; gives how it failed, or None. It costs as much as the sequence is long.
        budget: How much all attempts may cost.

    Returns:
        The shortest sequence that was seen to fail, and what it came to.
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
