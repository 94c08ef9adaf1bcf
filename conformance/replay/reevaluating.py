"""Evaluation of the checks on a recording instead of a target."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.replay.recorded_inputs_file import placeholder
from conformance.reports.script import Reproductions
from conformance.running.connect import redactor_of, wire_settings
from conformance.running.first_contact import reach
from conformance.running.run import Run
from conformance.targets.fixtures import Fixtures
from conformance.targets.journal import Journal, Place
from conformance.targets.journal_file import JournalFile
from conformance.targets.membership import Membership
from conformance.targets.recorded_fixtures import RecordedFixtures
from conformance.targets.recorder import JournalRecorder
from conformance.verdicts.conclude import Conclusions, conclusions
from conformance.verdicts.judge import Judge
from conformance.verdicts.reporting import NOT_RUN
from conformance.verdicts.session import run_checks
from conformance.wire.recorded_clock import FrozenClock
from conformance.wire.recorded_inputs import InputPlayer
from conformance.wire.replay_wire import ReplayWire
from conformance.wire.requests import MAIN_KEY, Credential

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.replay.recorded_inputs_file import RunInputs
    from conformance.replay.recording import Recording
    from conformance.targets.names import RunNames


@dataclass(frozen=True, slots=True)
class Reevaluation:
    """The conclusions from the checks on a recording.

    Attributes:
        conclusions: The conclusions.
        misfits: Mismatches between the checks' requests and the recording, a sentence each.
    """

    conclusions: Conclusions
    misfits: list[str]


class _UnwrittenFile(JournalFile):
    """A file that is never written."""

    def append(self, record: Mapping[str, object], *, durable: bool = False) -> None:
        """Write nothing."""


def unwritten_journal(names: RunNames, path: Path) -> Journal:
    """Return a journal in memory for a replay, which has nothing to undo; only checks read it."""
    return Journal(_UnwrittenFile(path), names, Place(""))


def reevaluate(recording: Recording, folder: Path) -> Reevaluation:
    """Run the checks on a recording.

    Args:
        recording: The recording.
        folder: Its folder; nothing is written there.
    """
    player = InputPlayer(recording.inputs.of_checks, recording.inputs.stopped)
    with ExitStack() as stack:
        wire, run = _run(recording, player, folder)
        stack.callback(run.scenarios.close)
        judge = Judge(run)
        reached = reach(run)
        run.closed = reached if isinstance(reached, str) else None
        run_checks(judge)
    script = Reproductions(recording.exchanges, run.names.prefix, run.profile.variables, redactor_of(run.profile))
    errors = [f"an error of the suite: {error.splitlines()[0]}: {error.splitlines()[-1]}" for error in judge.errors]
    unasked = [f"no check requested exchange {exchange.number}, sent by {exchange.check}" for exchange in wire.unused]
    unlike = [f"exchange {exchange.number} has a request that this suite does not send" for exchange in wire.unlike]
    return Reevaluation(
        conclusions=conclusions(run, judge.results, run.closed or NOT_RUN, script),
        misfits=[*dict.fromkeys([*wire.unrecorded, *player.unrecorded]), *unasked, *unlike, *player.unused, *errors],
    )


def _run(recording: Recording, player: InputPlayer, folder: Path) -> tuple[ReplayWire, Run]:
    inputs = recording.inputs
    profile = inputs.profile
    redactor = redactor_of(profile)
    wire = ReplayWire(
        wire_settings(profile, inputs.options),
        redactor,
        recording.exchanges,
        under=player.under,
        current=lambda: player.current,
        order=lambda: player.record_if_any("order", list[int]) or (),
        service_clock=lambda: player.record_if_any("service clock", float),
        withheld=lambda: player.record_if_any("withheld", str),
        stopped=inputs.stopped,
    )
    player.claim = wire.claim
    journal = unwritten_journal(inputs.names, folder)
    wire.observe(JournalRecorder(journal))
    membership = Membership(wire.send_all)
    fixtures = Fixtures(profile, None, redactor, send=wire.send, journal=journal, membership=membership)
    run = Run(
        profile=profile,
        options=inputs.options,
        wire=wire,
        fixtures=RecordedFixtures(fixtures, player, lambda name: _credential(name, inputs), journal),
        journal=journal,
        names=inputs.names,
        inputs=player,
        clock=FrozenClock(),
    )
    return wire, run


def _credential(name: str, inputs: RunInputs) -> Credential:
    """Return the placeholder of a credential of the recorded run."""
    if name == MAIN_KEY:
        return Credential.bearer(name, inputs.profile.api_key.reveal())
    return Credential.bearer(name, placeholder(name))
