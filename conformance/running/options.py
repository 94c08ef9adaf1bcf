"""What a run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.targets.profile import Mode

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Effort", "Mode", "RunOptions"]


class Effort(StrEnum):
    """How much a run may cost."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run, as the command line or pytest's gives them.

    Attributes:
        base_url: Where the target is; None for the one of the target file, or without one the embedded service.
        api_key: A full key; None likewise.
        target: The target file, or None.
        mode: What the run may do; None for what the target file says.
        effort: How much it may cost.
        seed: What all random choices come from.
        workers: Requests under way at once.
        max_requests: The most requests to send, or None.
        max_seconds: The most seconds to take, or None.
        report: The folder of the outputs, or None for one made from the target's name and the time.
        classes: Conformance classes to judge; empty for those that the target file requires, or all.
        only: Requirements to judge, by patterns; once the run has begun their ids. Empty for all.
        skip: Requirements to leave out, by patterns.
        wait: Seconds that the service has until it answers at all.
        command: The words of the command line that asked for the run; none if something else did.
        is_file_found: Whether the target file is one that the command found by itself; it starts no program then, and
            makes no organization disposable.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    target: Path | None = None
    mode: Mode | None = None
    effort: Effort = Effort.STANDARD
    seed: int = 1
    workers: int = 8
    max_requests: int | None = None
    max_seconds: float | None = None
    report: Path | None = None
    classes: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    wait: float = 0.0
    command: tuple[str, ...] = ()
    is_file_found: bool = False
