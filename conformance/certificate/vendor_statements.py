"""Claims of a certificate that rest on the vendor's word, which no recording can bear out."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, Final

from conformance.certificate.claims import Basis, Claim
from conformance.reports.text import one_line
from conformance.reports.wording import counted
from conformance.wire.rate_limit_headers import date_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.replay.recording import Recording
    from conformance.wire.exchange import Exchange

_AHEAD: Final = 5
"""Seconds from which on the service's clock counts as different from the vendor's."""


def stated(recording: Recording, claims: Mapping[str, Any]) -> list[Claim]:
    """Return the claims that the vendor states.

    Args:
        recording: The recording.
        claims: The claims of the statement, which agree with the recording.
    """
    return [Claim(one_line(text), basis=Basis.STATED) for text in _texts(recording, claims)]


def _texts(recording: Recording, claims: Mapping[str, Any]) -> Iterator[str]:
    report, inputs = recording.report, recording.inputs
    suite, run, target = report["suite"], report["run"], report["target"]
    commit = f", commit {suite['commit']}" if "commit" in suite else ", commit unknown"
    yield f"The folder says that this suite ran: {suite['name']} {suite['version']}{commit}."
    yield (
        f"The exchanges with {target['base_url']} took place as recorded, from {run['started_at']} to "
        f"{run['finished_at']}.{_clock(recording.exchanges)}"
    )
    if inputs.certificate_sha256 is not None:
        yield f"The service had the TLS certificate sha256:{inputs.certificate_sha256}."
    form = inputs.key_form
    yield (
        f"The main key has {form.characters} ({form.alphabet}) after a prefix of {form.prefix}: "
        "the kinds of wrong keys follow from that. No key is recorded."
    )
    if inputs.profile.provisioner is not None:
        yield "The vendor's program made keys, members and other organizations as they were asked for."
    for name, source in claims["evidence"].items():
        subject = "Subordinate records were made and looked for" if name == "cascade" else "E-mails were read"
        yield f"{subject} by {source}."
    if withheld := sum(line["asked"] == "withheld" for line in inputs.of_checks):
        yield f"Not sent, because it might have changed what is not the run's: {counted(withheld, 'request')}."
    warnings = run.get("warnings", [])
    yield f"The run gave {counted(len(warnings), 'warning')}{': ' if warnings else '.'}{' '.join(warnings)}"
    if claims["build"]:
        yield f"The build under test is {', '.join(map(':'.join, claims['build'].items()))}."
    yield f"The certificate was signed at {claims['signed_at']}."


def _clock(exchanges: Sequence[Exchange]) -> str:
    """Return a sentence about the difference of the service's clock, by its Date headers; empty if it is small."""
    ahead = [
        date - exchange.started_at.timestamp()
        for exchange in exchanges
        if exchange.received is not None and (date := date_of(exchange.received)) is not None
    ]
    if not ahead or abs(seconds := round(median(ahead))) < _AHEAD:
        return ""
    return f" By its Date headers, the service's clock was {abs(seconds)} s {'ahead' if seconds > 0 else 'behind'}."
