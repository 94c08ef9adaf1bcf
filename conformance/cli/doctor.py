"""``conformance doctor``: read-only check of a target and its target file before a run."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import click
from rich.table import Table

from conformance.catalogue import CLASSES, load_catalogue
from conformance.cli.costs import cost_lines
from conformance.cli.options import color_option, connection_options, given_profile, target_options, warn_of_visible_key
from conformance.cli.text import complain, open_console, plain
from conformance.exits import Exit
from conformance.oracle.laws import rate_limits
from conformance.running.connect import connect, redactor_of, wire_settings
from conformance.running.options import RunOptions
from conformance.running.preflight import READS, Tried, problems, try_keys
from conformance.targets import capabilities
from conformance.targets.profile import Mode, Profile
from conformance.targets.provisioner import Provisioner
from conformance.targets.yaml_entries import TargetFileError
from conformance.wire import requests
from conformance.wire.exchange import Exchange, NoResponse
from conformance.wire.tls import certificate_sha256

if TYPE_CHECKING:
    from rich.console import Console

    from conformance.wire.client import Wire

_HEADINGS: Final = ("key", "belongs to", "organization", "engagement", "list")
"""The last three columns say whether the key can read the resource."""
_ID_SHOWN: Final = 12
_DIGITS_SHOWN: Final = 16


@click.command()
@target_options
@connection_options
@click.option("--read-only", is_flag=True, help="Check for a run with --read-only.")
@click.option("--disposable", is_flag=True, help="Check for a run with --disposable.")
@color_option
@click.pass_context
def doctor(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - the values of click's options
    """Check the keys and the target file, and estimate what a run could judge and cost. Only reads the target.

    Exit status: 0 no problem found; 1 a key or an entry of the target file is wrong; 2 an option or the target file
    cannot be used; 3 the target could not be tested.
    """
    warn_of_visible_key(context)
    try:
        mode = Mode.of_options(read_only=given["read_only"], disposable=given["disposable"])
        profile = given_profile(given, mode)
        wire = connect(profile, RunOptions(), redactor_of(profile))
    except TargetFileError as error:
        complain(error)
        sys.exit(Exit.USAGE)
    try:
        status = _examine(open_console(soft_wrap=True), profile, wire)
    except NoResponse as no_response:
        complain(f"The target could not be tested: {no_response}.")
        status = Exit.UNTESTABLE
    finally:
        wire.close()
    sys.exit(status)


def _examine(console: Console, profile: Profile, wire: Wire) -> Exit:
    console.print(plain(f"{profile.name} at {profile.base_url}", "bold"), plain(f"(mode {profile.mode.value})", "dim"))
    for warning in profile.warnings:
        console.print(plain(f"! {warning}", "yellow"))
    first = wire.send(requests.get_organization())
    console.print(plain(f"Reachable: {first.status} in {first.seconds * 1000:.0f} ms, {_tls(profile)}"))
    console.print(plain(_limit(first)))
    if first.status == HTTPStatus.UNAUTHORIZED:
        complain("The target could not be tested: the service refuses the main key with 401.")
        return Exit.UNTESTABLE
    keys = try_keys(profile, wire, first)
    console.print("\nRead access of each key (write access is not tested):")
    console.print(_keys(keys))
    wrong = list(problems(profile, wire, keys))
    if (problem := _ping(profile)) is not None:
        wrong.append(problem)
        profile = replace(profile, provisioner=None)
    for sentence in wrong:
        console.print(plain(f"! {sentence}", "red"))
    console.print("\nRequirements that a run would judge:")
    console.print(_classes(profile))
    _print_unlocking(console, profile)
    console.print("\nEstimated cost of a run:")
    for line in cost_lines(profile, wire.exchanges):
        console.print(plain(line))
    return Exit.FAILED if wrong else Exit.OK


def _ping(profile: Profile) -> str | None:
    """Return why the provisioner does not respond, as a sentence; None if it does, or there is none."""
    provisioner = Provisioner.of(profile, lambda _: None)
    if provisioner is None:
        return None
    with closing(provisioner):
        return provisioner.ping()


def _tls(profile: Profile) -> str:
    if profile.base_url.startswith("http:"):
        return "without TLS"
    digest = certificate_sha256(wire_settings(profile, RunOptions()))
    shown = "" if digest is None else f" (SHA-256 {digest[:_DIGITS_SHOWN]}...)"
    return ("TLS certificate verified" if profile.tls.verify else "TLS certificate NOT verified") + shown


def _limit(exchange: Exchange) -> str:
    limit, remaining = rate_limits.limit(exchange), rate_limits.remaining(exchange)
    if limit is None:
        return "Rate limit: none in the response headers"
    ahead = rate_limits.ahead(exchange)
    until = "" if ahead is None else f" for the next {max(ahead, 0):.0f} s"
    return f"Rate limit: {limit} requests per window, {remaining} left{until}"


def _keys(keys: list[Tried]) -> Table:
    """Return a table of the keys, their organizations and their read access."""
    table = _table(*_HEADINGS)
    for key in keys:
        belongs = key.organization or "-"
        shown = belongs if len(belongs) <= _ID_SHOWN else f"{belongs[:_ID_SHOWN]}..."
        table.add_row(plain(key.name), plain(shown), *(plain(key.access(what)) for what in READS))
    return table


def _classes(profile: Profile) -> Table:
    """Return a table of the requirements of each class that the target file unlocks."""
    table = _table("class", "requirements")
    for name in CLASSES:
        needs = [entry.needs for entry in load_catalogue().requirements.values() if entry.conformance_class == name]
        unlocked = sum(capabilities.are_met(profile, entry) for entry in needs)
        style = "green" if unlocked == len(needs) else "yellow" if unlocked else "dim"
        table.add_row(plain(name, style), plain(f"{unlocked:>3} of {len(needs)}", style))
    return table


def _print_unlocking(console: Console, profile: Profile) -> None:
    """Print each line that would unlock more, with the classes that it unlocks."""
    entries = load_catalogue().requirements.values()
    needing = capabilities.missing(profile)
    lines: dict[str, list[str]] = {}
    for need in needing:
        lines.setdefault(capabilities.family_line(need, needing), []).append(need)
    if lines:
        console.print("\nTo unlock more:")
    for line, needs in lines.items():
        served = {entry.conformance_class for entry in entries if {*entry.needs} & {*needs}}
        classes = [name for name in CLASSES if name in served]
        console.print(plain(f"  {line}"), plain(f"({', '.join(classes)})", "dim"))


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    return table
