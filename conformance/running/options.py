"""Options of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.targets.connection import UNCHANGED, Connection

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.targets.profile import Mode


class Effort(StrEnum):
    """Thoroughness of a run, in requests and generated inputs."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run, from the command line or from pytest.

    Attributes:
        base_url: The base URL; None for that of the target file, or for the embedded service.
        api_key: A full key; None as for the base URL.
        target: The target file, or None.
        mode: What the run may change; None for the mode of the target file.
        effort: The thoroughness.
        seed: The seed of all random choices.
        challenge: The certifier's challenge that the seed was computed from, or None.
        workers: Maximum number of concurrent requests.
        max_requests: The most requests to send, or None.
        max_seconds: The most seconds to take, or None.
        report: The folder of the outputs, or None for a default folder.
        classes: Classes to judge; empty for those that the target file requires, or all.
        only: Patterns of the requirements to judge, replaced by ids at the start of a run; empty for all.
        skip: Patterns of the requirements to leave out.
        mask_people: Whether outputs show pseudonyms of people; None for the choice of the target file.
        catalogue: The release of the catalogue by which to judge; None for the newest.
        wait: Seconds to wait for the first response.
        command: The arguments of the command line that started the run; empty otherwise.
        connection: Connection options that replace those of the target file.
        is_file_found: Whether the command found the target file by itself; such a file starts no program and makes no
            organization disposable.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    target: Path | None = None
    mode: Mode | None = None
    effort: Effort = Effort.STANDARD
    seed: int = 1
    challenge: str | None = None
    workers: int = 8
    max_requests: int | None = None
    max_seconds: float | None = None
    report: Path | None = None
    classes: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    mask_people: bool | None = None
    catalogue: str | None = None
    wait: float = 0.0
    command: tuple[str, ...] = ()
    connection: Connection = UNCHANGED
    is_file_found: bool = False
