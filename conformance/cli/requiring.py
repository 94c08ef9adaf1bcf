"""Certificates on the command line: their arguments, required properties and judgement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.catalogue import CLASSES
from conformance.cli.challenge import REGISTER, given, register_option
from conformance.cli.options import Challenge
from conformance.cli.text import plain
from conformance.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from rich.console import Console

    from conformance.certificate.verifying import Verified

_MOST_FAULTS: Final = 20
_VERDICTS: Final[Mapping[str, tuple[str, ...]]] = {
    "conformant": ("conformant",),
    "inconclusive": ("conformant", "inconclusive"),
    "any": ("conformant", "inconclusive", "non-conformant"),
}
"""The verdicts that meet each required one."""
_EFFORTS: Final = ("quick", "standard", "deep")
_SIGNS: Final[Mapping[str, tuple[str, str]]] = {
    "recomputed": ("✓", "green"), "stated by the vendor": ("·", ""), "not recomputed here": ("?", "yellow"),
}  # fmt: skip


class _Age(click.ParamType[timedelta]):
    """A number of days or hours, such as 90d or 12h."""

    name = "age"

    def convert(self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the length of time."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([0-9]{1,5})([dh])", value)
        if found is None:
            self.fail(f"{value!r} is not an age such as 90d or 12h.", param, ctx)
        return timedelta(**{{"d": "days", "h": "hours"}[found[2]]: int(found[1])})


def certificate_arguments(key: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the folder of a certificate, and the key that must have signed it, to a command.

    Args:
        key: The help of the key.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        file, folder = click.Path(dir_okay=False, path_type=Path), click.Path(True, file_okay=False, path_type=Path)
        command = click.option("--public-key", "vendor_file", required=True, metavar="FILE.pub", type=file, help=key)(
            command
        )
        return click.argument("folder", metavar="DIR", type=folder)(command)

    return add


def ensure_distinct(vendor: Ed25519PublicKey, certifier: Ed25519PublicKey | None) -> None:
    """Ensure that a vendor does not certify its own run.

    Raises:
        click.UsageError: Both keys are the same.
    """
    if vendor == certifier:
        raise click.UsageError("The vendor's key and the certifier's are the same.")


def requiring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of ``Required`` to a command."""
    for option in (
        register_option("--challenges", "The list of challenges given; a missing file is ignored."),
        click.option(
            "--challenge",
            type=Challenge(),
            metavar="TEXT",
            help="The challenge from which the run's seed must be derived.",
        ),
        click.option("--max-age", type=_Age(), help="Maximum time since the end of the run, such as 90d or 12h."),
        click.option("--effort", type=click.Choice(_EFFORTS), help="Minimum effort of the run."),
        click.option(
            "--require-class",
            "classes",
            multiple=True,
            metavar="ID",
            type=click.Choice(list(CLASSES)),
            help="A class that must be attained. Repeatable.",
        ),
        click.option(
            "--require",
            "verdict",
            type=click.Choice(list(_VERDICTS)),
            default="conformant",
            show_default=True,
            help="The verdict that the certificate must state: conformant, at least inconclusive, or any.",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """The properties that a user requires of a certificate.

    Attributes:
        verdict: The verdict.
        classes: The classes.
        effort: The least effort, or None.
        max_age: The longest time since the end of the run, or None.
        challenge: The challenge that the run must follow, or None.
        register: The certifier's list of the challenges given, which may be missing.
        countersigned: Whether the given certifier must have countersigned.
        stamped: Whether the given authority must have given a time stamp.
    """

    verdict: str
    classes: tuple[str, ...]
    effort: str | None
    max_age: timedelta | None
    challenge: str | None
    register: Path = REGISTER
    countersigned: bool = False
    stamped: bool = False

    def missing(self, claims: Mapping[str, Any], verified: Verified, now: datetime) -> Iterator[str]:
        """Yield each required property that a certificate does not have.

        Args:
            claims: The claims of its statement.
            verified: The result of its verification.
            now: The present time.
        """
        if claims["verdict"] not in _VERDICTS[self.verdict]:
            yield self.verdict
        yield from (f"the class {name}" for name in self.classes if name not in claims["classes_attained"])
        run = claims["run"]
        if self.effort is not None and _EFFORTS.index(run["effort"]) < _EFFORTS.index(self.effort):
            yield f"the effort {self.effort}"
        if self.max_age is not None and now - datetime.fromisoformat(run["finished_at"]) > self.max_age:
            yield f"a run of the last {self.max_age.total_seconds() / 3600:g} h"
        if self.challenge is not None and run["challenge"] != self.challenge:
            yield f"the challenge {self.challenge}"
        elif self.challenge is not None and not verified.created:
            yield "an engagement that was created with the mark of the challenge"
        if self.countersigned and not verified.is_countersigned:
            yield "the certifier's countersignature"
        if self.stamped and not verified.is_stamped:
            yield "a time stamp"


def judged(console: Console, verified: Verified, required: Required) -> Exit:
    """Print the claims of a certificate and what it lacks; return the exit status."""
    _print_claims(console, verified)
    if not verified.holds or verified.predicate is None:
        return ended(console, Exit.FAILED, "The certificate is not valid.")
    if not verified.is_judged:
        return ended(console, Exit.NOT_HERE, "Signature and files are valid; this suite cannot judge the recording.")
    from conformance.certificate.statement import CHALLENGED, CLAIMS, COUNTERSIGNED, SELF_CONSISTENT, WITNESSED
    from conformance.reference.fingerprint import recognized

    claims = verified.predicate[CLAIMS]
    facts = [recognized(verified.recording.exchanges)] if verified.recording else []
    if required.challenge is not None:
        facts.append(given(required.register, required.challenge, claims["run"]["started_at"]))
    for fact in filter(None, facts):
        console.print(plain(f"! {fact}", "yellow", limit=1000))
    lacking = list(required.missing(claims, verified, datetime.now(UTC)))
    for reservation in claims["reservations"]:
        console.print(plain(f"! Signed although: {reservation}", "yellow", limit=1000))
    is_challenged = required.challenge == claims["run"]["challenge"] is not None and verified.created
    levels = [SELF_CONSISTENT, *([CHALLENGED] if is_challenged else [])]
    levels += [COUNTERSIGNED] if verified.is_countersigned else []
    levels += [WITNESSED] if verified.is_countersigned and verified.is_witnessed else []
    attained = ", ".join(claims["classes_attained"]) or "no class"
    console.print(
        plain(
            f"The certificate is valid at level {', and level '.join(levels)}: {claims['target']['name']} is "
            f"{claims['verdict']}; attained: {attained}.",
            "bold",
        )
    )
    if lacking:
        return ended(console, Exit.UNDECIDED, f"required is {', '.join(lacking)}.")
    return Exit.OK


def ended(console: Console, status: Exit, why: str) -> Exit:
    """Print the last line of a command that does not end with 0, and return its status."""
    console.print(plain(f"Exit {status:d}: {why}", "bold red", limit=1000))
    return status


def _print_claims(console: Console, verified: Verified) -> None:
    for claim in verified.claims:
        sign, style = ("✗", "red") if not claim.holds else _SIGNS[claim.basis]
        console.print(plain(f"{sign} {claim.basis}: {claim.text}", style, limit=1000))
        for fault in claim.faults[:_MOST_FAULTS]:
            console.print(plain(f"    {fault}", limit=1000))
        if (more := len(claim.faults) - _MOST_FAULTS) > 0:
            console.print(plain(f"    and {more} more"))
