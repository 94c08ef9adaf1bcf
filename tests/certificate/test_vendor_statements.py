"""Claims that rest on the vendor's word."""

from __future__ import annotations

import pytest

from conformance.certificate import vendor_statements
from tests.fakes.exchanges import make_exchange


@pytest.mark.parametrize(
    ("dates", "sentence"),
    [
        (["Thu, 09 Oct 2025 08:53:22 GMT"], ""),
        (["Thu, 09 Oct 2025 08:57:20 GMT"], " By its Date headers, the service's clock was 240 s ahead."),
        (["Thu, 09 Oct 2025 08:49:20 GMT"], " By its Date headers, the service's clock was 240 s behind."),
        (["now", "Thu, 09 Oct 2025 08:53:20 -99999999999999", "Thu, 09 Oct 99999999999999999999 10:00:00 GMT"], ""),
        ([], ""),
    ],
)
def test_the_service_clock_by_its_date_headers(dates: list[str], sentence: str) -> None:
    """A Date that no calendar has is left out, and ends no verification."""
    exchanges = [make_exchange(headers=(("Date", date),)) for date in dates]

    assert vendor_statements._clock(exchanges) == sentence
