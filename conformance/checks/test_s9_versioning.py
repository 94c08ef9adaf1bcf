"""Section 9: the version in the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.markers import requirement
from conformance.oracle.laws import reads as plain_reads
from conformance.scenarios.whole_run_laws import expect_law
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.running.run import Run


@pytest.mark.stage(Stage.LAWS)
@requirement("version-prefix-served")
def test_prefix_is_served(run: Run) -> None:
    """The interface is served under the prefix /api/v1/."""
    expect_law(run, plain_reads.found_under_prefix, "getCurrentOrganization")
