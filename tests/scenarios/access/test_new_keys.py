"""New keys that the service does not know yet."""

from __future__ import annotations

import time
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from conformance.catalogue import load_catalogue
from conformance.reference.access import Access
from conformance.reference.provisioning import Provisioning
from conformance.running.options import Effort, RunOptions
from conformance.selftest.subjects import Subject
from conformance.selftest.trial import Task, attempt

if TYPE_CHECKING:
    import pytest

    from conformance.reference.records import Key

LATE = 0.6
"""Seconds until a new key is known."""


def test_a_new_key_may_be_known_a_moment_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late key is still used: its limit and the removal of its member are judged."""
    made: dict[str, float] = {}
    requests: list[str] = []
    add_key, find_key = Provisioning.add_key, Access.find_key

    def add(self: Provisioning, *args: Any, **given: Any) -> str:
        key = add_key(self, *args, **given)
        if requests:  # keys from the start are known
            made[key] = time.monotonic()
        return key

    def find(self: Access, token: str) -> Key | None:
        requests.append(token)
        return None if time.monotonic() < made.get(token, 0.0) + LATE else find_key(self, token)

    monkeypatch.setattr(Provisioning, "add_key", add)
    monkeypatch.setattr(Access, "find_key", find)
    only = ("throttled-*", "removed-member-loses-*", "scope-*", "isolation-*")
    options = RunOptions(effort=Effort.QUICK, seed=1, only=only)

    trial = attempt(Task(Subject("default", "latitude", "It hears late of keys."), options, in_process=True))

    assert (trial.reported, trial.undecided, trial.errors) == ({}, {}, ())
    assert set(made) & set(requests)
    wanted = [
        requirement
        for requirement in load_catalogue().requirements
        if any(fnmatch(requirement, pattern) for pattern in only)
    ]
    assert trial.passed == len(wanted)
