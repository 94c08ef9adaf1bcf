"""Session of a run: opens its resources, undoes its changes and closes everything."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from conformance.catalogue import choose, load_catalogue
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
from conformance.targets.remains import reopen_remaining
from conformance.targets.undo import undo
from conformance.targets.yaml_entries import TargetFileError
from conformance.wire.exchange import OWNERSHIP, UNDOING
from conformance.wire.recorded_inputs import InputRecorder
from conformance.wire.tls import certificate_sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import httpx

    from conformance.running.options import RunOptions
    from conformance.targets.pending import UndoResult
    from conformance.targets.profile import Profile
    from conformance.wire.client import Wire
    from conformance.wire.exchange import Exchange
    from conformance.wire.requests import Request


_HURRIED = 1.0
"""Seconds that the provisioner has to end after the run was stopped."""

_LEAST_LATENESS = 1.0
"""The least seconds in which a service may carry out a write without a response."""


class RunSession:
    """The resources of a run, inside a ``with``; its end undoes the run's changes and closes everything.

    Attributes:
        options: The options of the run.
        profile: The target.
        folder: The folder of the journal and the outputs.
        redactor: Knows every secret of the run.
        run: The object that checks use.
        undone: The result of undoing; None before.
        census: The organization before and after the run.
        ownership: Knows which engagements belong to the run.
        missing: Other users' engagements that existed before the run and are gone after undoing.
        provisioner: The operator's program, or None.
        log: The provisioner's stderr.
        inputs: The inputs of checks that are no exchanges.
        failure: The suite's own problem that ended the run early, such as a full disk, as a sentence; or None.
        certificate: The SHA-256 digest of the target's TLS certificate, or None.

    Raises:
        TargetFileError: The target file, an option or a key cannot be used.
        SelectionError: The options choose no requirement.
        EmbeddedError: The embedded service did not start.
        JournalError: The journal cannot be written, or lists records that an earlier run left.
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
        self.inputs = InputRecorder()
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
            options, self.profile = self.options, self._profile()
            self.options = replace(options, only=chosen(options, self.profile.require))
            self.redactor = redactor_of(self.profile)
            self.log = ProvisionerLog(self.redactor.text)
            wire = connect(self.profile, self.options, self.redactor, self.inputs, self._transport())
            stack.callback(wire.close)
            self.folder = self._folder()
            self.run = self._run(wire)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.undo()
        finally:
            self._stack.close()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._start

    def reach(self) -> str | None:
        """Send the first request of the run, for the organization; the last one if the target cannot be tested.

        Returns:
            Why nothing can be tested, as a sentence; None if the target responds and accepts the key.

        Raises:
            TargetFileError: The key belongs to another organization than the target file names.
        """
        exchange = reach(self.run)
        if isinstance(exchange, str):
            return exchange
        self._recognize(exchange)
        self._others = OtherEngagements.of(latest_items(QueryClient(lambda request: self._read([request])[0])))
        self.certificate = certificate_sha256(wire_settings(self.profile, self.options))
        self.census["before"] = organization_census(exchange.received) | {"ownEngagements": 0}
        return None

    def undo(self) -> UndoResult:
        """Undo the run's changes if possible; a second call returns the same result."""
        if self.undone is None:
            if self.run.wire.stopped is not None and self.provisioner is not None:
                self.provisioner.close(_HURRIED)  # a scenario may be waiting for it
            self.run.scenarios.close()
            if self.provisioner is not None:
                self.provisioner.close()
            with self.run.wire.undoing(), self.run.wire.checking(UNDOING):
                self.run.fixtures.admit_late_members()
                # By the wire: a read-only run also undoes requests that the service failed to refuse.
                wire = self.run.wire
                queries = QueryClient(wire.send, wire.send_all, self.run.fixtures.known_keys())
                lateness = _lateness(wire.exchanges)
                self.undone = undo(self.run.journal, self.ownership, self._membership, queries, lateness=lateness)
                if "before" in self.census:
                    self.census["after"], listed = take_census(queries, self.run.names, self.undone.listed)
                    self.missing = self._others.missing(queries, listed)
                    journal, after = self.run.journal, self.census["after"]
                    self.undone.left += reopen_remaining(journal, self.ownership, queries, after, listed)
        return self.undone

    def kill_children(self) -> None:
        """Kill the provisioner at once, before the process ends without undoing; the embedded service ends with it."""
        if self.provisioner is not None:
            self.provisioner.kill()

    def _recognize(self, exchange: Exchange) -> None:
        """Raise if this is not the organization that the target file names."""
        try:
            identifier = read.identifier(exchange)
        except CheckOutcome:
            identifier = None
        if refusal := self.profile.organization_refusal(identifier):
            raise TargetFileError(refusal)

    def _profile(self) -> Profile:
        return selected_profile(self.options, self._environ) or self._embedded()

    def _embedded(self) -> Profile:
        self._empty_folder()
        self._mailbox = self._stack.enter_context(Mailbox())
        service = self._stack.enter_context(closing(EmbeddedService((self._mailbox.host, self._mailbox.port))))
        return service.profile(self.options.mode)

    def _empty_folder(self) -> None:
        """Remove the outputs of an earlier run before the embedded service starts, if the options are valid."""
        options = self.options
        chosen(options, ())
        if options.report is not None and options.report.is_dir():
            ensure_free(options.report)
            with Journal.unused(options.report):
                remove_outputs(options.report)

    def _transport(self) -> httpx.AsyncBaseTransport | None:
        """Return a transport that replaces connections to the target, or None."""
        return None

    def _folder(self) -> Path:
        if self.options.report is None and self._default_folder is not None:
            self.options = replace(self.options, report=self._default_folder(self.profile.name))
        if self.options.report is not None:
            return self.options.report
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))

    def _run(self, wire: Wire) -> Run:
        profile = self.profile
        names = RunNames.fresh(self.options.challenge)
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
            send=wire.send,
            journal=journal,
            membership=membership,
            mailbox=self._listening(),
            ownership=self.ownership,
            is_over=lambda: wire.is_over,
        )
        return Run(
            profile=profile,
            options=self.options,
            wire=wire,
            fixtures=RecordedFixtures(fixtures, self.inputs),
            journal=journal,
            names=names,
            provisioner=provisioner,
            inputs=self.inputs,
        )

    def _journal(self, names: RunNames) -> Journal:
        """Open the journal and remove the outputs of an earlier run."""
        ensure_free(self.folder)
        journal = Journal.open(self.folder, names, self.profile.base_url, self.profile.api_key.reveal())
        remove_outputs(self.folder)
        return journal

    def _provisioned(self, is_over: Callable[[], bool]) -> Provisioner | None:
        """Return the operator's provisioner, or None."""
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
        """Stop the run because of a problem of the suite's own."""
        self.failure = self.failure or reason
        self.run.wire.stop(reason)


