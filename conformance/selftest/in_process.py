"""Reference service in this process, as the target of a run."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from conformance.reference.application import create_app
from conformance.reference.faults import fault_by_id
from conformance.reference.latitude import Latitude
from conformance.reference.server import Server, announcement, listen
from conformance.replay.reevaluating import unwritten_journal
from conformance.running.embedded import EmbeddedError, EmbeddedService
from conformance.running.run_session import RunSession
from conformance.targets.journal_file import JOURNAL
from conformance.targets.mailbox import Mailbox
from conformance.targets.pending import UndoResult
from conformance.targets.provisioner import Provisioner
from conformance.targets.rpc import result_of
from conformance.wire.bounded_reading import CLOSED, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.reference.application import Application
    from conformance.reference.sandbox import Sandbox
    from conformance.running.options import RunOptions
    from conformance.selftest.subjects import Subject
    from conformance.targets.journal import Journal
    from conformance.targets.names import RunNames
    from conformance.targets.profile import Profile
    from conformance.targets.rpc import UnansweredCall

_NOWHERE = "http://reference.invalid"
"""The base URL of a service that is called in process."""

_AWAY = 0.3
"""Seconds until an ended process is simulated to restart."""

_STARTING = 30.0
_STOPPING = 10.0


class _InnerService(EmbeddedService):
    """A subject that is called in this process, without a socket.

    Attributes:
        app: The application.

    Args:
        subject: The variant of the service.
        mailbox: Host and port of the mailbox for invitations.
    """

    def __init__(self, subject: Subject, mailbox: tuple[str, int]) -> None:  # the parent class would start a process
        self._mailbox = mailbox
        self.app = create_app(
            latitude=Latitude(subject.choices),
            fault=fault_by_id(subject.id) if subject.is_faulty else None,
            smtp=mailbox,
        )
        self._announced = announcement(self.app, _NOWHERE)

    def close(self) -> None:
        """End the service."""
        self.app.close()


class _HostedService(_InnerService):
    """A subject served on loopback by a thread, over real HTTP.

    Args:
        subject: The variant of the service.
        mailbox: Host and port of the mailbox for invitations.
    """

    def __init__(self, subject: Subject, mailbox: tuple[str, int]) -> None:
        super().__init__(subject, mailbox)
        listener, base_url = listen("127.0.0.1", 0)
        ready = threading.Event()
        self._server = Server(self.app, listener, ready.set)
        self._announced = announcement(self.app, base_url)
        self._thread = threading.Thread(target=self._server.serve_until_stopped, name="service", daemon=True)
        self._thread.start()
        if not ready.wait(_STARTING):
            raise EmbeddedError(f"The reference service did not start as {subject.id}.")

    def close(self) -> None:
        """End the service."""
        self._server.stop()
        self._thread.join(_STOPPING)


class _SupervisedTransport(httpx.AsyncBaseTransport):
    """A transport that calls an application; after a simulated crash it refuses requests until the restart."""

    def __init__(self, app: Application) -> None:
        self._inner = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._ends = 0
        self._back_at = 0.0
        app.service.end_process = self._end

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the application.

        Raises:
            httpx.ConnectError: The process has not restarted yet.
            Unreadable: The process ended during the request.
        """
        if time.monotonic() < self._back_at:
            raise httpx.ConnectError("no connection could be made") from ConnectionRefusedError()
        ends = self._ends
        response = await self._inner.handle_async_request(request)
        if ends != self._ends:
            raise Unreadable(CLOSED)
        return response

    def _end(self) -> None:
        self._ends += 1
        self._back_at = time.monotonic() + _AWAY


class SandboxPeer:
    """A replacement for the provisioner's process that calls the sandbox of a service in this process."""

    problem: str | None = None
    waiting: None = None
    has_responded = True

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def request(self, method: str, params: Mapping[str, object]) -> object:
        """Call a method."""
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return result_of(method, self._sandbox.respond(message.encode()) or {})

    def close(self, _: float) -> Sequence[UnansweredCall]:
        """Return nothing: there is no process."""
        return ()

    def kill(self) -> None:
        """Do nothing: there is no process."""


class HostedSession(RunSession):
    """A run against a subject in this process.

    Args:
        subject: The service.
        options: The options of the run, without a target.
        in_process: Whether service and provisioner are called in process, without sockets or HTTP parsing, which takes
            a third less CPU time.
    """

    def __init__(self, subject: Subject, options: RunOptions, *, in_process: bool = False) -> None:
        super().__init__(options, environ={})
        self._subject = subject
        self._in_process = in_process

    def undo(self) -> UndoResult:
        """Undo the run's changes; skip that for a faulty service, to save time."""
        if self._subject.is_faulty and self.undone is None:
            self.run.scenarios.close()
            self.undone = UndoResult()
        return super().undo()

    def _embedded(self) -> Profile:
        self._mailbox = self._stack.enter_context(Mailbox())
        mailbox = (self._mailbox.host, self._mailbox.port)
        build = _InnerService if self._in_process else _HostedService
        self._service = self._stack.enter_context(closing(build(self._subject, mailbox)))
        return self._service.profile(self.options.mode)

    def _journal(self, names: RunNames) -> Journal:
        """Return a journal in memory, as the service ends with this process."""
        return unwritten_journal(names, self.folder / JOURNAL)

    def _folder(self) -> Path:
        """Return a folder that need not exist, as a run in this process writes nothing into it."""
        return self.options.report or Path(os.devnull)

    def _transport(self) -> httpx.AsyncBaseTransport | None:
        return _SupervisedTransport(self._service.app) if self._in_process else None

    def _provisioned(self, is_over: Callable[[], bool]) -> Provisioner | None:
        if self._in_process:
            return Provisioner(SandboxPeer(self._service.app.sandbox))
        return super()._provisioned(is_over)
