"""A run: what checks and journeys may use."""

from __future__ import annotations

import base64
import hashlib
import random
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeVar

from conformance.catalogue import load_catalogue
from conformance.running.scenarios import Scenarios
from conformance.targets import capabilities
from conformance.targets.profile import Mode
from conformance.wire.clock import Clock, SystemClock
from conformance.wire.exchange import NotSent
from conformance.wire.recorded_clock import RecordedClock
from conformance.wire.recorded_inputs import InputRecorder
from conformance.wire.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from conformance.running.options import Effort, RunOptions
    from conformance.targets.journal import Journal
    from conformance.targets.names import RunNames
    from conformance.targets.profile import Profile
    from conformance.targets.provisioner import Provisioner
    from conformance.targets.recorded_fixtures import RecordedFixtures
    from conformance.wire.client import Wire
    from conformance.wire.exchange import Exchange
    from conformance.wire.recorded_inputs import Notes
    from conformance.wire.replay_wire import ReplayWire
    from conformance.wire.requests import Request
    from conformance.wire.waits import Waiting

T = TypeVar("T")

_NAP: Final = 0.5
"""Seconds of a pause after which it is looked whether the run is over."""

_BACKGROUND: Final = "the service's background work"

_WRITES: Final = "writes"
"""The need of whatever changes something."""

_LONGEST_LABEL: Final = 6
"""Characters of a label in a name: how long names may be is open."""

_WHOSE: Final = 5
"""Characters that tell whose a name is: one of 32 million."""


