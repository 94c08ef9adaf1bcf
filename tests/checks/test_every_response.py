"""The checks of the laws in the registry."""

from __future__ import annotations

import pytest

from conformance.checks import conftest
from conformance.checks import test_every_response as checks
from conformance.oracle.laws.registry import LAWS
from conformance.verdicts.stages import Stage


@pytest.mark.parametrize("identifier", LAWS)
def test_a_law_has_a_check(identifier: str) -> None:
    """It has the law's docstring and requirement; laws that need confirmation run before the records are deleted."""
    law, check = LAWS[identifier], vars(checks)[f"test_{identifier.replace('-', '_')}"]
    marks = {mark.name: mark.args for mark in check.pytestmark}

    assert check.__doc__ == law.judge.__doc__
    assert marks["requirement"] == (identifier,)
    assert marks["stage"] == ((Stage.WHOLE_RUN if law.confirmed else Stage.EVERY_RESPONSE),)
    assert marks.get("usefixtures", ()) == law.scenarios
    assert {f"_{scenario}" for scenario in law.scenarios} <= vars(conftest).keys()
