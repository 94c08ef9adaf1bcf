"""Mailbox of the suite: an SMTP server that stores e-mails and delivers none."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Self

from aiosmtpd.smtp import SMTP

from conformance.targets.mail_parsing import subject_and_text
from conformance.targets.provisioner import Mail

if TYPE_CHECKING:
    from aiosmtpd.smtp import Envelope, Session

_MAX_MESSAGES: Final = 1000
"""The most stored messages; the oldest are dropped."""

MAX_BYTES: Final = 1 << 20
"""The most bytes of a message; a larger one is refused."""

MAX_TOTAL_BYTES: Final = 32 << 20
"""The most bytes of all stored messages; the oldest are dropped."""

_MOST_CONVERSATIONS: Final = 100
"""The most conversations at once; each may hold a message."""

_TIMEOUT: Final = 60.0


class MailboxError(Exception):
    """The mailbox cannot listen; the message is a plain sentence."""


class Mailbox:
    """SMTP server that listens from ``start`` to ``close``, in its own thread.

    Args:
        host: The address to listen on.
        port: The port; 0 lets the system choose.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.port = port
        self._arrived = threading.Condition()
        self._mails: deque[tuple[int, Mail]] = deque(maxlen=_MAX_MESSAGES)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="mailbox", daemon=True)
        self._server: asyncio.Server | None = None
        self._open: set[SMTP] = set()

    def start(self) -> Self:
        """Start listening; ``port`` is then the real port.

        Raises:
            MailboxError: The address is in use or not this machine's.
        """
        self._thread.start()
        try:
            listening = self._loop.create_server(self._conversation, self.host, self.port)
            self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        except OSError as error:
            self.close()
            reason = error.strerror or "the address is unknown"
            raise MailboxError(f"The mailbox cannot listen on {self.host}:{self.port}: {reason}.") from None
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def close(self) -> None:
        """Stop listening and end every conversation."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def messages(self, to: str, patience: float = 0.0) -> list[Mail]:
        """Return the messages to an address so far, in order of arrival.

        Args:
            to: The address; its case is ignored.
            patience: Seconds to wait for a first message.
        """
        deadline = time.monotonic() + patience
        with self._arrived:
            while not (found := self._to(to)) and (rest := deadline - time.monotonic()) > 0:
                self._arrived.wait(rest)
        return found

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd calls it so
        """Store a message."""
        content = envelope.original_content or b""
        mail = read_message(envelope.mail_from or "", tuple(envelope.rcpt_tos), content)
        with self._arrived:
            self._mails.append((len(content), mail))
            while sum(size for size, _ in self._mails) > MAX_TOTAL_BYTES:
                self._mails.popleft()
            self._arrived.notify_all()
        return "250 kept"

    def _to(self, address: str) -> list[Mail]:
        return [mail for _, mail in self._mails if address.lower() in (to.lower() for to in mail.to)]

    def _conversation(self) -> asyncio.Protocol:
        if len(self._open) >= _MOST_CONVERSATIONS:
            return _Busy()
        return _Conversation(
            self._open,
            self,
            data_size_limit=MAX_BYTES,
            enable_SMTPUTF8=True,
            hostname="mailbox.invalid",
            ident="mailbox",
            timeout=_TIMEOUT,
            loop=self._loop,
        )

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # Transports close in the next round of the loop.
        await asyncio.sleep(0)


class _Conversation(SMTP):
    """Conversation that is among the open ones until its connection is lost."""

    def __init__(self, open_conversations: set[SMTP], *given: Any, **settings: Any) -> None:  # noqa: ANN401 - aiosmtpd's
        super().__init__(*given, **settings)
        self._open = open_conversations
        self._open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._open.discard(self)
        super().connection_lost(error)


class _Busy(asyncio.Protocol):
    """Conversation that ends at once: the service may try again later."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        transport.write(b"421 mailbox.invalid is busy\r\n")
        transport.close()


def read_message(sender: str, to: tuple[str, ...], content: bytes) -> Mail:
    """Parse a message; any bytes are accepted.

    Args:
        sender: The sender of the envelope.
        to: The recipients of the envelope.
        content: The message as it was sent, headers included.
    """
    return Mail(sender, to, *subject_and_text(content))
