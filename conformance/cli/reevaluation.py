"""Re-evaluation of a recorded run, for ``render --rejudge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from conformance.certificate.consistency import problems
from conformance.cli.text import printable, usage_error
from conformance.replay.comparing import differences, is_cut_off
from conformance.replay.recording import NotJudgeable, read_recording
from conformance.replay.reevaluating import reevaluate

if TYPE_CHECKING:
    from pathlib import Path


def reevaluate_folder(folder: Path) -> int:
    """Judge the recording in a folder again and print each difference and contradiction in its report.

    Returns:
        0 without differences, 1 otherwise.

    Raises:
        click.UsageError: The folder holds no recording that this suite can judge.
    """
    try:
        recording = read_recording(folder)
    except NotJudgeable as error:
        raise usage_error(error) from error
    again = reevaluate(recording, folder)
    found = [*differences(recording, again), *problems(recording.report, recording.exchanges)]
    for line in found:
        click.echo(printable(line, limit=1000))
    if not found and is_cut_off(recording.report):
        click.echo(
            f"Re-evaluated, the {len(recording.exchanges)} exchanges make the same requirements fail. "
            "Nothing else is compared: the run was interrupted or ended at its first failure."
        )
    elif not found:
        click.echo(
            f"Re-evaluated, the {len(recording.exchanges)} exchanges give the same outcomes of all "
            f"{len(again.conclusions.requirements)} requirements and the same "
            f"{len(again.conclusions.observations)} observations."
        )
    return 1 if found else 0
