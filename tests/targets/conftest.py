"""Fixtures: a service in memory, a journal and profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.targets.journal import Journal
from conformance.targets.loading import load_profile
from conformance.targets.names import RunNames
from conformance.targets.profile import Profile
from tests.fakes.service import BASE_URL, MAIN_KEY, PREFIX, Service


@pytest.fixture
def service() -> Service:
    """A service with an owner, a member and no engagement."""
    return Service()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The journal of a run."""
    opened = Journal.open(tmp_path / "report", RunNames(PREFIX), BASE_URL, MAIN_KEY)
    yield opened
    opened.close()


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
