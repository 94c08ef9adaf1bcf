"""Fixtures: a service in memory, a journal and profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conformance.targets.cleanup import clean_up
from conformance.targets.journal import Journal
from conformance.targets.loading import load_profile
from conformance.targets.membership import Membership
from conformance.targets.ownership import Ownership, RunTime
from conformance.targets.pending import UndoResult
from conformance.targets.profile import Profile
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.wire import requests
from conformance.wire.requests import Credential
from tests.fakes.service import BASE_URL, MAIN_KEY, NAMES, Service
from tests.fakes.undoing import FOREIGN


@pytest.fixture
def service() -> Service:
    """A service with an owner, a member and no engagement."""
    return Service()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The journal of a run, with the origin of its prefix."""
    opened = Journal.open(tmp_path / "report", NAMES, BASE_URL, MAIN_KEY)
    yield opened
    opened.close()


@pytest.fixture
def running(service: Service, journal: Journal) -> Service:
    """The service during the run, with other users' engagements and the journal's recorder."""
    service.engagements |= FOREIGN
    service.observers.append(JournalRecorder(journal))
    service.send(requests.get_organization())
    service.send(requests.list_members())
    return service


@pytest.fixture
def clean(service: Service, journal: Journal) -> Callable[..., UndoResult]:
    """Cleans up like another process, from the file."""

    def cleaning(
        key: str = MAIN_KEY,
        base_url: str = BASE_URL,
        *,
        moved: bool = False,
        send_all: Any = None,
        credentials: Mapping[str, Credential] | None = None,
    ) -> UndoResult:
        journal.close()
        service.lost.clear()
        service.writes.clear()
        with closing(Journal.claim(journal._file.path.parent, key)) as claimed:
            ownership = Ownership(claimed.names, service.send_all, RunTime(claimed.period))
            membership = Membership(service.send_all)
            service.observers[:] = [ownership, membership]
            return clean_up(
                claimed, ownership, membership, QueryClient(service.send, send_all, credentials), base_url, moved=moved
            )

    return cleaning


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Profile]:
    """Loads a target file with this text, and the environment given by keyword."""

    def loading(
        text: str, /, *, complete: bool = True, options: dict[str, Any] | None = None, **environ: str
    ) -> Profile:
        path = tmp_path / "target.yaml"
        head = "base_url: https://api.example.com\napi_key: ${MAIN_KEY}\n" if complete else ""
        path.write_text(head + text, "utf-8")
        path.chmod(0o600)
        return load_profile(path, {"MAIN_KEY": "main-key-0001"} | environ, **(options or {}))

    return loading
