"""Tests of the limits of bodies and headers, in pieces of any size."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.wire import bounded_reading
from conformance.wire.bounded_reading import MAX_RECEIVED_HEADERS, Unreadable, check_headers, content_codings, read_body

TEXT = b'{"data": {"name": "a name"}}'


class Pieces(httpx.AsyncByteStream):
    """A body in these pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


def read(pieces: list[bytes], *codings: str) -> bytes:
    """Return the body of a response in these pieces."""
    headers = [("Content-Encoding", coding) for coding in codings]
    return asyncio.run(read_body(httpx.Response(200, headers=headers, stream=Pieces(pieces))))


def raw(data: bytes, level: int = -1) -> bytes:
    """Deflate without zlib's header."""
    compressor = zlib.compressobj(level, wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


UNDECODED = "the body does not decode by its Content-Encoding"

WHOLE = {
    "plain": (TEXT, ()),
    "gzip": (gzip.compress(TEXT, mtime=0), ("gzip",)),
    "two members": (gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]), ("gzip",)),
    "an empty member": (gzip.compress(b"") + gzip.compress(TEXT, mtime=0), ("gzip",)),
    "padding": (gzip.compress(TEXT, mtime=0) + bytes(3), ("gzip",)),
    "deflate": (zlib.compress(TEXT), ("deflate",)),
    "deflate at its fastest": (zlib.compress(TEXT, 1), ("deflate",)),
    "deflate without a header": (raw(TEXT), ("deflate",)),
    "deflate with padding": (zlib.compress(TEXT) + bytes(3), ("deflate",)),
    "gzip in deflate": (zlib.compress(gzip.compress(TEXT, mtime=0)), ("gzip", "deflate")),
    "deflate in gzip": (gzip.compress(raw(TEXT)), ("deflate, gzip",)),
    "x-gzip": (gzip.compress(TEXT, mtime=0), ("X-Gzip",)),
    "identity": (TEXT, ("identity", "")),
    "identity among others": (gzip.compress(gzip.compress(TEXT, mtime=0)), ("identity, gzip", " Identity ,gzip")),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_body_may_come_in_any_pieces(name: str, size: int) -> None:
    """The body is the same byte by byte and at once."""
    body, codings = WHOLE[name]

    assert read([body[start : start + size] for start in range(0, len(body), size)], *codings) == TEXT


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in {"plain", "identity"}])
@pytest.mark.parametrize("size", [1, 1000])
def test_a_body_that_is_cut_short_is_none(name: str, size: int) -> None:
    """A truncated body is refused, except after padding and whole members."""
    body, codings = WHOLE[name]
    whole = {"padding": 3, "deflate with padding": 3}.get(name, 0)
    ends = {len(gzip.compress(TEXT[:9])), len(gzip.compress(b""))} if "member" in name else set()
    for length in range(1, len(body) - whole):
        if length in ends or (length == 1 and name == "deflate without a header"):
            continue
        part = body[:length]
        with pytest.raises(Unreadable):
            read([part[start : start + size] for start in range(0, len(part), size)], *codings)


