"""The name of the organization before the run, and its restoration after a scenario that renames it."""

from __future__ import annotations

import unicodedata
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from conformance.oracle import read
from conformance.oracle.outcomes import CantTell
from conformance.scenarios.basics import ensure_responses, field_or_none
from conformance.targets.journal_entries import Action
from conformance.wire import requests
from conformance.wire.requests import MAIN_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Credential

_LONGEST: Final = 100


def name_before(run: Run, organization: Exchange) -> str:
    """Return the name of the organization before the run, even if an earlier attempt could not restore it.

    Args:
        run: The run.
        organization: The organization as it is now.

    Raises:
        CantTell: The name is unknown.
    """
    name = read.text(read.data(organization), "name", organization)
    if not run.names.owns(name):
        return name
    renamed = [entry for entry in run.journal.entries() if entry.action is Action.RENAME_ORGANIZATION]
    for entry in renamed:
        if entry.key == MAIN_KEY and entry.before is not None and not run.names.owns(entry.before):
            return entry.before
    raise CantTell("the name that the organization had before is no longer known", organization)


def harmless_name(organization: Exchange | None) -> str | None:
    """Return the name of the organization, for an update that changes nothing.

    Returns:
        None if it cannot be read, or a service might alter it.
    """
    name = None if organization is None else field_or_none(organization, "name")
    return name if isinstance(name, str) and _is_usual(name) else None


@contextmanager
def restored_name(run: Run, name: str, key: Credential | None = None) -> Iterator[None]:
    """Restore the name of an organization at the end of a ``with``, even if the run has ended by then.

    Args:
        run: The run.
        name: The name.
        key: A key of the organization; None for the main key.

    Raises:
        CantTell: The service would not accept the name unchanged, so nothing was renamed.
        NotSent: Another user renamed the organization meanwhile, and that name stays.
    """
    if not _is_usual(name):
        raise CantTell("the service might alter the organization's name when it is restored")
    now = replace(requests.get_organization(), credential=key)
    back = replace(requests.update_organization({"name": name}), credential=key, repeatable=True)
    tried = run.send(back)
    ensure_responses([tried])
    status = tried.received_status
    # A conflict as if another has the same name, or an error that could come again when the name is restored.
    if tried.refused_as_invalid or status == HTTPStatus.CONFLICT or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise CantTell("the service does not accept the name that the organization has", tried)
    try:
        yield
    finally:
        with run.wire.undoing():
            run.send(now)  # another user's name stays
            run.send(back)


def _is_usual(name: str) -> bool:
    """Whether a name has nothing that services may trim, merge, normalize or cut off."""
    one_line = name == " ".join(name.split()) and name.isprintable() and len(name) <= _LONGEST
    return bool(name) and one_line and unicodedata.is_normalized("NFC", name)
