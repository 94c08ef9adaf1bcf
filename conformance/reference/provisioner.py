"""The provisioner of the reference service: JSON-RPC on stdin and stdout, passed on to its sandbox over HTTP.

It needs ``CONFORMANCE_SANDBOX_URL`` and ``CONFORMANCE_SANDBOX_TOKEN`` in its environment, and nothing but the standard
library, for it is started anew with every run.
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
    """One connection to the sandbox, kept open and renewed where it broke.

    Args:
        url: The sandbox's address, plain http.
        token: Its bearer token.
    """

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        self._path = parts.path
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def forward(self, message: bytes) -> bytes:
        """Pass on one message.

        Returns:
            The answer on one line; empty for a notification.

        Raises:
            OSError: The sandbox cannot be reached.
            http.client.HTTPException: It gave no proper answer.
        """
        self._connection.request("POST", self._path, message, self._headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status == _NO_CONTENT:
            return b""
        if response.status != _OK:
            raise http.client.HTTPException(f"the sandbox answered {response.status}")
        return json.dumps(json.loads(content)).encode()

    def close(self) -> None:
        """Close the connection; the next message opens another."""
        self._connection.close()


def respond(sandbox: SandboxConnection, message: bytes) -> bytes:
    """Answer one message, whatever becomes of it."""
    try:
        return sandbox.forward(message)
    except (OSError, ValueError, http.client.HTTPException) as problem:
        sandbox.close()
        error = {"code": _INTERNAL_ERROR, "message": f"the sandbox did not answer: {problem}"}
        return json.dumps({"jsonrpc": "2.0", "id": _identifier(message), "error": error}).encode()


def _identifier(message: bytes) -> object:
    try:
        call = json.loads(message)
    except ValueError:
        return None
    return call.get("id") if isinstance(call, dict) else None


def main() -> int:
    """Answer messages until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the parent, which closes stdin when it is done
    if URL not in os.environ or TOKEN not in os.environ:
        sys.stderr.write(f"{URL} and {TOKEN} have to be set\n")
        return 2
    sandbox = SandboxConnection(os.environ[URL], os.environ[TOKEN])
    for line in sys.stdin.buffer:
        if line.strip() and (reply := respond(sandbox, line.strip())):
            sys.stdout.buffer.write(reply + b"\n")
            sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