class Run:
    """Everything that a check or a journey may use.

    Attributes:
        profile: The target.
        options: What was asked for.
        wire: The client; ``send`` and ``send_all`` are shorter.
        fixtures: Keys, members, mail and subordinate records.
        journal: What the run changes.
        names: Names for what it creates.
        clock: What time it is, and how to let it pass; what it said is noted, so that a replay says it again.
        engagements_before: How many engagements the organization had when the run began; None where it did not say.
        closed: Why checks that send anything are left out, as a sentence; None where they run.
        scenarios: The journeys walked so far.
        observations: What was observed, by the id of the open point: text and evidence.
    """

    def __init__(  # noqa: PLR0913 - a run has these parts
        self,
        *,
        profile: Profile,
        options: RunOptions,
        wire: Wire | ReplayWire,
        fixtures: RecordedFixtures,
        journal: Journal,
        names: RunNames,
        provisioner: Provisioner | None = None,
        notes: Notes | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.profile = profile
        self.options = options
        self.wire = wire
        self.fixtures = fixtures
        self.journal = journal
        self.names = names
        self._notes: Notes = notes or InputRecorder()
        self.clock: Clock = RecordedClock(clock or SystemClock(), self._notes)
        self.engagements_before: int | None = None
        self.closed: str | None = None
        self._provisioner = provisioner
        self.scenarios = Scenarios(self, together=max(1, min(6, options.workers)))
        self.observations: dict[str, list[tuple[str, tuple[Exchange, ...]]]] = {}
        self._open_points = load_catalogue().open_points
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._lock = threading.Lock()
        self._waits = Waits()

    @property
    def mode(self) -> Mode:
        """What the run may do to the organization."""
        return self.profile.mode

    @property
    def effort(self) -> Effort:
        """How much the run may cost."""
        return self.options.effort

    def send(self, request: Request) -> Exchange:
        """Send one request.

        Raises:
            MissingMeans: It could change something, and the run may only read.
        """
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Send independent requests, several at a time; the answers are in the order of the calls.

        Raises:
            MissingMeans: One of them could change something, and the run may only read; none is sent then.
        """
        if self.mode is Mode.READ_ONLY and any(request.may_change for request in requests):
            raise capabilities.MissingMeans(_WRITES, self.unlocking([_WRITES]))
        return self.wire.send_all(requests)

    def send_permitted(self, requests: Sequence[Request]) -> list[Exchange | None]:
        """Send independent requests like ``send_all``, but for those that a guard withholds, which are None.

        Raises:
            MissingMeans: As for ``send_all``.
        """
        try:
            return [*self.send_all(requests)]
        except NotSent:
            return [self._send_if_permitted(request) for request in requests]

    def _send_if_permitted(self, request: Request) -> Exchange | None:
        try:
            return self.send(request)
        except NotSent:
            return None

    def send_in_turn(self, requests: Sequence[Request]) -> list[Exchange]:
        """Send requests one after the other: writes of one resource at the same time may be refused for that alone.

        Raises:
            MissingMeans: One of them could change something, and the run may only read.
        """
        return [self.send(request) for request in requests]

    def meets(self, need: str) -> bool:
        """Whether the target and the mode meet a need of the catalogue, as far as is known."""
        return capabilities.is_met(self.profile, need, missing_methods=self._missing_methods)

    def unlocking(self, needs: Sequence[str]) -> str:
        """What to add to the target file, or which option to give, so that these needs are met; as a sentence."""
        return f"To unlock it: {'; and '.join(capabilities.UNLOCKS[need] for need in needs)}."

    @property
    def missing(self) -> dict[str, str]:
        """Every need that is not met, with the line that meets it."""
        return capabilities.missing(self.profile, missing_methods=self._missing_methods)

    @property
    def _missing_methods(self) -> frozenset[str]:
        return frozenset(self._notes.record_if_any("missing methods", self._known_as_missing) or ())

    def _known_as_missing(self) -> list[str]:
        return [] if self._provisioner is None else sorted(self._provisioner.missing_methods)

    def name(self, label: str) -> str:
        """A name for something new, like no other of this run or another one, of 28 characters at most."""
        return self.names.name(f"{label[:_LONGEST_LABEL].rstrip('-')}-{self._number()}")

    def address(self, label: str) -> str:
        """An e-mail address for an invitation, under the domain that is there for it."""
        return self.names.address(f"{label}-{self._number()}", self.profile.invitation_domain)

    def _number(self) -> str:
        """What tells a name from all others: whose it is and its number there, the same in every run of a seed."""
        check = self._notes.current
        with self._lock:
            self._numbers[check] += 1
            number = self._numbers[check]
        whose = base64.b32encode(hashlib.sha256(check.encode()).digest()).decode("ascii")[:_WHOSE].lower()
        return f"{whose}-{number:03}"

    def random(self, purpose: str) -> random.Random:
        """Random choices for one purpose: the same for the same seed, whatever else the run does."""
        digest = hashlib.sha256(f"{self.options.seed}:{purpose}".encode()).digest()
        return random.Random(int.from_bytes(digest[:8]))  # noqa: S311 - reproducible on purpose

    def recorded(self, question: str, find: Callable[[], T]) -> T:
        """A JSON value that the seed alone does not give, such as what a library generates.

        It is noted, so that a replay has it without finding it again.

        Args:
            question: What it is, in words.
            find: Finds it in a run; texts in it are whole characters, so bytes go in as base64.
        """
        found: T = self._notes.record(question, find, lambda value: value, lambda value: value)
        return found

    @property
    def waiting(self) -> Waiting | None:
        """Whatever the run waits for, and until when; None if it goes on."""
        provisioner = None if self._provisioner is None else self._provisioner.waiting
        return self.wire.waiting or provisioner or self._waits.first

    def awaiting(self, what: str, seconds: float) -> AbstractContextManager[None]:
        """Let whoever watches the run know, inside a ``with``, that something is waited for."""
        return self._waits.during(what, seconds)

    def sleep(self, seconds: float) -> None:
        """Let time pass, on the run's clock; not to the end where the run is over."""
        with self.awaiting(_BACKGROUND, seconds):
            while seconds > 0 and not self.wire.is_over:
                self.clock.sleep(min(seconds, _NAP))
                seconds -= _NAP

    def wait_until(self, condition: Callable[[], bool], *, pause: float = 0.2) -> bool:
        """Look again and again until a condition holds or the target's patience is over; whether it held.

        A look may take longer than the patience: the last one begins when that is over.
        """
        end = self.clock.monotonic() + self.profile.patience
        began = self.clock.monotonic()
        with self.awaiting(_BACKGROUND, self.profile.patience):
            while not condition():
                if began >= end or self.wire.is_over:
                    return False
                self.sleep(pause)
                began = self.clock.monotonic()
        return True

    def observe(self, open_point: str, observed: str, *exchanges: Exchange) -> None:
        """Note what the target does at a point that the interface leaves open.

        Raises:
            KeyError: The catalogue has no such open point.
        """
        point = self._open_points[open_point]
        with self._lock:
            noted = self.observations.setdefault(point.id, [])
            if observed not in [text for text, _ in noted]:
                noted.append((observed, exchanges))
