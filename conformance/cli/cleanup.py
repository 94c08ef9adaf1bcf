"""``conformance cleanup``: undo what an interrupted run has left."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.options import target_options, warn_of_visible_key
from conformance.cli.text import printable
from conformance.exits import Exit
from conformance.running.connecting import connect, redactor_of
from conformance.running.options import RunOptions
from conformance.target.journal import Journal, JournalError
from conformance.target.loading import profile_of
from conformance.target.reading import TargetFileError
from conformance.target.recorder import JournalRecorder
from conformance.target.undo import UndoResult, undo
from conformance.wire.call import Credential

if TYPE_CHECKING:
    from conformance.target.profile import Profile


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@target_options
@click.pass_context
def cleanup(
    context: click.Context, /, folder: Path, base_url: str | None, api_key: str | None, target: Path | None
) -> None:
    """Undo what the run with its report in DIR has left on the target.

    Exit status: 0 nothing is left; 1 something could not be undone; 2 there is no journal, or the target is not named.
    """
    warn_of_visible_key(context)
    try:
        journal = Journal.read(folder)
        profile = profile_of(target, os.environ, base_url=base_url, api_key=api_key)
        result = _undone(journal, profile)
    except (JournalError, TargetFileError) as error:
        click.echo(str(error), err=True)
        sys.exit(Exit.USAGE)
    for line in (*result.left, *result.lasting):
        click.echo(printable(line))
    if result.left:
        sys.exit(Exit.FAILED)
    click.echo(f"Nothing is left that the interface can undo ({result.undone} undone now).")


def _undone(journal: Journal, profile: Profile) -> UndoResult:
    redactor = redactor_of(profile)
    others = {
        name: Credential.bearer(name, key.reveal())
        for name, key in profile.keys.items()
        if name in {"other_organization", "throttled"}
    }
    wire = connect(profile, RunOptions(), redactor)
    try:
        wire.observe(JournalRecorder(journal))
        with wire.undoing(), wire.checking("undoing"):
            return undo(journal, wire.send, send_all=wire.send_all, credentials=others, later=True)
    finally:
        wire.close()
        journal.close()
