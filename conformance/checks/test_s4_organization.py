"""Section 4: the name of the organization can be changed, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.markers import requirement
from conformance.checks.observations import observing
from conformance.oracle import expect, read
from conformance.oracle.observe import describe_response
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.organization.name_changes import Renaming, differences, rename_made_organization, renaming
from conformance.verdicts.stages import Stage

if TYPE_CHECKING:
    from conformance.checks.observations import Described
    from conformance.running.run import Run


pytestmark = pytest.mark.stage(Stage.FIRST)


@requirement("update-organization-succeeds")
def test_renaming_succeeds(run: Run) -> None:
    """Renaming the organization gives 200; if its name could not be restored, one that was made for the run."""
    try:
        response = run.scenarios.result(renaming).plain.response
    except CantTell:
        made = rename_made_organization(run)
        if made is not None and not made.refused_as_invalid:
            expect.success(made)
        raise
    if response.refused_as_invalid:  # unlike the present name
        raise CantTell("a rule of the service forbids the names of the run", response)
    expect.success(response)


def _empty_update(seen: Renaming) -> Described:
    same = read.data(seen.last.after).get("name") == read.data(seen.empty.after).get("name")
    state = "unchanged" if same else "changed"
    if any(response.succeeded for response in seen.nameless):
        state = "as another update without a name has left it"
    return f"{describe_response(seen.empty.response)}, name {state}", seen.empty.response, seen.empty.after


def _foreign_fields(seen: Renaming) -> Described:
    changed = differences(seen.empty.after, seen.after_foreign)
    outcome = f"changed {', '.join(changed)}" if changed else "nothing changed"
    return f"{describe_response(seen.foreign[0])}, {outcome}", *seen.foreign


OBSERVATIONS: Final = (
    observing("organization-empty-update", renaming, _empty_update),
    observing("organization-foreign-fields", renaming, _foreign_fields),
)
