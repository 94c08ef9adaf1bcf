"""Giving the organization its name back after a journey that renames it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.wire import call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.running.run import Run


@contextmanager
def given_back(run: Run, name: str) -> Iterator[None]:
    """Give the organization this name at the end of a ``with``, also where the run is over by then."""
    back = replace(call.update_organization({"name": name}), repeatable=True)
    try:
        yield
    finally:
        with run.wire.undoing():
            run.send(back)
