"""Provisioner of the reference service: forwards JSON-RPC from stdin and stdout to the sandbox over HTTP.

Its environment needs ``CONFORMANCE_SANDBOX_URL`` and ``CONFORMANCE_SANDBOX_TOKEN``. It imports only the standard
library, because every run starts it anew.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
from urllib.parse import urlsplit

URL = "CONFORMANCE_SANDBOX_URL"
TOKEN = "CONFORMANCE_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable
_INTERNAL_ERROR = -32603
_OK = 200
_NO_CONTENT = 204
_TIMEOUT = 30


class SandboxConnection:
    """A connection to the sandbox, kept open and renewed if it broke."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        self._path = parts.path
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def forward(self, message: bytes) -> bytes:
        """Forward a message.

        Returns:
            The response on one line; empty for a notification.

        Raises:
            OSError: The sandbox is unreachable.
            http.client.HTTPException: Its response is invalid or has another status.
        """
        self._connection.request("POST", self._path, message, self._headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status == _NO_CONTENT:
            return b""
        if response.status != _OK:
            raise http.client.HTTPException(f"the sandbox responded with {response.status}")
        return json.dumps(json.loads(content)).encode()

    def close(self) -> None:
        """Close the connection; the next message opens another."""
        self._connection.close()


def respond(sandbox: SandboxConnection, message: bytes) -> bytes:
    """Return the response to a message, or an error if the sandbox is unreachable."""
    try:
        return sandbox.forward(message)
    except (OSError, ValueError, http.client.HTTPException) as problem:
        sandbox.close()
        error = {"code": _INTERNAL_ERROR, "message": f"the sandbox did not respond: {problem}"}
        return json.dumps({"jsonrpc": "2.0", "id": _identifier(message), "error": error}).encode()


def _identifier(message: bytes) -> object:
    try:
        call = json.loads(message)
    except ValueError:
        return None
    return call.get("id") if isinstance(call, dict) else None


def main() -> int:
    """Respond to messages until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and closes stdin at its end
    if URL not in os.environ or TOKEN not in os.environ:
        sys.stderr.write(f"{URL} and {TOKEN} must be set\n")
        return 2
    sandbox = SandboxConnection(os.environ[URL], os.environ[TOKEN])
    for line in sys.stdin.buffer:
        if line.strip() and (reply := respond(sandbox, line.strip())):
            sys.stdout.buffer.write(reply + b"\n")
            sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
