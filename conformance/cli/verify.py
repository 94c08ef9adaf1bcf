"""``conformance verify``: verification of a certificate without its target."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.catalogue import CLASSES
from conformance.cli.text import open_console, plain, usage_error
from conformance.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


class Age(click.ParamType[timedelta]):
    """A number of days or hours, such as 90d or 12h."""

    name = "age"

    def convert(self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the length of time."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([0-9]{1,5})([dh])", value)
        if found is None:
            self.fail(f"{value!r} is no age such as 90d or 12h.", param, ctx)
        return timedelta(**{{"d": "days", "h": "hours"}[found[2]]: int(found[1])})


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--public-key", "key_file", required=True, metavar="FILE.pub", type=click.Path(dir_okay=False, path_type=Path),
    help="The public key of the signer that you trust.",
)  # fmt: skip
@click.option(
    "--require",
    type=click.Choice(list(_VERDICTS)),
    default="conformant",
    show_default=True,
    help="The verdict that the certificate must state: conformant, at least inconclusive, or any.",
)
@click.option(
    "--require-class",
    "classes",
    multiple=True,
    metavar="ID",
    type=click.Choice(list(CLASSES)),
    help="A class that must be attained. Repeatable.",
)
@click.option("--effort", type=click.Choice(_EFFORTS), help="The least effort of the run.")
@click.option("--max-age", type=Age(), help="The longest time since the end of the run, such as 90d or 12h.")
def verify(
    folder: Path,
    key_file: Path,
    *,
    require: str,
    classes: tuple[str, ...],
    effort: str | None,
    max_age: timedelta | None,
) -> None:
    """Verify the certificate in the folder of a run: signature, files and report, and judge the recording again.

    A claim is recomputed, stated by the vendor, or not recomputed here because other versions are installed.

    Exit status: 0 no claim is wrong, and the certificate is as required; 1 a claim is wrong; 2 usage; 4 no claim is
    wrong, but the certificate is not as required; 5 another release of the suite must judge the recording.
    """
    from conformance.certificate.keys import KeyFileError, read_public_key
    from conformance.certificate.verifying import verify as verify_folder

    try:
        key = read_public_key(key_file)
    except KeyFileError as error:
        raise usage_error(error) from error
    console, verified = open_console(soft_wrap=True), verify_folder(folder, key)
    _print_claims(console, verified)
    if not verified.holds or verified.predicate is None:
        console.print(plain("Exit 1: The certificate does not hold.", "bold red"))
        sys.exit(Exit.FAILED)
    if not verified.is_judged:
        console.print(plain("Exit 5: Signature and files hold; this suite cannot judge the recording.", "bold red"))
        sys.exit(Exit.NOT_HERE)
    from conformance.certificate.statement import CLAIMS

    claims = verified.predicate[CLAIMS]
    now = datetime.now(UTC)
    sys.exit(_accepted(console, claims, list(missing(claims, require, classes, effort, max_age, now))))


def _print_claims(console: Console, verified: Verified) -> None:
    for claim in verified.claims:
        sign, style = ("✗", "red") if not claim.holds else _SIGNS[claim.basis]
        console.print(plain(f"{sign} {claim.basis}: {claim.text}", style, limit=1000))
        for fault in claim.faults[:_MOST_FAULTS]:
            console.print(plain(f"    {fault}", limit=1000))
        if (more := len(claim.faults) - _MOST_FAULTS) > 0:
            console.print(plain(f"    and {more} more"))


def _accepted(console: Console, claims: Mapping[str, Any], lacking: list[str]) -> Exit:
    """Print the verdict and which requirements of the user it does not meet; return the exit status."""
    for reservation in claims["reservations"]:
        console.print(plain(f"! Signed although: {reservation}", "yellow", limit=1000))
    attained = ", ".join(claims["classes_attained"]) or "no class"
    console.print(
        plain(
            f"The certificate holds at level {claims['level']}: {claims['target']['name']} is {claims['verdict']}; "
            f"attained: {attained}.",
            "bold",
        )
    )
    if lacking:
        console.print(plain(f"Exit 4: required is {', '.join(lacking)}.", "bold red"))
        return Exit.UNDECIDED
    return Exit.OK


def missing(
    claims: Mapping[str, Any],
    require: str,
    classes: Iterable[str],
    effort: str | None,
    max_age: timedelta | None,
    now: datetime,
) -> Iterator[str]:
    """Yield each property that is required of a certificate and that it does not have.

    Args:
        claims: The claims of its statement.
        require: The verdict.
        classes: The classes.
        effort: The least effort, or None.
        max_age: The longest time since the end of the run, or None.
        now: The present time.
    """
    if claims["verdict"] not in _VERDICTS[require]:
        yield require
    yield from (f"the class {name}" for name in classes if name not in claims["classes_attained"])
    run = claims["run"]
    if effort is not None and _EFFORTS.index(run["effort"]) < _EFFORTS.index(effort):
        yield f"the effort {effort}"
    if max_age is not None and now - datetime.fromisoformat(run["finished_at"]) > max_age:
        yield f"a run of the last {max_age.total_seconds() / 3600:g} h"
