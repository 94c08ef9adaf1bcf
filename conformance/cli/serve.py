"""``conformance serve``: the reference service as a sandbox for client developers."""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.completion import complete_fault, complete_latitude
from conformance.cli.options import warn_of_visible_key
from conformance.running.intent import API_KEY, BASE_URL
from conformance.targets.validity import Refused, socket_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp

    from conformance.reference.application import Application
    from conformance.reference.faults import Fault
    from conformance.reference.latitude import Latitude

_EXPOSED: Final = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "Allow")
"""Response headers that web pages of another origin may read."""


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
    try:
        return socket_address(server) if server else None
    except Refused as problem:
        raise click.BadParameter(f"It {problem}.") from problem


def _read_key(_: click.Context, __: click.Parameter, key: str | None) -> str | None:
    """Return the key of ``--api-key``; an error does not show it."""
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise click.BadParameter("A key must have visible ASCII characters only.")
    return key


def _read_origin(_: click.Context, __: click.Parameter, origin: str | None) -> str | None:
    """Return the origin of ``--cors``."""
    if origin not in {None, "*"} and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s?#@*]+", str(origin)):
        raise click.BadParameter("An origin must have the form scheme://host or scheme://host:port, or be *.")
    return origin


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
    "--api-key",
    envvar=API_KEY,
    metavar="KEY",
    callback=_read_key,
    help="A full key of your choice, which is never printed. Prefer $CONFORMANCE_API_KEY: other users can read command"
    " lines, in the list of processes.",
)
@click.option(
    "--cors",
    is_flag=False,
    flag_value="*",
    metavar="[ORIGIN]",
    callback=_read_origin,
    help="Let web pages of ORIGIN use the service; without ORIGIN, or with *, pages of any origin.",
)
@click.option(
    "--log",
    is_flag=True,
    help="Print method, path, status and milliseconds of each request on stderr; no query, header or key.",
)
@click.option(
    "--database",
    default=":memory:",
    metavar="FILE",
    help="SQLite file for all data and keys, reused if it exists.  [default: in memory]",
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
@click.pass_context
def serve(  # noqa: PLR0913 - an argument for each option
    context: click.Context,
    *,
    host: str,
    port: int,
    api_key: str | None,
    cors: str | None,
    log: bool,
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

    warn_of_visible_key(context)
    try:
        listener, base_url = listen(host, port)
    except (OSError, OverflowError) as problem:
        raise click.UsageError(f"Cannot listen on {host} port {port}: {problem}.") from problem
    try:
        app = create_app(
            Store(database), latitude=latitude, fault=fault, smtp=smtp, latency=latency / 1000, seed_data=seed_data
        )
    except (sqlite3.Error, OSError) as problem:
        listener.close()
        raise click.UsageError(f"Cannot use the database {database}: {problem}.") from problem
    app = replace(app, asgi=_front(app, cors=cors, log=log, api_key=api_key))
    server = Server(app, listener, lambda: _introduce(app, base_url, api_key))
    with suppress(KeyboardInterrupt):  # shells start background jobs with SIGINT ignored
        server.serve_until_stopped()
    click.echo("Stopped.")


def _front(app: Application, *, cors: str | None, log: bool, api_key: str | None) -> ASGIApp:
    """Return the service with the sandbox's pages, and with cross-origin headers and a log if they are wanted."""
    from starlette.middleware.cors import CORSMiddleware

    from conformance.cli.request_log import log_requests
    from conformance.reference.pages import with_pages

    front = with_pages(app.asgi)
    if cors is not None:
        front = CORSMiddleware(
            front, allow_origins=[cors], allow_methods=["*"], allow_headers=["*"], expose_headers=_EXPOSED
        )
    if log:
        front = log_requests(front, [app.bootstrap.sandbox_token, *([api_key] if api_key else ())])
    return front


def _introduce(app: Application, base_url: str, api_key: str | None) -> None:
    """Print the address, variables to paste into another terminal, and a first request.

    A key of the user's choice is accepted from here on, and not printed.
    """
    from rich.text import Text

    from conformance.cli.text import open_console
    from conformance.interface.operations import SCOPES
    from conformance.reference.application import SANDBOX_PATH
    from conformance.targets.capabilities import key_variable

    organization_id = app.bootstrap.organization_id
    keys = {scope: app.service.add_lasting_key(organization_id, scope, [scope]) for scope in SCOPES}
    if api_key is not None:
        app.service.add_key(organization_id, key=api_key)
    variables = {
        BASE_URL: base_url,
        API_KEY: app.bootstrap.api_key if api_key is None else api_key,
        **{key_variable(scope): key for scope, key in keys.items()},
        "KEY_OTHER": app.bootstrap.other_organization,
        "CONFORMANCE_SANDBOX_URL": f"{base_url}{SANDBOX_PATH}",
        "CONFORMANCE_SANDBOX_TOKEN": app.bootstrap.sandbox_token,
    }
    console = open_console(soft_wrap=True)
    console.print(Text(f"The reference service listens at {base_url}. Ctrl-C stops it.", "bold"))
    console.print(Text(f"Documentation: {base_url}/docs"))
    for name, value in app.service.latitude.deviations.items():
        console.print(Text(f"Latitude {name}: {value}"))
    kinds = "a full key, single-permission keys, a key of another organization, the sandbox"
    console.print(Text(f"\nVariables for another terminal: {kinds}"))
    for name, value in variables.items():
        console.print(Text(f"export {name}={value}" if value != api_key else f"# {name}: the key that you chose"))
    console.print(Text("\nA first request:"))
    console.print(
        Text('curl -H "Authorization: Bearer $CONFORMANCE_API_KEY" $CONFORMANCE_BASE_URL/api/v1/organizations/current')
    )
