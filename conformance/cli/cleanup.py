"""``conformance cleanup``: undoing the changes that an interrupted run left behind."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.cli.options import Age, connection_options, given_profile, target_options, warn_of_visible_key
from conformance.cli.progress import reported_waits
from conformance.cli.text import complain, printable
from conformance.exits import Exit
from conformance.reports.wording import counted
from conformance.running.connect import connect, redactor_of
from conformance.running.options import RunOptions
from conformance.targets.cleanup import clean_up
from conformance.targets.journal import Journal
from conformance.targets.journal_file import JournalError
from conformance.targets.membership import Membership
from conformance.targets.orphans import delete_orphan, find_orphans
from conformance.targets.ownership import Ownership, RunTime
from conformance.targets.queries import QueryClient
from conformance.targets.responses import data_of, identifier_of
from conformance.targets.yaml_entries import TargetFileError
from conformance.wire.exchange import UNDOING
from conformance.wire.requests import OTHER_KEY, Credential, get_organization

if TYPE_CHECKING:
    from conformance.targets.pending import UndoResult
    from conformance.targets.profile import Profile

_LATENESS: Final = 2.0
"""Seconds in which a service may carry out a write that got no response before its run was killed."""


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@target_options
@connection_options
@click.option("--moved", is_flag=True, help="Accept that the service has moved to another address since the run.")
@click.option(
    "--orphans",
    is_flag=True,
    help="List engagements of runs that have no journal in a folder of DIR (default: reports).",
)
@click.option(
    "--older-than", type=Age(1), metavar="AGE",
    help="With --orphans: the minimum age, such as 24h or 7d.  [default: 24h]",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="With --orphans: delete them.")
@click.pass_context
def cleanup(context: click.Context, /, folder: Path | None, **given: Any) -> None:  # noqa: ANN401 - click's options
    """Undo the changes that the run with its report in DIR left on the target.

    With --orphans, list or delete engagements of runs whose journals are lost.

    Exit status: 0 nothing is left; 1 something could not be undone; 2 there is no journal, it belongs to another
    service or to a run in progress, or no target is given; 3 the engagements could not be listed.
    """
    of_orphans, orphans = given["yes"] or given["older_than"] is not None, given["orphans"]
    if given["moved"] if orphans else (folder is None or of_orphans):
        raise click.UsageError(
            "Give DIR, optionally with --moved; or --orphans, optionally with --older-than and --yes."
        )
    warn_of_visible_key(context)
    try:
        profile = given_profile(given)
        if folder is None or orphans:
            age = given["older_than"] or timedelta(hours=24)
            sys.exit(_clean_up_orphans(profile, folder or Path("reports"), age, is_confirmed=given["yes"]))
        with closing(Journal.claim(folder, profile.api_key.reveal())) as journal:
            result = _undone(journal, profile, moved=given["moved"])
    except (JournalError, TargetFileError) as error:
        complain(error)
        sys.exit(Exit.USAGE)
    for line in (*result.left, *result.lasting):
        click.echo(printable(line))
    if result.left:
        sys.exit(Exit.FAILED)
    click.echo(f"Nothing is left that the interface can undo. Undone now: {counted(result.undone, 'change')}.")


def _clean_up_orphans(profile: Profile, reports: Path, age: timedelta, *, is_confirmed: bool) -> Exit:
    """List the engagements of runs whose journals are lost, and delete them if that is confirmed."""
    wire = connect(profile, RunOptions(), redactor_of(profile))
    with closing(wire), reported_waits(lambda: wire.waiting, complain), wire.checking("orphans"):
        queries = QueryClient(wire.send, wire.send_all)
        _ensure_organization(profile, queries)
        found = find_orphans(queries, age, reports)
        if isinstance(found, str):
            complain(f"The engagements of earlier runs could not be found: {found}.")
            return Exit.UNTESTABLE
        listed, is_complete = found
        for orphan in listed:
            journal = f"; its run has a journal: conformance cleanup {orphan.journal}" if orphan.journal else ""
            click.echo(printable(f"{orphan.id}  {orphan.created_at}  {orphan.name}{journal}"))
        lost = [orphan for orphan in listed if orphan.journal is None]
        if not is_complete:
            complain("The list of engagements was not complete.")
        if not is_confirmed:
            click.echo(
                f"{counted(len(lost), 'engagement')} without a journal. Nothing was deleted: add --yes to delete."
            )
            return Exit.OK
        reasons = [(orphan, delete_orphan(queries, orphan)) for orphan in lost]
    left = [(orphan, reason) for orphan, reason in reasons if reason is not None]
    for orphan, reason in left:
        complain(f"{orphan.id} was not deleted: {reason}.")
    click.echo(f"Deleted: {counted(len(lost) - len(left), 'engagement')}.")
    return Exit.FAILED if left else Exit.OK


def _ensure_organization(profile: Profile, queries: QueryClient) -> None:
    """Ensure that the key belongs to the organization that the target file names.

    Raises:
        TargetFileError: It belongs to another one.
    """
    if profile.organization is None:
        return
    found = identifier_of(data_of(queries.send(get_organization())))
    if refusal := profile.organization_refusal(found):
        raise TargetFileError(refusal)


def _undone(journal: Journal, profile: Profile, *, moved: bool) -> UndoResult:
    others = {
        name: Credential.bearer(name, key.reveal())
        for name, key in profile.keys.items()
        if name in {OTHER_KEY, "throttled"}
    }
    wire = connect(profile, RunOptions(), redactor_of(profile))
    wire.reserve_for(lambda: len(journal.pending()))
    ownership = Ownership(journal.names, wire.send_all, RunTime(journal.period))
    membership = Membership(wire.send_all)
    with closing(wire), reported_waits(lambda: wire.waiting, complain), wire.undoing(), wire.checking(UNDOING):
        wire.guard(ownership.ensure)
        wire.observe(ownership)
        wire.observe(membership)
        queries = QueryClient(wire.send, wire.send_all, others)
        _ensure_organization(profile, queries)
        return clean_up(journal, ownership, membership, queries, profile.base_url, moved=moved, lateness=_LATENESS)
