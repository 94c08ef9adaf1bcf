from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.targets.journal_file import JournalError
from conformance.targets.pending import UndoResult
from tests.fakes.undoing import FOREIGN, make

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(("field", "value"), [("id", "org_2"), ("founded", "2021-01-01T00:00:00.000Z")])
def test_another_organization_is_not_touched(
    running: Any, clean: Callable[..., UndoResult], field: str, value: str
) -> None:
    """For another organization, even one with the same id, only one read is sent."""
    make(running, "a")
    setattr(running, field, value)
    running.requests.clear()

    with pytest.raises(JournalError, match=f"The journal is about the organization org_1 .* {value}"):
        clean()
    assert [request.operation.id for request in running.requests] == ["getCurrentOrganization"]


@pytest.mark.parametrize("labels", [["a"], []], ids=["pending", "nothing pending"])
def test_another_service_gets_no_request(running: Any, clean: Callable[..., UndoResult], labels: list[str]) -> None:
    """For another address nothing is sent, and both addresses are named, even if nothing is pending."""
    make(running, *labels)
    running.requests.clear()

    with pytest.raises(JournalError, match=r"about http://service, and this is https://production\.example.*--moved"):
        clean(base_url="https://production.example")
    assert running.requests == []


def test_a_service_that_has_moved_is_cleaned(running: Any, clean: Callable[..., UndoResult]) -> None:
    """With the option another address is accepted for the same organization."""
    make(running, "a")

    assert clean(base_url="https://new.example", moved=True).undone == 1
    assert running.engagements == FOREIGN


@pytest.mark.parametrize("status", [None, 401, 500])
def test_a_move_needs_the_organization(running: Any, clean: Callable[..., UndoResult], status: int | None) -> None:
    """If the organization cannot be read, another address may be another service."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = status

    with pytest.raises(JournalError, match="does not show whether the service has moved"):
        clean(base_url="https://new.example", moved=True)
    assert running.writes == []


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "refused with status 401"), (403, "refused with status 403"), (None, "could not be read")],
)
def test_a_useless_key_undoes_nothing(
    running: Any, clean: Callable[..., UndoResult], status: int | None, reason: str
) -> None:
    """A refused key or a lost target is reported, and nothing is settled."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = status

    (sentence,) = clean().left
    assert reason in sentence
    running.overrides.clear()
    assert clean().undone == 1


def test_an_organization_that_reads_oddly_does_not_prevent_undoing(
    running: Any, clean: Callable[..., UndoResult]
) -> None:
    """Engagements are deleted even if the organization cannot be read."""
    make(running, "a")
    running.overrides["getCurrentOrganization"] = 500

    clean()

    assert running.engagements == FOREIGN


@pytest.mark.parametrize("listing", [False, True])
def test_a_key_that_shows_nothing_of_the_run_is_not_accepted(
    running: Any, clean: Callable[..., UndoResult], *, listing: bool
) -> None:
    """If neither the organization nor an engagement of the run can be read, nothing is settled."""
    make(running, "a")
    ours = dict(running.engagements)
    running.engagements.clear()
    running.overrides["getCurrentOrganization"] = 500
    if not listing:
        running.overrides["listEngagements"] = 500

    (sentence,) = clean().left

    assert "neither the organization nor an engagement of the run could be read: status 500" in sentence
    assert running.writes == []
    running.engagements.update(ours)
    assert clean().undone == 1
