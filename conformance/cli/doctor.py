"""``conformance doctor``: what a target file unlocks, which keys work, what a run would cost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.table import Table

from conformance.catalogue import CLASSES, load_catalogue
from conformance.cli.ending import Exit
from conformance.cli.options import profile_of, target_options
from conformance.cli.text import plain
from conformance.operations import SCOPES
from conformance.oracle import rate_limit_laws
from conformance.running.connecting import connect, redactor_of
from conformance.running.options import RunOptions
from conformance.target import capabilities
from conformance.target.profile import Mode, Profile
from conformance.target.reading import TargetFileError
from conformance.verdicts.conclude import unlocking
from conformance.wire import call
from conformance.wire.call import Credential
from conformance.wire.exchange import Exchange, Unanswered

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.wire.client import Wire

_REQUESTS: Final = {"quick": (400, 700), "standard": (700, 1200), "deep": (2500, 4000)}
"""About how many requests each effort takes: key alone, and with everything unlocked."""

_READS: Final = (
    ("organizations:read", call.get_organization()),
    ("engagements:read", call.list_engagements(perPage=1)),
)
_WORKERS: Final = 6


@click.command()
@target_options
@click.option("--read-only", is_flag=True, help="As a run with --read-only would see it.")
@click.option("--disposable", is_flag=True, help="As a run with --disposable would see it.")
def doctor(
    base_url: str | None, api_key: str | None, target: Path | None, *, read_only: bool, disposable: bool
) -> None:
    """Say what a target file unlocks, which keys work, and what a run would cost. Only reads the target."""
    mode = Mode.READ_ONLY if read_only else Mode.DISPOSABLE if disposable else None
    try:
        profile = profile_of(base_url, api_key, target, mode)
        wire = connect(profile, RunOptions(), redactor_of(profile))
    except TargetFileError as error:
        click.echo(str(error), err=True)
        sys.exit(Exit.USAGE)
    try:
        reachable = _examine(Console(highlight=False), profile, wire)
    finally:
        wire.close()
    sys.exit(Exit.OK if reachable else Exit.UNTESTABLE)


def _examine(console: Console, profile: Profile, wire: Wire) -> bool:
    console.print(plain(f"{profile.name} at {profile.base_url}", "bold"), plain(f"(mode {profile.mode.value})", "dim"))
    for warning in profile.warnings:
        console.print(plain(f"! {warning}", "yellow"))
    exchange = wire.send(call.get_organization())
    try:
        status = exchange.status
    except Unanswered as trouble:
        console.print(plain(f"Not reachable: {trouble}.", "red"))
        return False
    console.print(plain(f"Reachable: {status} in {exchange.seconds * 1000:.0f} ms, {_tls(profile)}"))
    console.print(plain(_limit(exchange)))
    _print_keys(console, profile, wire)
    _print_classes(console, profile)
    _print_costs(console, profile, exchange)
    return True


def _tls(profile: Profile) -> str:
    if profile.base_url.startswith("http:"):
        return "without TLS"
    return "TLS certificate verified" if profile.tls.verify else "TLS certificate NOT verified"


def _limit(exchange: Exchange) -> str:
    limit, remaining = rate_limit_laws.limit(exchange), rate_limit_laws.remaining(exchange)
    if limit is None:
        return "Rate limit: the answer names none"
    return f"Rate limit: {limit} requests a window, {remaining} left"


def _print_keys(console: Console, profile: Profile, wire: Wire) -> None:
    keys = {"api_key": profile.api_key, **profile.keys}
    keys |= {f"member {member.user_id}": member.key for member in profile.members if member.key is not None}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("Key", *(scope for scope, _ in _READS)):
        table.add_column(heading)
    for name, key in keys.items():
        credential = Credential.bearer(name, key.reveal())
        answers = wire.send_all([read.with_key(credential) for _, read in _READS])
        table.add_row(plain(name), *(plain(_allowed(answer)) for answer in answers))
    console.print(table)
    if missing := [scope for scope in SCOPES if scope not in profile.keys]:
        source = "the provisioner may make them" if profile.provisioner else "not in the target file"
        console.print(plain(f"Keys of a single permission that are missing: {', '.join(missing)} ({source})", "dim"))


def _allowed(exchange: Exchange) -> str:
    """What a key turned out to be worth for one read; writing permissions cannot be told without writing."""
    try:
        status = exchange.status
    except Unanswered as trouble:
        return str(trouble)
    words = {200: "yes", 401: "invalid key", 403: "no"}
    return words.get(status, str(status))


def _print_classes(console: Console, profile: Profile) -> None:
    missing = capabilities.missing(profile)
    locked = unlocking(load_catalogue(), missing)
    for name in CLASSES:
        needs = [entry.needs for entry in load_catalogue().requirements.values() if entry.conformance_class == name]
        open_ones = sum(1 for entry in needs if all(capabilities.is_met(profile, need) for need in entry))
        style = "green" if open_ones == len(needs) else "yellow" if open_ones else "dim"
        console.print(plain(f"{name:<13} {open_ones:>3} of {len(needs)} requirements", style))
        for line in locked.get(name, []):
            console.print(plain(f"{'':<13} to unlock: {line}", "dim"), soft_wrap=True)


def _print_costs(console: Console, profile: Profile, exchange: Exchange) -> None:
    """Say about how long each effort would take at the latency that was just seen."""
    full = profile.provisioner is not None
    for effort, (alone, everything) in _REQUESTS.items():
        requests = everything if full else alone
        seconds = requests * max(exchange.seconds, 0.002) / _WORKERS + 3
        console.print(plain(f"--effort {effort:<9} about {requests} requests, {seconds:.0f} s", "dim"))