def selected_profile(options: RunOptions, environ: Mapping[str, str]) -> Profile | None:
    """Return the target that options select; None for the embedded service.

    Raises:
        TargetFileError: The target cannot be used.
    """
    if options.target is None and options.base_url is None:
        return None
    return profile_of(
        options.target,
        environ,
        base_url=options.base_url,
        api_key=options.api_key,
        mode=options.mode,
        is_found=options.is_file_found,
        connection=options.connection,
    )


def chosen(options: RunOptions, require: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the requirements that options choose; empty for all.

    Args:
        options: The options.
        require: The classes of the target file, if the options name none.

    Raises:
        SelectionError: The options choose no requirement.
    """
    classes = options.classes or tuple(require)
    is_whole = load_catalogue().of_release(options.catalogue) == load_catalogue().requirements
    if is_whole and not (classes or options.only or options.skip):
        return ()
    return choose(classes, options.only, options.skip, options.catalogue)


def _lateness(exchanges: Sequence[Exchange]) -> float:
    """Return the seconds in which a service may carry out a write without a response: twice its longest write."""
    writes = [exchange.seconds for exchange in exchanges if exchange.was_sent and exchange.request.method != "GET"]
    return max(_LEAST_LATENESS, 2 * max(writes, default=0.0))


def _reading(wire: Wire) -> Callable[[Sequence[Request]], Sequence[Exchange]]:
    """Return a function that sends the reads of guards and records them under the name of the guard."""

    def send_all(requests: Sequence[Request]) -> Sequence[Exchange]:
        with wire.checking(OWNERSHIP):
            return wire.send_all(requests)

    return send_all
