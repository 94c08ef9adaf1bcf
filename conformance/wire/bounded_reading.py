"""Size limits for the bodies and headers of responses."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    import httpx

MAX_BODY: Final = 8 * 2**20
"""The most bytes of a body that are read, after decompression."""

MAX_RECEIVED_HEADERS: Final = 64 * 2**10
"""The most bytes of header fields that are read."""

CLOSED: Final = "the connection was closed before a response came"
CUT_SHORT: Final = "the body was cut short"

_PIECE: Final = 64 * 2**10
_MAX_CODINGS: Final = 2
_GZIP, _ZLIB, _RAW_DEFLATE = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Unreadable(Exception):
    """A response cannot be read within the limits; the message is a sentence that quotes nothing of the target."""


async def read_body(response: httpx.Response) -> bytes:
    """Read the body of a response, decompressed.

    Raises:
        Unreadable: The body is too large, has an unknown encoding, or does not decode.
    """
    decoders = [_Decoder(coding) for coding in reversed(content_codings(response.headers.get_list("content-encoding")))]
    body, received = bytearray(), 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        if received > MAX_BODY:
            raise _too_large()
        for piece in _through(decoders, chunk):
            body += piece
            if len(body) > MAX_BODY:
                raise _too_large()
    for decoder in decoders:
        decoder.finish()
    return bytes(body)


def check_headers(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Ensure that the header fields are within the limit.

    Raises:
        Unreadable: They are too large.
    """
    if sum(len(name) + len(value) + 4 for name, value in headers) > MAX_RECEIVED_HEADERS:
        raise Unreadable(f"the response has more than {MAX_RECEIVED_HEADERS // 1024} KiB of headers")


def content_codings(values: list[str]) -> list[str]:
    """Return the encodings of a body in the order in which they were applied.

    Raises:
        Unreadable: There are too many, or one is unknown.
    """
    codings = [token.strip().lower() for value in values for token in value.split(",")]
    codings = [coding.removeprefix("x-") for coding in codings if coding not in {"", "identity"}]
    if len(codings) > _MAX_CODINGS:
        raise Unreadable(f"the body is encoded more than {_MAX_CODINGS} times")
    if not set(codings) <= {"gzip", "deflate"}:
        raise Unreadable("the body has a Content-Encoding that the request did not accept")
    return codings


def _too_large() -> Unreadable:
    return Unreadable(f"the body is longer than {MAX_BODY // 2**20} MiB")


def _through(decoders: list[_Decoder], chunk: bytes) -> Iterator[bytes]:
    """Yield the pieces of a chunk after all decoders, with at most one piece of each decoder in memory."""
    if not decoders:
        yield chunk
        return
    for piece in decoders[0].feed(chunk):
        yield from _through(decoders[1:], piece)


class _Decoder:
    """Decompresses one encoding, piece by piece and within the limit."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._stream = zlib.decompressobj(_GZIP)
        self._begun = False
        self._head = b""
        self._made = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress data; after the last gzip member only padding may follow."""
        data = self._head + data
        self._head = b""
        while data:
            if not self._begun and not self._begin(data):
                return
            data = self._after(data) if self._stream.eof else (yield from self._member(data))

    def finish(self) -> None:
        """Ensure that the encoded body was complete."""
        if self._head or (self._begun and not self._stream.eof):
            raise Unreadable("the encoded body is cut short")

    def _begin(self, data: bytes) -> bool:
        """Open a stream for the data; return False if more bytes are needed to recognize its format."""
        if self._coding == "deflate" and len(data) == 1:
            self._head = data
            return False
        if self._coding == "deflate":
            # Services disagree on whether "deflate" has zlib's header: the first two bytes show it.
            has_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0  # noqa: PLR2004 - RFC 1950's header
            self._stream = zlib.decompressobj(_ZLIB if has_header else _RAW_DEFLATE)
        self._begun = True
        return True

    def _member(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Decompress up to the end of the open stream; return the bytes after it."""
        while True:
            try:
                piece = self._stream.decompress(data, _PIECE)
            except zlib.error:
                raise Unreadable("the body does not decode by its Content-Encoding") from None
            self._made += len(piece)
            if self._made > MAX_BODY:
                raise _too_large()
            yield piece
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                return self._stream.unused_data
            if not data and len(piece) < _PIECE:
                return b""

    def _after(self, data: bytes) -> bytes:
        """Return the bytes of the next gzip member, if any, after a complete stream."""
        if not data.strip(b"\0"):
            return b""
        if self._coding != "gzip":
            raise Unreadable("bytes follow the end of the encoded body")
        self._stream = zlib.decompressobj(_GZIP)
        return data
