"""``conformance cleanup``: undoing the changes that an interrupted run left behind."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.options import connection_options, given_profile, target_options, warn_of_visible_key
from conformance.cli.progress import WaitReporter
from conformance.cli.text import complain, printable
from conformance.exits import Exit
from conformance.reports.wording import counted
from conformance.running.connect import connect, redactor_of
from conformance.running.options import RunOptions
from conformance.targets.journal import Journal, JournalError
from conformance.targets.membership import Membership
from conformance.targets.ownership import Ownership, RunTime
from conformance.targets.queries import QueryClient
from conformance.targets.recorder import JournalRecorder
from conformance.targets.undo import UndoResult, clean_up
from conformance.targets.yaml_entries import TargetFileError
from conformance.wire.requests import Credential

if TYPE_CHECKING:
    from conformance.targets.profile import Profile


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@target_options
@connection_options
@click.option("--moved", is_flag=True, help="Accept that the service has moved to another address since the run.")
@click.pass_context
def cleanup(
    context: click.Context,
    /,
    folder: Path,
    base_url: str | None,
    api_key: str | None,
    target: Path | None,
    *,
    moved: bool,
    **connection: Any,  # noqa: ANN401 - the values of click's options
) -> None:
    """Undo the changes that the run with its report in DIR left on the target.

    Exit status: 0 nothing is left; 1 something could not be undone; 2 there is no journal, it belongs to another
    service or to a run in progress, or no target is given.
    """
    warn_of_visible_key(context)
    try:
        profile = given_profile(target, base_url, api_key, connection)
        with closing(Journal.claim(folder, profile.api_key.reveal())) as journal:
            result = _undone(journal, profile, moved=moved)
    except (JournalError, TargetFileError) as error:
        complain(error)
        sys.exit(Exit.USAGE)
    for line in (*result.left, *result.lasting):
        click.echo(printable(line))
    if result.left:
        sys.exit(Exit.FAILED)
    click.echo(f"Nothing is left that the interface can undo. Undone now: {counted(result.undone, 'change')}.")


def _undone(journal: Journal, profile: Profile, *, moved: bool) -> UndoResult:
    others = {
        name: Credential.bearer(name, key.reveal())
        for name, key in profile.keys.items()
        if name in {"other_organization", "throttled"}
    }
    wire = connect(profile, RunOptions(), redactor_of(profile))
    ownership = Ownership(journal.names, wire.send_all, RunTime(journal.period))
    membership = Membership(wire.send_all)
    with closing(wire), WaitReporter(lambda: wire.waiting, complain), wire.undoing(), wire.checking("undoing"):
        wire.guard(ownership.ensure)
        wire.observe(ownership)
        wire.observe(membership)
        wire.observe(JournalRecorder(journal))
        queries = QueryClient(wire.send, wire.send_all, others)
        return clean_up(journal, ownership, membership, queries, profile.base_url, moved=moved)
