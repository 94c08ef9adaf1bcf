"""Judgement of a certificate on a terminal: its claims, its level and what it lacks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from conformance.cli.challenge import given
from conformance.cli.ending import say_why
from conformance.cli.text import plain
from conformance.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from conformance.certificate.verifying import Verified
    from conformance.cli.required_properties import Required

_MOST_FAULTS: Final = 20
_SIGNS: Final[Mapping[str, tuple[str, str]]] = {
    "recomputed": ("✓", "green"), "stated by the vendor": ("·", ""), "not recomputed here": ("?", "yellow"),
}  # fmt: skip


def judged(console: Console, verified: Verified, required: Required) -> Exit:
    """Print the claims of a certificate and what it lacks; return the exit status."""
    _print_claims(console, verified)
    if not verified.holds or verified.predicate is None:
        return say_why(Exit.FAILED, "The certificate is not valid.", console)
    if not verified.is_judged:
        return say_why(Exit.NOT_HERE, "Signature and files are valid; this suite cannot judge the recording.", console)
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
        return say_why(Exit.UNDECIDED, f"the certificate lacks {', '.join(lacking)}.", console)
    return Exit.OK


def _print_claims(console: Console, verified: Verified) -> None:
    for claim in verified.claims:
        sign, style = ("✗", "red") if not claim.holds else _SIGNS[claim.basis]
        console.print(plain(f"{sign} {claim.basis}: {claim.text}", style, limit=1000))
        for fault in claim.faults[:_MOST_FAULTS]:
            console.print(plain(f"    {fault}", limit=1000))
        if (more := len(claim.faults) - _MOST_FAULTS) > 0:
            console.print(plain(f"    and {more} more"))
