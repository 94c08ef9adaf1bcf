"""A run from beginning to end: what it needs is opened, the checks run, everything is undone and reported."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from conformance.catalogue import choose
from conformance.oracle import read
from conformance.oracle.outcomes import CheckOutcome
from conformance.reports.folder import ensure_free, remove_outputs
from conformance.running.connect import connect, redactor_of, wire_settings
from conformance.running.embedded import EmbeddedService
from conformance.running.first_contact import reach
from conformance.running.provisioner_log import ProvisionerLog
from conformance.running.run import Run
from conformance.targets.census import Census, OtherEngagements, organization_census, take_census
from conformance.targets.fixtures import Fixtures
from conformance.targets.journal import Journal
from conformance.targets.journal_entries import Action
from conformance.targets.loading import profile_of
from conformance.targets.mailbox import Mailbox, MailboxError
from conformance.targets.membership import Membership
from conformance.targets.names import RunNames
from conformance.targets.ownership import Ownership
from conformance.targets.profile import Mode
from conformance.targets.provisioner import Provisioner
from conformance.targets.queries import QueryClient, latest_items
from conformance.targets.recorded_fixtures import RecordedFixtures
from conformance.targets.recorder import JournalRecorder
from conformance.targets.undo import UndoResult, undo
from conformance.targets.yaml_entries import TargetFileError
from conformance.wire.recorded_inputs import InputRecorder
from conformance.wire.replay_wire import OWNERSHIP
from conformance.wire.tls import certificate_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    import httpx

    from conformance.running.options import RunOptions
    from conformance.targets.profile import Profile
    from conformance.wire.client import Wire
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


_HURRIED = 1.0
"""Seconds that the provisioner has to end where the run is not to go on."""


class RunSession:
    """Opens all that a run needs, and in the end undoes what it did and closes everything.

    Attributes:
        options: What was asked for.
        profile: The target.
        folder: Where the journal and the outputs go.
        redactor: Knows every secret of the run.
        run: What the checks use.
        undone: What undoing came to, once it was done.
        census: The organization before and after the run.
        ownership: Knows which engagements are the run's.
        missing: Engagements of other users that were there before the run and are gone, once it was undone.
        provisioner: The operator's program, where the target has one.
        log: What the provisioner wrote to its stderr.
        notes: What checks were told beside HTTP.
        failure: What of our own ended the run early, as a sentence, such as a full disk; or None.
        certificate: The SHA-256 digest of the target's TLS certificate, where there is one.

    Raises:
        TargetFileError: The target file, an option or a key cannot be used.
        SelectionError: The options choose no requirement.
        EmbeddedError: The embedded service did not start.
        JournalError: The journal cannot be written, or holds what an earlier run left.
        FolderError: The folder of the report cannot be used.
    """

    def __init__(
        self,
        options: RunOptions,
        environ: Mapping[str, str] | None = None,
        *,
        default_folder: Callable[[str], Path] | None = None,
    ) -> None:
        self.options = options
        self.undone: UndoResult | None = None
        self.notes = InputRecorder()
        self.certificate: str | None = None
        self.census: dict[str, Census] = {}
        self.failure: str | None = None
        self.missing: list[str] = []
        self._others = OtherEngagements()
        self.began = datetime.now(UTC)
        self._start = time.monotonic()
        self._environ = os.environ if environ is None else environ
        self._default_folder = default_folder
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._stack = stack
            self.profile = self._profile()
            self._choose()
            self.redactor = redactor_of(self.profile)
            self.log = ProvisionerLog(self.redactor.text)
            wire = connect(self.profile, self.options, self.redactor, self.notes, self._transport())
            stack.callback(wire.close)
            self.folder = self._folder()
            self.run = self._run(wire)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.undo()
        finally:
            self._stack.close()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._start

    def reach(self) -> str | None:
        """Ask for the organization; the first request of the run, and the last one of a target that cannot be tested.

        Returns:
            Why nothing can be tested, as a sentence; None where the target answers and the key is good.

        Raises:
            TargetFileError: The key belongs to another organization than the target file names.
        """
        exchange = reach(self.run)
        if isinstance(exchange, str):
            return exchange
        self._recognize(exchange)
        self._others = OtherEngagements.of(latest_items(QueryClient(lambda request: self._read([request])[0])))
        self.certificate = certificate_sha256(wire_settings(self.profile, self.options))
        self.census["before"] = organization_census(exchange) | {"ownEngagements": 0}
        return None

    def undo(self) -> UndoResult:
        """Undo what the run did, as far as that is possible; a second time gives the same result."""
        if self.undone is None:
            if self.run.wire.stopped is not None and self.provisioner is not None:
                self.provisioner.close(_HURRIED)  # a journey may be waiting for it
            self.run.scenarios.close()
            with self.run.wire.undoing(), self.run.wire.checking("undoing"):
                # By the wire itself: a read-only run undoes what came of requests that had to be refused.
                wire = self.run.wire
                queries = QueryClient(wire.send, wire.send_all, self.run.fixtures.known_keys())
                self.undone = undo(self.run.journal, self.ownership, self._membership, queries)
                if "before" in self.census:
                    self.census["after"], listed = take_census(queries, self.run.names, self.undone.listed)
                    self.missing = self._others.missing(queries, listed)
        return self.undone

    def changes(self) -> list[dict[str, object]]:
        """What the run changed and what became of it, for the report."""
        return [
            {"action": entry.action.value, "subject": entry.subject, "id": entry.id, "state": entry.state.value}
            for entry in self.run.journal.entries()
        ]

    def _recognize(self, exchange: Exchange) -> None:
        """Make sure that this is the organization that the target file names."""
        try:
            identifier = read.text(read.data(exchange), "id", exchange)
        except CheckOutcome:
            identifier = None
        if refusal := self.profile.organization_refusal(identifier):
            raise TargetFileError(refusal)

    def _profile(self) -> Profile:
        options = self.options
        if options.target is None and options.base_url is None:
            return self._embedded()
        return profile_of(
            options.target,
            self._environ,
            base_url=options.base_url,
            api_key=options.api_key,
            mode=options.mode,
            is_found=options.is_file_found,
        )

    def _choose(self) -> None:
        """Put the ids of the chosen requirements in place of the patterns that were given."""
        options = self.options
        if classes := options.classes or self.profile.require:
            chosen = choose(classes, options.only, options.skip)
        elif options.only or options.skip:
            chosen = choose((), options.only, options.skip)
        else:
            return
        self.options = replace(options, only=chosen)

    def _embedded(self) -> Profile:
        self._mailbox = self._stack.enter_context(Mailbox())
        service = self._stack.enter_context(closing(EmbeddedService((self._mailbox.host, self._mailbox.port))))
        return service.profile(self.options.mode)

    def _transport(self) -> httpx.AsyncBaseTransport | None:
        """What carries requests, where that is not connections to the target."""
        return None

    def _folder(self) -> Path:
        if self.options.report is not None:
            return self.options.report
        if self._default_folder is not None:
            self.options = replace(self.options, report=self._default_folder(self.profile.name))
            return self._folder()
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))

    def _run(self, wire: Wire) -> Run:
        profile = self.profile
        names = RunNames.fresh()
        journal = self._journal(names)
        self._stack.callback(journal.close)
        recorder = JournalRecorder(journal, self._give_up)
        self._read = _reading(wire)
        self.ownership = Ownership(names, self._read)
        self._membership = membership = Membership(self._read, may_try_owner=profile.mode is Mode.DISPOSABLE)
        for guard in (recorder.ensure_harmless, self.ownership.ensure, membership.ensure):
            wire.guard(guard)
        for observer in (recorder, self.ownership, membership):
            wire.observe(observer)
        wire.reserve_for(lambda: len(journal.unsettled(Action.CREATE_ENGAGEMENT)))
        self.provisioner = provisioner = self._provisioned(lambda: wire.is_over)
        if provisioner is not None:
            self._stack.callback(provisioner.close)
        fixtures = Fixtures(
            profile,
            provisioner,
            self.redactor,
            mailbox=self._listening(),
            send=wire.send,
            journal=journal,
            membership=membership,
            ownership=self.ownership,
            is_over=lambda: wire.is_over,
        )
        return Run(
            profile=profile,
            options=self.options,
            wire=wire,
            fixtures=RecordedFixtures(fixtures, self.notes),
            journal=journal,
            names=names,
            provisioner=provisioner,
            notes=self.notes,
        )

    def _journal(self, names: RunNames) -> Journal:
        """Where changes are written down before they are sent; the outputs of an earlier run go."""
        ensure_free(self.folder)
        journal = Journal.open(self.folder, names, self.profile.base_url, self.profile.api_key.reveal())
        remove_outputs(self.folder)
        return journal

    def _provisioned(self, is_over: Callable[[], bool]) -> Provisioner | None:
        """What sets up what the interface itself cannot make, where the target has it."""
        return Provisioner.of(self.profile, self.log.take, self._environ, is_over)

    def _listening(self) -> Mailbox | None:
        if self.profile.mailbox is None:
            return None
        if self.options.target is None:
            return self._mailbox
        try:
            return self._stack.enter_context(Mailbox(*self.profile.mailbox))
        except MailboxError as error:
            raise TargetFileError(f"mailbox: {error}") from None

    def _give_up(self, reason: str) -> None:
        """End the run because something of our own does not work."""
        self.failure = self.failure or reason
        self.run.wire.stop(reason)


def _reading(wire: Wire) -> Callable[[Sequence[Request]], Sequence[Exchange]]:
    """Sends the reads that guards need, under a name that no check has."""

    def send_all(requests: Sequence[Request]) -> Sequence[Exchange]:
        with wire.checking(OWNERSHIP):
            return wire.send_all(requests)

    return send_all
