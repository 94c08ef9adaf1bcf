"""``conformance serve``: the reference service as a sandbox for client developers."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from conformance.cli.completion import complete_fault, complete_latitude

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.application import Application
    from conformance.reference.faults import Fault
    from conformance.reference.latitude import Latitude


def _read_latitude(_: click.Context, __: click.Parameter, settings: Sequence[str]) -> Latitude:
    """Return the latitudes of ``--latitude``."""
    from conformance.reference.latitude import Latitude

    try:
        return Latitude.parse(settings)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


def _read_fault(_: click.Context, __: click.Parameter, identifier: str | None) -> Fault | None:
    """Return the fault of ``--fault``."""
    from conformance.reference.faults import fault_by_id

    try:
        return fault_by_id(identifier) if identifier else None
    except LookupError as problem:
        raise click.BadParameter(str(problem.args[0])) from problem


def _read_smtp(_: click.Context, __: click.Parameter, server: str | None) -> tuple[str, int] | None:
    """Return host and port of ``--smtp``."""
    from conformance.reference.server import host_and_port

    try:
        return host_and_port(server) if server else None
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--database",
    default=":memory:",
    metavar="FILE",
    help="SQLite file for all data, reused if it exists.  [default: in memory]",
)
@click.option("--seed-data", is_flag=True, help="Fill a new database with members, engagements and invitations.")
@click.option("--smtp", metavar="HOST:PORT", callback=_read_smtp, help="Mail server for invitations.")
@click.option(
    "--latency",
    default=0.0,
    metavar="MS",
    type=click.FloatRange(min=0),
    help="Delay every response by MS milliseconds.",
)
@click.option(
    "--latitude",
    shell_complete=complete_latitude,
    multiple=True,
    metavar="NAME=VALUE",
    callback=_read_latitude,
    help="Choose the behaviour at a point that the interface leaves open. Repeatable.",
)
@click.option(
    "--fault",
    metavar="ID",
    callback=_read_fault,
    shell_complete=complete_fault,
    help="Break the interface with this fault.",
)
def serve(  # noqa: PLR0913 - an argument for each option
    *,
    host: str,
    port: int,
    database: str,
    seed_data: bool,
    smtp: tuple[str, int] | None,
    latency: float,
    latitude: Latitude,
    fault: Fault | None,
) -> None:
    """Run the reference service until Ctrl-C."""
    from conformance.reference.application import create_app
    from conformance.reference.server import Server, listen
    from conformance.reference.store import Store

    try:
        listener, base_url = listen(host, port)
    except (OSError, OverflowError) as problem:
        raise click.UsageError(f"Cannot listen on {host} port {port}: {problem}.") from problem
    try:
        app = create_app(
            Store(database), latitude=latitude, fault=fault, smtp=smtp, latency=latency / 1000, seed_data=seed_data
        )
    except sqlite3.Error as problem:
        listener.close()
        raise click.UsageError(f"Cannot use the database {database}: {problem}.") from problem
    server = Server(app, listener, lambda: _introduce(app, base_url))
    with suppress(KeyboardInterrupt):  # shells start background jobs with SIGINT ignored
        server.serve_until_stopped()
    click.echo("Stopped.")


def _introduce(app: Application, base_url: str) -> None:
    """Print the address, variables to paste into another terminal, and a first request."""
    from rich.text import Text

    from conformance.cli.text import open_console
    from conformance.reference.application import SANDBOX_PATH
    from conformance.reference.records import SCOPES

    keys = {scope: app.service.add_key(app.bootstrap.organization_id, [scope]) for scope in SCOPES}
    variables = {
        "CONFORMANCE_BASE_URL": base_url,
        "CONFORMANCE_API_KEY": app.bootstrap.api_key,
        **{f"KEY_{scope.upper().replace(':', '_')}": key for scope, key in keys.items()},
        "KEY_OTHER": app.bootstrap.other_organization,
        "CONFORMANCE_SANDBOX_URL": f"{base_url}{SANDBOX_PATH}",
        "CONFORMANCE_SANDBOX_TOKEN": app.sandbox_token,
    }
    console = open_console(soft_wrap=True)
    console.print(Text(f"The reference service listens at {base_url}. Ctrl-C stops it.", "bold"))
    for name, value in app.service.latitude.deviations.items():
        console.print(Text(f"Latitude {name}: {value}"))
    console.print(
        Text("\nVariables for another terminal: a full key, scoped keys, a key of another organization, the sandbox")
    )
    for name, value in variables.items():
        console.print(Text(f"export {name}={value}"))
    console.print(Text("\nA first request:"))
    console.print(
        Text('curl -H "Authorization: Bearer $CONFORMANCE_API_KEY" $CONFORMANCE_BASE_URL/api/v1/organizations/current')
    )
