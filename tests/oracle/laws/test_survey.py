"""Surveys of responses outside the interface, and counted failures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.oracle.laws import rate_limits as rate_limit_laws
from conformance.oracle.laws import responses as laws
from conformance.oracle.laws.survey import conclude, survey
from conformance.oracle.outcomes import NonConformity
from tests.fakes.exchanges import make_exchange

PAGE = make_exchange(status=404, body=b"<html>gone</html>", headers=(("Content-Type", "text/html"),))
LAWS = (laws.json_well_formed, laws.json_media_type, rate_limit_laws.headers_present)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_no_law_applies_outside_the_interface(law: laws.LawFunction) -> None:
    """A response that breaks a law of an operation breaks none outside the interface."""
    beside = replace(PAGE, request=replace(PAGE.request.as_probe("GET", "/records/1"), unjudged=True))

    assert not survey(law, [beside]).applied
    assert survey(law, [PAGE]).applied


def test_offenders_are_counted() -> None:
    """One failure counts all of them."""
    with pytest.raises(NonConformity, match="2 of 2 responses: getEngagement 2"):
        conclude(survey(laws.json_media_type, [PAGE, PAGE]))
