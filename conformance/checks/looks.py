"""Looking at lists again where others may have disturbed a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.oracle.judgement import Undecided
from conformance.oracle.listing import contents
from conformance.oracle.steady import steadily

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange

Look = tuple["Exchange", ...]

_LOOKS: Final = 3
_ROUNDS: Final = 2


class Looks:
    """A look that was had already, and then new ones.

    Attributes:
        taken: How many looks were asked for.
    """

    def __init__(self, first: Look, anew: Callable[[], Look]) -> None:
        self._first = first
        self._anew = anew
        self.taken = 0

    def __call__(self) -> Look:
        """The first look, then a new one each time."""
        self.taken += 1
        return self._first if self.taken == 1 else self._anew()


def again(run: Run, look: Look) -> Look:
    """The same requests once more."""
    return tuple(run.send_all([exchange.call for exchange in look]))


def expect_steadily(
    run: Run, first: Look, judge: Callable[[Look], object], *, anew: Callable[[], Look] | None = None
) -> None:
    """Judge a look that journeys had, which others may have disturbed.

    What looks wrong is looked at again as ``steadily`` does; where others kept moving things, that is done once more.

    Args:
        run: The run.
        first: The look that was had.
        judge: Raises ``NonConformity`` where a look is wrong.
        anew: Looks again; the same requests where not given, which a list that has grown may need other pages for.

    Raises:
        NonConformity: The fault stayed while nothing moved.
        Undecided: Others were changing the organization all the time, or there was nothing that could be judged.
    """
    look, fresh = first, anew or (lambda: again(run, first))
    for left in reversed(range(_ROUNDS)):
        looks = Looks(look, fresh)
        try:
            steadily(looks, lambda seen: _judge(judge, seen), at_rest=contents, sleep=run.sleep)
        except Undecided:
            if looks.taken < _LOOKS or not left:
                raise
            look = fresh()
        else:
            return


def _judge(judge: Callable[[Look], object], look: Look) -> None:
    judge(look)