@pytest.mark.parametrize(
    ("body", "codings", "said"),
    [
        (zlib.compress(TEXT) + b"x", ("deflate",), "bytes follow the end of the encoded body"),
        (zlib.compress(TEXT) + zlib.compress(TEXT), ("deflate",), "bytes follow the end of the encoded body"),
        (zlib.compress(TEXT) + b"X", ("deflate",), "bytes follow the end of the encoded body"),
        (gzip.compress(TEXT, mtime=0) + b"x", ("gzip",), f"the encoded body is cut short|{UNDECODED}"),
        (TEXT, ("gzip",), UNDECODED),
        (TEXT, ("br",), "the body has a Content-Encoding that the request did not accept"),
        (TEXT, ("gzip, br",), "the body has a Content-Encoding that the request did not accept"),
        (TEXT, ("gzip, gzip", "deflate"), "the body is encoded more than 2 times"),
        (b"x", ("deflate",), "the encoded body is cut short"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_broken_body_is_reported(body: bytes, codings: tuple[str, ...], said: str, size: int) -> None:
    """The message quotes nothing of the target."""
    with pytest.raises(Unreadable, match=f"^(?:{said})$"):
        read([body[start : start + size] for start in range(0, len(body), size)], *codings)


def test_encodings_are_in_the_order_in_which_they_were_applied() -> None:
    """All headers count, in lower case, with old and new names."""
    assert content_codings(["gzip, X-Deflate", "identity"]) == ["gzip", "deflate"]
    assert content_codings([]) == []
    assert content_codings([",, "]) == []


def encoded(pieces: list[bytes], coding: str) -> list[bytes]:
    """Read an encoded body in two pieces."""
    whole = b"".join(pieces)
    whole = {"": whole, "gzip": gzip.compress(whole, mtime=0), "deflate": zlib.compress(whole)}[coding]
    return [whole[: len(whole) // 2], whole[len(whole) // 2 :]]


@pytest.mark.parametrize("coding", ["", "gzip", "deflate"])
def test_a_body_may_be_as_large_as_the_bound(monkeypatch: pytest.MonkeyPatch, coding: str) -> None:
    """One byte beyond the limit is refused, plain or decompressed, in one piece or several."""
    monkeypatch.setattr(bounded_reading, "MAX_BODY", 3000)
    codings = (coding,) if coding else ()

    assert len(read(encoded([bytes(3000)], coding), *codings)) == 3000
    with pytest.raises(Unreadable, match="the body is longer than 0 MiB"):
        read(encoded([bytes(3001)], coding), *codings)


def test_received_bytes_count_towards_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty gzip members count towards the limit."""
    monkeypatch.setattr(bounded_reading, "MAX_BODY", 3000)
    member = gzip.compress(b"")

    assert read([member * (3000 // len(member))], "gzip") == b""
    with pytest.raises(Unreadable, match="longer than"):
        read([member] * (3000 // len(member) + 1), "gzip")


def test_padding_counts_towards_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding counts towards the limit."""
    monkeypatch.setattr(bounded_reading, "MAX_BODY", 3000)
    monkeypatch.setattr(bounded_reading, "_PIECE", 100)
    padded = gzip.compress(TEXT, mtime=0) + bytes(4000)

    with pytest.raises(Unreadable, match="longer than"):
        read([gzip.compress(padded)], "gzip", "gzip")


def test_a_piece_is_no_more_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that ends with a piece of the decoder is complete."""
    for piece in (1, 4, len(TEXT), len(TEXT) + 1):
        monkeypatch.setattr(bounded_reading, "_PIECE", piece)
        for name, (body, codings) in WHOLE.items():
            assert read([body], *codings) == TEXT, name


@pytest.mark.parametrize("piece", [1, 100, 250, 258, 500, 999, 1000, 1001])
def test_delayed_output_of_a_decoder_is_read(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    """The decoder may have more output after the last input."""
    monkeypatch.setattr(bounded_reading, "_PIECE", piece)

    for body, coding in ((raw(bytes(1000)), "deflate"), (gzip.compress(bytes(1000)), "gzip")):
        assert read([body], coding) == bytes(1000)
    for length in range(500, 600):
        assert read([raw(bytes(length), level=1)], "deflate") == bytes(length)


def test_deflate_that_almost_has_a_header() -> None:
    """Raw deflate whose first bytes resemble zlib's header is read."""
    text = b"a text of 21 letters."
    block = b"\x09" + len(text).to_bytes(2, "little") + (0xFFFF - len(text)).to_bytes(2, "little") + text
    assert int.from_bytes(block[:2]) % 31 == 0

    assert read([block], "deflate") == text


@given(st.binary(max_size=300), st.lists(st.integers(1, 60), max_size=12), st.sampled_from(["gzip", "deflate"]))
def test_every_compressed_body_is_read(data: bytes, cuts: list[int], coding: str) -> None:
    """Any bytes, cut anywhere, end in a body or an error."""
    body = gzip.compress(data, mtime=0) if coding == "gzip" else raw(data)
    pieces, place = [], 0
    for cut in cuts:
        pieces.append(body[place : place + cut])
        place += cut

    assert read([*pieces, body[place:]], coding) == data


def test_headers_are_bounded() -> None:
    """Headers count by bytes, separators included; exactly the limit is allowed."""
    most = [(b"n" * 10, b"v" * (MAX_RECEIVED_HEADERS // 4 - 14))] * 4
    check_headers(most)
    check_headers([])

    with pytest.raises(Unreadable, match="the response has more than 64 KiB of headers"):
        check_headers([*most[:3], (b"n" * 10, b"v" * (MAX_RECEIVED_HEADERS // 4 - 13))])
