"""Names of seeded engagements, which must show the order of lists."""

from __future__ import annotations

import pytest

from conformance.running.options import Effort, RunOptions
from conformance.scenarios.lists.seeded_engagements import _words
from tests.fakes.runs import real_run


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(1, 21))
def test_words_of_the_stock_are_whole_in_its_names(effort: Effort, seed: int) -> None:
    """Names hold their words uncut, of several lengths, in an order unrelated to number and length."""
    run = real_run(options=RunOptions(effort=effort, seed=seed))
    words = _words(run)

    names = [run.name(word) for word in words]

    assert all(f"-{word}-" in name for word, name in zip(words, names, strict=True))
    assert max(map(len, names)) <= 30
    in_order = sorted(name for name in names if name.islower())
    assert in_order != [name for name in names if name.islower()]
    assert in_order != sorted(in_order, key=lambda name: (len(name), name))
