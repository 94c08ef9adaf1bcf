"""Embedded target: the reference service in a child process, with everything provisioned."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from conformance.targets.profile import Mode, Profile, ProvisionerSettings
from conformance.targets.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence

_PYTHON = (sys.executable, "-P", "-m")
"""The interpreter, without the modules of the current folder, which may be another project's."""

_GRACE = 5.0
_PATIENCE = 3.0
"""Seconds in which the service completes its background work."""


class EmbeddedError(Exception):
    """The embedded service did not start; the message is a plain sentence."""


class EmbeddedService:
    """The reference service as a child process, which ends with this process at the latest.

    Args:
        mailbox: Host and port of the suite's own mailbox, for invitations.
        arguments: Further arguments of the service's command line.

    Raises:
        EmbeddedError: The process cannot be started.
    """

    def __init__(self, mailbox: tuple[str, int] | None = None, arguments: Sequence[str] = ()) -> None:
        smtp = [] if mailbox is None else ["--smtp", f"{mailbox[0]}:{mailbox[1]}"]
        self._mailbox = mailbox
        try:
            self._child = subprocess.Popen(
                [*_PYTHON, "conformance.reference.server", "--port", "0", "--announce", *smtp, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise EmbeddedError(f"The reference service could not be started: {error.strerror}.") from None
        self._announced: dict[str, Any] | None = None

    @property
    def announced(self) -> dict[str, Any]:
        """The service's announcement of its address and keys; waits until it listens.

        Raises:
            EmbeddedError: The service did not start.
        """
        if self._announced is None:
            line = self._child.stdout.readline() if self._child.stdout else b""
            if not line:
                raise EmbeddedError("The embedded reference service did not start.")
            self._announced = json.loads(line)
        return self._announced

    def profile(self, mode: Mode | None) -> Profile:
        """Return the service as a target with everything provisioned.

        Raises:
            EmbeddedError: The service did not start.
        """
        announced = self.announced
        token = Secret(announced["sandbox_token"])
        return Profile(
            name="reference",
            base_url=announced["base_url"],
            api_key=Secret(announced["keys"]["api_key"]),
            mode=mode or Mode.DISPOSABLE,
            provisioner=ProvisionerSettings(
                command=(*_PYTHON, "conformance.reference.provisioner"),
                environment={
                    "CONFORMANCE_SANDBOX_URL": announced["sandbox_url"],
                    "CONFORMANCE_SANDBOX_TOKEN": token.reveal(),
                    **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
                },
                secrets=(("sandbox_token", token),),
            ),
            mailbox=self._mailbox,
            patience=_PATIENCE,
        )

    def close(self) -> None:
        """End the service; a second call does nothing."""
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
