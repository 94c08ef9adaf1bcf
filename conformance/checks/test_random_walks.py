"""Every section: random sequences of operations, judged by the ledger and by the laws of every response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.ledger.ledger import ENGAGEMENT_RULES
from conformance.oracle.outcomes import Inapplicable, evidence
from conformance.scenarios.walks.engagement_walk import LAWS

if TYPE_CHECKING:
    from conformance.scenarios.walks.runner import Walks

_OF_ODD_TEXTS: Final = frozenset({"create-engagement-keeps-text", "update-engagement-keeps-text"})
"""Random walks send plain words only, which show nothing about other texts."""

_JUDGED = tuple(rule for rule in dict.fromkeys((*ENGAGEMENT_RULES, *LAWS)) if rule not in _OF_ODD_TEXTS)


@pytest.mark.parametrize("rule", [pytest.param(rule, marks=requirement(rule), id=rule) for rule in _JUDGED])
def test_random_walk(random_walks: Walks, rule: str) -> None:
    """Every response of a random sequence of operations agrees with the requests before it."""
    if rule in random_walks.failed:
        raise random_walks.failed[rule].as_fault()
    responses = random_walks.kept(rule)
    if not responses:
        raise Inapplicable("no random walk of this effort tested it")

    evidence(*dict.fromkeys(responses))
