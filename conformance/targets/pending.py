"""Pending entries of a journal while they are undone, and the result."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.targets.journal_entries import Action, ChangeState, Entry
from conformance.targets.journal_file import JournalError

if TYPE_CHECKING:
    from conformance.targets.journal import Journal
    from conformance.targets.queries import Listed


@dataclass(slots=True)
class UndoResult:
    """Result of undoing.

    Attributes:
        undone: The number of settled journal entries.
        left: The changes that could not be undone, a sentence each.
        lasting: The changes that the interface cannot undo, a sentence each.
        writes: The writes, a clause each.
        listed: The engagements of the main key's organization, if they were listed after the last deletion.
    """

    undone: int = 0
    left: list[str] = field(default_factory=list)
    lasting: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    listed: Listed | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """The pending entries of a journal while they are undone.

    Attributes:
        journal: The changes of the run.
        lateness: Seconds in which a write without a response may still be carried out.
        result: The result so far.
    """

    journal: Journal
    lateness: float
    result: UndoResult = field(default_factory=UndoResult)

    def of(self, *actions: Action) -> list[Entry]:
        """Return the pending entries of some actions, the latest first."""
        return [entry for entry in self.journal.pending() if entry.action in actions]

    def is_outstanding(self, entry: Entry) -> bool:
        """Whether a write without a response may still be carried out."""
        return entry.state is ChangeState.INTENDED and time.time() - entry.at < self.lateness

    def settle(self, *entries: Entry) -> None:
        """Settle entries whose changes are undone; if the journal cannot be written, the result says so."""
        for entry in entries:
            try:
                self.journal.settle(entry)
            except JournalError as error:
                # Undoing the other changes matters more than the journal.
                sentence = f"{error} What was undone could not be marked as undone in the journal."
                self.result.left += [sentence] if sentence not in self.result.left else []

    def leave(self, sentence: str) -> None:
        """Name a change that could not be undone."""
        self.result.left.append(sentence)
