"""Client of a child program that speaks JSON-RPC 2.0, one message per line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance import posix
from conformance.json_text import Parsed, read_json
from conformance.targets.secret import without_likely_keys
from conformance.wire.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from conformance.wire.waits import Waiting

_MAX_LINE: Final = 1 << 20
"""The most bytes of a message, and of a line on stderr that is logged."""

_METHOD_NOT_FOUND: Final = -32601
_CHUNK: Final = 1 << 16
_MAX_REASON: Final = 300
_MOST_TIMEOUTS: Final = 2
"""Timeouts after which no further call is sent."""
_LONGEST_QUOTE: Final = 200
_NAMED_SECRET: Final = re.compile(r"(?P<name>key|token|secret|password|bearer|basic)\W+\S+", re.IGNORECASE)
_NO_RESPONSE: Final = "a line on its stdout that is no JSON-RPC 2.0 response"
_POLL_SECONDS: Final = 0.5
"""Seconds between two checks whether the run is over."""


class ProvisionerError(Exception):
    """A call of the provisioner failed; the message is a sentence."""


class MethodMissing(ProvisionerError):
    """The provisioner lacks a method."""


@dataclass(frozen=True, slots=True)
class UnansweredCall:
    """A call whose response did not come in time.

    Attributes:
        method: The called method.
        params: Its parameters.
        message: The response if it came later, a JSON-RPC 2.0 object; None if it never came.
    """

    method: str
    params: Mapping[str, object]
    message: Mapping[str, Any] | None = None


class RpcChild:
    """The child program, started by the first call; calls are sent one at a time.

    Args:
        command: The program and its arguments, run without a shell.
        environment: Its environment variables.
        folder: Its working directory; None for the current folder.
        timeout: Seconds that one response may take.
        log: Called with each line of its stderr, in a separate thread; must not raise.
        is_over: Whether the run is over, so that waiting is of no use.

    Attributes:
        problem: The problem of the program itself, as a sentence; None if it speaks the protocol in time.
        has_responded: Whether it ever responded, even with an error.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path | None,
        timeout: float,
        log: Callable[[str], None],
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._command = tuple(command)
        self._environment = dict(environment)
        self._folder = folder
        self._timeout = timeout
        self._log = log
        self._is_over = is_over
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: threading.Thread | None = None
        self._last_on_stderr = b""
        self._buffer = bytearray()
        self._last_id = 0
        self._broken: str | None = None
        self._timeouts = 0
        self.problem: str | None = None
        self._waits = Waits()
        self.has_responded = False
        self._unanswered: dict[int, UnansweredCall] = {}

    def request(self, method: str, params: Mapping[str, object]) -> object:
        """Call a method and return its result.

        Raises:
            MethodMissing: The program lacks the method.
            ProvisionerError: The call failed otherwise.
        """
        with self._lock:
            if self._broken is not None:
                raise ProvisionerError(self._broken)
            process = self._process or self._start()
            self._last_id += 1
            request = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": dict(params)}
            self._unanswered[self._last_id] = UnansweredCall(method, dict(params))
            with self._waits.during(f"the provisioner ({method})", self._timeout):
                return self._converse(process, method, json.dumps(request).encode("ascii") + b"\n")

    @property
    def waiting(self) -> Waiting | None:
        """The call in progress, and until when it may take."""
        return self._waits.first

    def close(self, grace: float = 5.0) -> list[UnansweredCall]:
        """Close the program's stdin, read late responses until its end, and kill it and its child processes.

        Args:
            grace: Seconds in which it may end by itself.

        Returns:
            The calls without a response in time.
        """
        if not self._lock.acquire(timeout=grace):
            # Another thread waits for a response, and fails at the program's end.
            self.kill()
            self._lock.acquire()
        try:
            self._broken = self._broken or "The provisioner has been closed."
            if self._process is not None:
                self._end(self._process, grace)
                self._process = None
            return list(self._unanswered.values())
        finally:
            self._lock.release()

    def kill(self) -> None:
        """Kill the program and its child processes at once, also while a call waits for its response."""
        if (process := self._process) is not None:
            _signal_group(process, posix.SIGKILL)

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment,
                cwd=self._folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "its command cannot be passed on"
            raise self._break(f"The provisioner could not be started: {reason}.") from None
        posix.set_blocking(_descriptor(process.stdin), False)
        self._stderr = threading.Thread(target=self._log_stderr, args=(process,), name="provisioner-log", daemon=True)
        self._stderr.start()
        self._process = process
        return process

    def _converse(self, process: subprocess.Popen[bytes], method: str, request: bytes) -> object:
        deadline = time.monotonic() + self._timeout
        expected = self._last_id
        self._write(process, method, request, deadline)
        while (message := self._message(process, deadline)) is not None:
            # The response to an earlier call that timed out is late, not wrong.
            if isinstance(message["id"], int) and 0 < message["id"] < expected:
                self._take_late(message)
                continue
            if message["id"] != expected or isinstance(message["id"], bool):
                raise self._break("The provisioner responded with an id that no request has.")
            del self._unanswered[expected]
            return result_of(method, message)
        raise self._timed_out(method)

    def _take_late(self, message: Mapping[str, Any]) -> None:
        number = message["id"]
        if isinstance(number, int) and number in self._unanswered:
            self._unanswered[number] = replace(self._unanswered[number], message=message)

    def _read_late(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        """Read responses to calls that were given up, until the program's output ends."""
        with suppress(ProvisionerError):
            while any(call.message is None for call in self._unanswered.values()):
                if (message := self._message(process, deadline)) is None:
                    return
                self._take_late(message)

    def _write(self, process: subprocess.Popen[bytes], method: str, request: bytes, deadline: float) -> None:
        descriptor = _descriptor(process.stdin)
        rest = memoryview(request)
        while rest:
            if not self._ready(descriptor, posix.POLLOUT, deadline):
                raise self._break(self._late(f"did not take the request {method}"))
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._ended(process) from None

    def _line(self, process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
        """Return the next line of the program's output; None if it does not come in time."""
        descriptor = _descriptor(process.stdout)
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > _MAX_LINE:
                raise self._break("The provisioner wrote a line of more than 1 MiB.")
            if not self._ready(descriptor, posix.POLLIN, deadline):
                return None
            chunk = os.read(descriptor, _CHUNK)
            if not chunk:
                raise self._ended(process)
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _ready(self, descriptor: int, event: int, deadline: float) -> bool:
        """Whether a pipe can be read or written before a deadline, and before the run is over if calls are sent."""
        poller = posix.poll()
        poller.register(descriptor, event)
        while (left := deadline - time.monotonic()) > 0 and (self._broken is not None or not self._is_over()):
            if poller.poll(1000 * min(left, _POLL_SECONDS)):
                return True
        return False

    def _late(self, what: str) -> str:
        return (
            f"The provisioner {what} {'before the run was over' if self._is_over() else f'within {self._timeout:g} s'}."
        )

    def _message(self, process: subprocess.Popen[bytes], deadline: float) -> Mapping[str, Any] | None:
        """Return the next response; None if it does not come in time."""
        if (line := self._line(process, deadline)) is None:
            return None
        if (message := _response_in(line)) is None:
            raise self._break(f"The provisioner wrote {_NO_RESPONSE}{_quoted(line)}.")
        self.has_responded = True
        return message

    def _timed_out(self, method: str) -> ProvisionerError:
        """Count a timeout; after the second one no further call is sent."""
        reason = self._late(f"did not respond to {method}")
        if self._is_over():
            return ProvisionerError(reason)
        self._timeouts += 1
        self.problem = reason
        if self._timeouts < _MOST_TIMEOUTS:
            return ProvisionerError(reason)
        return self._break(f"{reason.rstrip('.')}, for the second time; no further call was sent.")

    def _break(self, reason: str) -> ProvisionerError:
        """Send no further calls, because the next line may belong to any call."""
        if self._broken is None and not self._is_over():
            self.problem = reason
        self._broken = self._broken or reason
        return ProvisionerError(reason)

    def _ended(self, process: subprocess.Popen[bytes]) -> ProvisionerError:
        """Send no further calls, and tell why the program's output ended, with its last line on stderr."""
        reason = _end_of_output(process)
        if self._stderr is not None:
            self._stderr.join(timeout=1.0)
        last = f" Its last line on stderr{_quoted(self._last_on_stderr)}." if self._last_on_stderr.strip() else ""
        return self._break(f"{reason}{last}")

    def _log_stderr(self, process: subprocess.Popen[bytes]) -> None:
        stream = process.stderr
        if stream is None:
            return
        while line := stream.readline(_MAX_LINE + 1):
            if len(line) <= _MAX_LINE:
                self._last_on_stderr = line
                self._log(line.decode("utf-8", "replace").rstrip("\r\n"))
                continue
            # A cut line could contain half a key, which redaction would not recognize.
            self._log("(a line of more than 1 MiB was left out)")
            while line and not line.endswith(b"\n"):
                line = stream.readline(_MAX_LINE)

    def _end(self, process: subprocess.Popen[bytes], grace: float) -> None:
        if process.stdin is not None:
            process.stdin.close()
        deadline = time.monotonic() + grace
        self._read_late(process, deadline)
        if not _exits(process, deadline - time.monotonic()):
            _signal_group(process, signal.SIGTERM)
            _exits(process, 1.0)
        # Its child processes end too. The leader is still unreaped, so the group's number is not reused.
        _signal_group(process, posix.SIGKILL)
        process.wait()
        if self._stderr is not None:
            self._stderr.join(timeout=1.0)
        if process.stdout is not None:
            process.stdout.close()
        if process.stderr is not None and not (self._stderr and self._stderr.is_alive()):
            process.stderr.close()


def _response_in(line: bytes) -> Mapping[str, Any] | None:
    """Return the JSON-RPC 2.0 response in a line; None if it has none."""
    reading = read_json(line)
    value = reading.value if isinstance(reading, Parsed) else None
    return value if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and "id" in value else None


def _quoted(line: bytes) -> str:
    """Return a short line without likely keys and without JSON values."""
    text = line.decode("utf-8", "replace").strip()
    if len(text) > _LONGEST_QUOTE:
        return f", of {len(line):,} bytes"
    if text.startswith(("{", "[", '"')):
        return ""  # it may contain a new key, however short
    shown = _NAMED_SECRET.sub(r"\g<name> <withheld>", without_likely_keys(text))
    return f': "{shown}"'


def _descriptor(stream: Any) -> int:  # noqa: ANN401 - pipes are typed as optional, and here they exist
    return int(stream.fileno())


def _end_of_output(process: subprocess.Popen[bytes]) -> str:
    """Return why the program's output ended."""
    if not _exits(process, 1.0):
        return "The provisioner closed its stdout."
    result = posix.waitid(posix.P_PID, process.pid, posix.WEXITED | posix.WNOWAIT)
    if result is not None and result.si_code == posix.CLD_EXITED:
        return f"The provisioner ended by itself with status {result.si_status}."
    return "The provisioner was ended by a signal."


def _exits(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the program ends within some seconds; it stays unreaped, so that its group is not reused."""
    deadline = time.monotonic() + seconds
    while posix.waitid(posix.P_PID, process.pid, posix.WEXITED | posix.WNOWAIT | posix.WNOHANG) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(OSError):
        posix.killpg(process.pid, number)


def result_of(method: str, message: Mapping[str, Any]) -> object:
    """Return the result in a response.

    Args:
        method: The called method.
        message: The response, a JSON-RPC 2.0 object.

    Raises:
        MethodMissing: The program lacks the method.
        ProvisionerError: The response is an error, or has no result.
    """
    error = message.get("error")
    if error is None:
        if "result" not in message:
            raise ProvisionerError(f"The provisioner's response to {method} has neither a result nor an error.")
        return message["result"]
    if not isinstance(error, dict):
        raise ProvisionerError(f"The provisioner's response to {method} has an error that is not an object.")
    if error.get("code") == _METHOD_NOT_FOUND:
        raise MethodMissing(f"The provisioner has no method {method}.")
    text = error.get("message")
    reason = "".join(c if c.isprintable() else " " for c in text) if isinstance(text, str) else ""
    if len(reason) > _MAX_REASON:
        # Redaction would not recognize half a key, so a long reason is omitted and not cut.
        reason = "its reason is too long to show"
    raise ProvisionerError(f"The provisioner could not do {method}: {reason.strip() or 'it gave no reason'}.")
