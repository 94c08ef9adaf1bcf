"""TLS certificate of a target."""

from __future__ import annotations

import hashlib
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from conformance.wire.settings import WireSettings

_HTTPS = 443


def certificate_sha256(settings: WireSettings) -> str | None:
    """Return the SHA-256 digest, in hexadecimal, of a target's certificate, with one connection and no request.

    Returns:
        None for plain HTTP, behind a proxy, and if no connection is made.
    """
    context = settings.ssl_context()
    parts = urlsplit(settings.root)
    if context is None or parts.hostname is None or settings.proxy is not None:
        return None
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or _HTTPS), settings.timeout) as plain,
            context.wrap_socket(plain, server_hostname=parts.hostname) as secured,
        ):
            shown = secured.getpeercert(binary_form=True)
    except OSError:  # ssl's errors are among them
        return None
    return None if shown is None else hashlib.sha256(shown).hexdigest()
