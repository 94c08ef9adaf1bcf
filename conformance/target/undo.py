"""Undoes what a journal says that a run has left, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.target.asking import (
    GONE,
    MAIN_KEY,
    PAGES,
    Asking,
    OwnEngagements,
    data_of,
    member_ids,
    own_engagements,
    told,
)
from conformance.target.changes import Action, Entry, State
from conformance.target.journal import Journal, JournalError
from conformance.target.recorder import owner
from conformance.wire import call as calls
from conformance.wire.exchange import SUCCESSES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.wire.call import Call, Credential
    from conformance.wire.exchange import Answer, Exchange

_REFUSED: Final = frozenset({401, 403})
_FEW: Final = 3
_CLOCKS_APART: Final = 60.0
"""Seconds by which the clocks of the run, of the service and of a later cleanup may differ."""


@dataclass(slots=True)
class UndoResult:
    """What undoing came to.

    Attributes:
        undone: How many entries of the journal it settled.
        left: What should have been undone and could not, a sentence each.
        lasting: What the interface has no way of undoing, a sentence each.
    """

    undone: int = 0
    left: list[str] = field(default_factory=list)
    lasting: list[str] = field(default_factory=list)


def undo(
    journal: Journal,
    send: Callable[[Call], Exchange],
    *,
    send_all: Callable[[Sequence[Call]], Sequence[Exchange]] | None = None,
    credentials: Mapping[str, Credential] | None = None,
    later: bool = False,
) -> UndoResult:
    """Undo what is pending: engagements first, then members, roles and the organization's name.

    Doing it twice is harmless, and where the first time left nothing the second sends nothing. A full disk does not
    keep it from going on.

    Args:
        journal: What the run has done; what is undone is ticked off in it.
        send: Sends a call, with the main key where the call names none.
        send_all: Sends independent calls together; without it they go one by one.
        credentials: Keys by name for what other keys have made: ``other_organization``.
        later: Whether the run is over, so that the key may belong to another organization now: that is asked first.
    """
    undoing = _Undoing(journal, Asking(send, send_all, credentials or {}))
    pending = journal.pending()
    journal.undoing = True
    try:
        if pending and (not later or undoing.is_right_organization()):
            undoing.engagements()
            undoing.members()
            undoing.roles()
            undoing.names()
    finally:
        journal.undoing = False
    undoing.result.undone = sum(entry.state is State.SETTLED for entry in pending)
    undoing.result.lasting = journal.lasting()
    return undoing.result


class _Undoing:
    """One pass over the pending entries of a journal."""

    def __init__(self, journal: Journal, asking: Asking) -> None:
        self.result = UndoResult()
        self._journal = journal
        self._asking = asking
        self._members: frozenset[str] | None = None

    def is_right_organization(self) -> bool:
        """Whether the main key belongs to the organization of the run, as far as the service says."""
        expected = self._journal.organization
        if expected is None:
            return True
        answer = self._asking.one(calls.get_organization())
        if isinstance(answer, str):
            self._leave(f"Nothing was undone, because the organization could not be read: {answer}.")
            return False
        found = data_of(answer).get("id")
        if answer.status in _REFUSED:
            self._leave(f"Nothing was undone, because the key is refused with status {answer.status}.")
            return False
        if isinstance(found, str) and found != expected:
            self._leave(
                f"Nothing was undone: the run used the organization {expected}, and the key belongs to {found}."
            )
            return False
        if not isinstance(found, str) and not self._sees_own():
            self._leave(
                "Nothing was undone, because the organization could not be read, and the key shows no engagement of "
                f"the run: {told(answer)}."
            )
            return False
        return True

    def _sees_own(self) -> bool:
        """Whether the main key shows something that the run made."""
        listed = own_engagements(self._asking, self._journal.names)
        if not isinstance(listed, str) and listed.ids:
            return True
        made = [entry.id for entry in self._pending(Action.CREATE_ENGAGEMENT) if owner(entry.key) == MAIN_KEY]
        known = [made_id for made_id in made if made_id is not None][:_FEW]
        answers = self._asking.all([calls.get_engagement(made_id) for made_id in known])
        return any(not isinstance(one, str) and self._journal.names.owns(data_of(one).get("name")) for one in answers)

    def engagements(self) -> None:
        """Delete the engagements that the run made, those whose id it never learnt included."""
        entries = self._pending(Action.CREATE_ENGAGEMENT)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            mine = [entry for entry in entries if owner(entry.key) == key]
            known = [entry.id for entry in mine if entry.id is not None and self._is_safe(entry, entry.id)]
            self._delete(list(dict.fromkeys(known)), key)
            if nameless := [entry for entry in mine if entry.id is None]:
                self._search(nameless, key)

    def members(self) -> None:
        """Remove the members that were made for the run."""
        for entry in self._pending(Action.MAKE_MEMBER):
            answer = self._asking.one(calls.remove_member(entry.subject or ""))
            if not _is_gone(answer):
                self._leave(f"The member {entry.subject} could not be removed: {told(answer)}.")
                continue
            self._settle(
                entry, *(other for other in self._pending(Action.CHANGE_ROLE) if other.subject == entry.subject)
            )

    def roles(self) -> None:
        """Give members the roles back that they had before the run."""
        entries = self._pending(Action.CHANGE_ROLE)
        for user_id in dict.fromkeys(entry.subject for entry in entries):
            changes = [entry for entry in entries if entry.subject == user_id]
            role = changes[-1].before
            if role is None and user_id is not None and self._is_nobody(user_id):
                self._settle(*(entry for entry in changes if entry.subject == user_id))
                continue
            if user_id is None or role not in {"admin", "member"}:
                self._leave(
                    f"The role of {user_id} may have been changed, and the interface cannot make it {role} again."
                )
                continue
            answer = self._asking.one(calls.update_member_role(user_id, {"role": role}))
            if not _is_gone(answer):
                self._leave(f"The role of {user_id} could not be made {role} again: {told(answer)}.")
                continue
            self._settle(*(entry for entry in self._pending(Action.CHANGE_ROLE) if entry.subject == user_id))

    def _is_nobody(self, user_id: str) -> bool:
        """Whether a user is surely no member, so that there was no role to change."""
        if self._members is None:
            self._members = member_ids(self._asking)
        return self._members is not None and user_id not in self._members

    def names(self) -> None:
        """Give organizations the names back that they had before the run."""
        entries = self._pending(Action.RENAME_ORGANIZATION)
        for key in dict.fromkeys(owner(entry.key) for entry in entries):
            renamings = [entry for entry in entries if owner(entry.key) == key]
            self._restore(
                key, renamings[-1].before, may_differ=any(entry.state is not State.REFUSED for entry in renamings)
            )

    def _restore(self, key: str, name: str | None, *, may_differ: bool) -> None:
        """Restore one organization's name; a refused renaming only matters where the name turns out to differ."""
        if name is None and may_differ:
            self._leave("The organization may have been renamed, and its name before is not known.")
            return
        if name is not None and (trouble := self._rename(key, name)) is not None:
            if may_differ:
                self._leave(f'The organization could not be named "{name}" again: {trouble}.')
            return
        self._settle(*(entry for entry in self._pending(Action.RENAME_ORGANIZATION) if owner(entry.key) == key))

    def _rename(self, key: str, name: str) -> str | None:
        """Why the organization does not have that name in the end; None where it does."""
        found = self._asking.one(calls.get_organization(), key)
        if (now := _name_in(found)) is None:
            return f"its name could not be read ({told(found)})"
        if now == name:
            return None
        answer = self._asking.one(calls.update_organization({"name": name}), key)
        if isinstance(answer, str) or answer.status not in SUCCESSES:
            return told(answer)
        now = _name_in(answer)
        return None if now in {name, None} else f'the service made it "{now}"'

    def _is_safe(self, entry: Entry, made_id: str) -> bool:
        """Whether an id is surely that of something the run made; a faulty service may have answered another's."""
        # A throttled key may be another organization's, where the same id stands for something else.
        if entry.key != "throttled" and (not entry.doubtful or self._names_tell_nothing()):
            return True
        answer = self._asking.one(calls.get_engagement(made_id), owner(entry.key))
        if not isinstance(answer, str):
            if answer.status in GONE:
                self._settle(entry)
                return False
            if self._journal.names.owns(data_of(answer).get("name")):
                return True
        self._leave(f"The engagement {made_id} was not deleted, because its name is not one of this run's.")
        return False

    def _names_tell_nothing(self) -> bool:
        """Whether the service garbles all names, so that only its times tell what was created for this run."""
        named = [entry for entry in self._journal.entries() if entry.id and self._journal.names.owns(entry.subject)]
        return len({entry.id for entry in named}) > 1 and all(entry.doubtful and entry.timely for entry in named)

    def _delete(self, ids: Sequence[str], key: str) -> bool:
        """Delete engagements of one organization; whether all are gone."""
        answers = self._asking.all([calls.delete_engagement(made_id) for made_id in ids], key)
        for made_id, answer in zip(ids, answers, strict=True):
            if _is_gone(answer):
                self._settle(*(entry for entry in self._pending(Action.CREATE_ENGAGEMENT) if entry.id == made_id))
            else:
                self._leave(f"The engagement {made_id} could not be deleted: {told(answer)}.")
        return all(_is_gone(answer) for answer in answers)

    def _search(self, entries: Sequence[Entry], key: str) -> None:
        """Look by the run's prefix for creations without an answer, and for refused ones of a faulty service.

        A refused one alone is looked for on the first page only, where it would be among the latest.
        """
        lost = [entry for entry in entries if entry.state is State.INTENDED]
        found = own_engagements(self._asking, self._journal.names, pages=PAGES if lost else 1, key=key)
        gone = not isinstance(found, str) and self._delete(found.ids, key)
        if gone:
            self._settle(*(entry for entry in entries if entry.state is State.REFUSED))
        if gone and not isinstance(found, str) and found.complete:
            self._settle(*(entry for entry in lost if self._has_a_name(entry) or self._is_older(found, entry)))
        if unclear := sum(entry.state is State.INTENDED for entry in lost):
            reason = f": {found}" if isinstance(found, str) else ""
            self._leave(f"Creations without an answer whose outcome is unknown: {unclear}{reason}.")

    def _has_a_name(self, entry: Entry) -> bool:
        return self._journal.names.owns(entry.subject)

    def _is_older(self, found: OwnEngagements, entry: Entry) -> bool:
        """Whether all that others have is older than a creation, so that nothing came of it, whatever its name was."""
        return found.latest_other < entry.at - _CLOCKS_APART

    def _pending(self, action: Action) -> list[Entry]:
        return [entry for entry in self._journal.pending() if entry.action is action]

    def _settle(self, *entries: Entry) -> None:
        for entry in entries:
            try:
                self._journal.settle(entry)
            except JournalError as error:
                # What else there is to undo matters more than the ticks.
                sentence = f"{error} What was undone could not be marked as undone in the journal."
                self.result.left += [sentence] if sentence not in self.result.left else []

    def _leave(self, sentence: str) -> None:
        self.result.left.append(sentence)


def _name_in(answer: Answer | str) -> str | None:
    name = None if isinstance(answer, str) else data_of(answer).get("name")
    return name if isinstance(name, str) else None


def _is_gone(answer: Answer | str) -> bool:
    """Whether a deletion, a removal or a change came to what was wanted, or had nothing left to do."""
    return not isinstance(answer, str) and (answer.status in GONE or answer.status in SUCCESSES)
