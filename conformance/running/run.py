"""Run: the object that checks and scenarios use."""

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
from conformance.wire.rounds import in_rounds
from conformance.wire.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from conformance.oracle.laws.registry import Law
    from conformance.running.options import Effort, RunOptions
    from conformance.targets.journal import Journal
    from conformance.targets.names import RunNames
    from conformance.targets.profile import Profile
    from conformance.targets.provisioner import Provisioner
    from conformance.targets.recorded_fixtures import RecordedFixtures
    from conformance.wire.client import Wire
    from conformance.wire.exchange import Exchange
    from conformance.wire.recorded_inputs import RecordedInputs
    from conformance.wire.replay_wire import ReplayWire
    from conformance.wire.requests import Request
    from conformance.wire.waits import Waiting

T = TypeVar("T")

_NAP: Final = 0.5
"""Seconds of sleep between two tests whether the run is over."""

_BACKGROUND: Final = "the service's background work"

_WRITES: Final = "writes"
"""The need of a request that may change something."""

_LONGEST_LABEL: Final = 6
"""Characters of a label in a name; short, as the interface leaves the length of names open."""

_WHOSE: Final = 5
"""Characters of the check's hash in a name: 32 million values."""


def seeded(seed: int, purpose: str) -> random.Random:
    """Return a generator whose choices depend on a seed and a purpose alone."""
    digest = hashlib.sha256(f"{seed}:{purpose}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8]))  # noqa: S311 - reproducible on purpose


class Run:
    """The facilities of a check or a scenario.

    Attributes:
        profile: The target.
        options: The options of the run.
        wire: The HTTP client.
        fixtures: Keys, members, mail and subordinate records.
        journal: The record of the run's changes.
        names: Generator of names for new records.
        clock: The clock; its times are recorded for a replay.
        engagements_before: The organization's ``engagementCount`` at the start of the run; None if it was no integer.
        closed: Why checks that send requests are left out, as a sentence; None if they run.
        confirm_lists: Called with the responses of each request or batch; None to call nothing.
        broken_at_once: The laws that a list broke again and again while the run wrote nothing.
        scenarios: The scenarios and their results.
        observations: The observations by open-point id: text and evidence.
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
        inputs: RecordedInputs | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.profile = profile
        self.options = options
        self.wire = wire
        self.fixtures = fixtures
        self.journal = journal
        self.names = names
        self._inputs: RecordedInputs = inputs or InputRecorder()
        self.clock: Clock = RecordedClock(clock or SystemClock(), self._inputs)
        self.engagements_before: int | None = None
        self.closed: str | None = None
        self._provisioner = provisioner
        self.confirm_lists: Callable[[Sequence[Exchange]], None] | None = None
        self.broken_at_once: set[Law] = set()
        self.scenarios = Scenarios(self, together=max(1, min(6, options.workers)))
        self.observations: dict[str, list[tuple[str, tuple[Exchange, ...]]]] = {}
        self._open_points = load_catalogue().open_points
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._lock = threading.Lock()
        self._waits = Waits()

    @property
    def mode(self) -> Mode:
        """The mode of the run."""
        return self.profile.mode

    @property
    def effort(self) -> Effort:
        """The thoroughness of the run."""
        return self.options.effort

    def send(self, request: Request) -> Exchange:
        """Send a request.

        Raises:
            MissingMeans: The request could change something, and the run is read-only.
        """
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Send independent requests concurrently; the exchanges are in the order of the requests.

        Raises:
            MissingMeans: A request could change something, and the run is read-only; none is sent then.
            NotSent: A guard refused one of them; none is sent then that is not complete before it.
        """
        if self.mode is Mode.READ_ONLY and any(request.may_change for request in requests):
            raise capabilities.MissingMeans(_WRITES, self.unlocking([_WRITES]))
        exchanges = in_rounds(requests, self.wire.send_all)
        if self.confirm_lists is not None:
            self.confirm_lists(exchanges)
        return exchanges

    def send_permitted(self, requests: Sequence[Request]) -> list[Exchange | None]:
        """Send independent requests like ``send_all``, with None for those that a guard withholds.

        Raises:
            MissingMeans: As for ``send_all``.
        """
        return in_rounds(requests, self._send_permitted_round)

    def _send_permitted_round(self, requests: Sequence[Request]) -> list[Exchange | None]:
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
        """Send requests one after the other, as a service may refuse concurrent writes of a resource.

        Raises:
            MissingMeans: A request could change something, and the run is read-only.
        """
        return [self.send(request) for request in requests]

    def meets(self, need: str) -> bool:
        """Whether the target and the mode meet a need of the catalogue, by what is known so far."""
        return capabilities.is_met(self.profile, need, missing_methods=self._missing_methods)

    def unlocking(self, needs: Sequence[str]) -> str:
        """Return what to add to the target file, or which option to give, to meet needs, as a sentence."""
        return f"To unlock it: {'; and '.join(capabilities.UNLOCKS[need] for need in needs)}."

    @property
    def missing(self) -> dict[str, str]:
        """The needs that are not met, each with the line that meets it."""
        return capabilities.missing(self.profile, missing_methods=self._missing_methods)

    @property
    def _missing_methods(self) -> frozenset[str]:
        return frozenset(self._inputs.record_if_any("missing methods", self._known_as_missing) or ())

    def _known_as_missing(self) -> list[str]:
        return [] if self._provisioner is None else sorted(self._provisioner.missing_methods)

    def name(self, label: str) -> str:
        """Return a unique name for a new record, of at most 28 characters."""
        label = label[: _LONGEST_LABEL - len(self.names.mark)].rstrip("-")
        return self.names.name("-".join(filter(None, [label, self._number()])))

    def address(self, label: str, domain: str | None = None) -> str:
        """Return an e-mail address for an invitation, by default in the invitation domain."""
        return self.names.address(f"{label}-{self._number()}", domain or self.profile.invitation_domain)

    def _number(self) -> str:
        """Return the unique part of a name: the check's hash and a number, the same in every run."""
        check = self._inputs.current
        with self._lock:
            self._numbers[check] += 1
            number = self._numbers[check]
        whose = base64.b32encode(hashlib.sha256(check.encode()).digest()).decode("ascii")[:_WHOSE].lower()
        letters = "".join(chr(ord("a") + number // 26**place % 26) for place in (2, 1, 0))
        return f"{whose}-{letters}"  # names may have to end with a letter

    def random(self, purpose: str) -> random.Random:
        """Return a generator for a purpose; its choices depend on the seed and the purpose alone."""
        return seeded(self.options.seed, purpose)

    def recorded_value(self, name: str, find: Callable[[], T]) -> T:
        """Return a JSON value that takes long to compute, such as inputs generated by a library.

        The value is recorded, so that a replay need not compute it.

        Args:
            name: The name of the value.
            find: Computes the value in a run; it must be valid JSON, so encode bytes as base64.
        """
        found: T = self._inputs.record(name, find, lambda value: value, lambda value: value)
        return found

    @property
    def waiting(self) -> Waiting | None:
        """The current wait of the run; None if it is not waiting."""
        provisioner = None if self._provisioner is None else self._provisioner.waiting
        return self.wire.waiting or provisioner or self._waits.first

    def awaiting(self, what: str, seconds: float) -> AbstractContextManager[None]:
        """Show a wait in the progress display, inside a ``with``."""
        return self._waits.during(what, seconds)

    def sleep(self, seconds: float) -> None:
        """Sleep by the run's clock, or until the run is over."""
        with self.awaiting(_BACKGROUND, seconds):
            while seconds > 0 and not self.wire.is_over:
                self.clock.sleep(min(seconds, _NAP))
                seconds -= _NAP

    def wait_until(self, condition: Callable[[], bool], *, pause: float = 0.2) -> bool:
        """Poll a condition until it holds or the target's patience is over; return whether it held.

        A poll may take longer than the patience: the last one begins after its end.
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
        """Record the target's behaviour at an open point.

        Raises:
            KeyError: The catalogue has no such open point.
        """
        point = self._open_points[open_point]
        with self._lock:
            noted = self.observations.setdefault(point.id, [])
            if observed not in [text for text, _ in noted]:
                noted.append((observed, exchanges))
