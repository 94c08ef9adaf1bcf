"""Giving the organization its name back after a journey that renames it."""

from __future__ import annotations

import unicodedata
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.checks.name_rules import REFUSED_AS_INVALID
from conformance.oracle.judgement import Undecided
from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run

_LONGEST: Final = 100


@contextmanager
def given_back(run: Run, name: str) -> Iterator[None]:
    """Give the organization this name at the end of a ``with``, also where the run is over by then.

    Raises:
        Undecided: The service would not take the name back as it is, and so nothing was renamed.
    """
    if not _is_usual(name):
        raise Undecided("the organization has a name that a service might change when it is given back")
    back = replace(call.update_organization({"name": name}), repeatable=True)
    tried = run.send(back)
    if tried.status in REFUSED_AS_INVALID:
        raise Undecided("the service does not take back the name that the organization has", tried)
    try:
        yield
    finally:
        with run.wire.undoing():
            run.send(back)


def _is_usual(name: str) -> bool:
    """Whether nothing in a name is what services may trim, merge, normalize or cut off."""
    one_line = name == " ".join(name.split()) and name.isprintable() and len(name) <= _LONGEST
    return bool(name) and one_line and unicodedata.is_normalized("NFC", name)
