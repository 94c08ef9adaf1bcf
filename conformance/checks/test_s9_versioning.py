"""Section 9: the version in the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.laws_over_run import expect_law
from conformance.checks.marks import requirement
from conformance.oracle import plain_reads

if TYPE_CHECKING:
    from conformance.running.run import Run


@pytest.mark.stage(2)
@requirement("version-prefix-served")
def test_prefix_is_served(run: Run) -> None:
    """The interface is found under the prefix /api/v1/."""
    expect_law(run, plain_reads.found_under_prefix, "getCurrentOrganization")
