"""Names of seeded engagements, which must show the order of lists."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.running.options import Effort, RunOptions
from conformance.running.run import Run
from conformance.scenarios.lists.seeded_engagements import _words
from conformance.targets.names import RunNames


def run_of(effort: Effort, seed: int) -> Run:
    """Return a run that sends nothing."""
    parts: dict[str, Any] = {"profile": SimpleNamespace(), "options": RunOptions(effort=effort, seed=seed)}
    return Run(**parts, wire=cast("Any", None), fixtures=cast("Any", None), journal=cast("Any", None), names=NAMES)


NAMES = RunNames("cf-abcdefgh-")


@pytest.mark.parametrize("effort", Effort)
@pytest.mark.parametrize("seed", range(1, 21))
def test_words_of_the_stock_are_whole_in_its_names(effort: Effort, seed: int) -> None:
    """Names hold their words uncut, of several lengths, in an order unrelated to number and length."""
    run = run_of(effort, seed)
    words = _words(run)

    names = [run.name(word) for word in words]

    assert all(f"-{word}-" in name for word, name in zip(words, names, strict=True))
    assert max(map(len, names)) <= 30
    in_order = sorted(name for name in names if name.islower())
    assert in_order != [name for name in names if name.islower()]
    assert in_order != sorted(in_order, key=lambda name: (len(name), name))
