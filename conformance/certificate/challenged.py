"""Signs of a certifier's challenge in the recording of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.certificate.claims import Claim
from conformance.targets.challenge import seed_of
from conformance.targets.names import normalized
from conformance.targets.responses import object_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.replay.recording import Recording
    from conformance.wire.exchange import Exchange

_GIVING = ("createEngagement", "updateEngagement", "updateCurrentOrganization", "inviteMember")
_NAMING = ("name", "description", "email")


class Signs(NamedTuple):
    """The claim that a run followed from its challenge, and the number of engagements made with its mark."""

    claim: Claim
    created: int


def signs(recording: Recording, challenge: str) -> Signs:
    """Return the signs of a challenge in a recording."""
    inputs, created, names = recording.inputs, 0, 0
    faults: list[str] = []
    if inputs.options.seed != seed_of(challenge):
        faults.append(f"the challenge gives the seed {seed_of(challenge)}, but the run had {inputs.options.seed}")
    for exchange in recording.exchanges:
        given = [normalized(name) for name in _names(exchange) if inputs.names.owns(name)]
        marked = [name for name in given if name.startswith(inputs.names.beginning)]
        if marked != given:
            faults.append(f"exchange {exchange.number} gives a name without the mark of the challenge")
        names += len(marked)
        created += bool(marked) and exchange.accepted and exchange.operation_id == "createEngagement"
    text = f"The challenge {challenge} gives the seed, and all {names} names that the run gave have its mark."
    return Signs(Claim(text, tuple(faults)), created)


def _names(exchange: Exchange) -> Iterator[str]:
    """Yield the texts that a request would give to a record as names."""
    if exchange.operation_id in _GIVING:
        body = object_in(exchange.sent_request.body)
        yield from (text for member in _NAMING if isinstance(text := body.get(member), str))
