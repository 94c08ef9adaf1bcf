"""Secrets are replaced by their names, in whatever usual encoding they come back."""

from __future__ import annotations

import base64
import binascii
import html
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator, Sequence

SHORTEST: Final = 6
"""Secrets of fewer bytes are weak, and so are ordinary words: a key ``active`` would turn every status into a name.

Weak secrets are only looked for where a reflected header shows them; where one is sent, the record has its name anyway.
"""

_STANDS_ALONE: Final = 4
"""A weak secret of so many bytes that is no ordinary word is also taken out where it is all that a text says."""

WITHHELD: Final = b"<withheld: a secret was in it, in an encoding that cannot be taken out>"

_BETWEEN: Final = "\x1f"
"""What no header holds, and no escape."""

BASE64_URL: Final = bytes.maketrans(b"+/", b"-_")

_ESCAPE: Final = re.compile(
    rb"""( \\u00[0-9a-fA-F]{2} | \\u\{0{0,8}[0-9a-fA-F]{1,2}\} | \\x[0-9a-fA-F]{2} | \\["'/\\rn] | %[0-9a-fA-F]{2}
         | &\#0*[0-9]{1,3};? | &\#[xX]0*[0-9a-fA-F]{1,2};? | &(?:amp|lt|gt|quot|apos); )""",
    re.VERBOSE,
)
_BREAK: Final = rb"(?:=?(?:\r?\n|\\{1,8}r\\{1,8}n|\\{1,8}n))?"
"""Where a long line may have been broken, as in base64 and quoted-printable; also within JSON."""

_ENTITIES: Final = {name: html.unescape(f"&{name};").encode() for name in ("amp", "lt", "gt", "quot", "apos")}
_CONTROLS: Final = {b"r": b"\r", b"n": b"\n"}
_ROUNDS: Final = 3
HIDDEN_TEXTS: Final = ("header", "environment", "provisioner")
"""The kinds of texts that the target file hides and that are no keys; their names begin so, before a colon."""

STAND_IN: Final = re.compile(rf"<(?:{'|'.join(HIDDEN_TEXTS)}):[^<>\r\n]{{1,200}}>".encode())
"""What stands for a text that the target file hides and that is no key: a service may show such a one rightly."""
_MIXED: Final = re.compile(rb"(?=.*[A-Za-z])(?=.*[0-9])", re.DOTALL)
"""Letters and digits: no word, also if an example of a document looks so."""

_GZIP: Final = b"\x1f\x8b"
_MOST_UNPACKED: Final = 8 * 2**20
_WORD_ENDS: Final = rb"(?![0-9A-Za-z])"
_FIGURE: Final = re.compile(rb"(?=.*[0-9])[0-9.,:/+TZ -]*")
"""A number, a date, a time or an address: outputs and responses are full of such."""

_LONG_FIGURE: Final = 12
"""Digits from which on a number does not turn up by chance."""

_LONG_KEY: Final = 16
"""Bytes from which on letters and digits are a key, and no name that a service shows in lower case."""

_HEXADECIMAL: Final = re.compile(rb"[0-9A-Fa-f-]*")
_BETWEEN_BYTES: Final = (b":", b" ", b"-")
_REMEMBERED: Final = 4096
_SHORT: Final = 1024
"""The most bytes of a text that is remembered to be free of secrets, such as the headers of every request."""
_AT_ONCE: Final = 20_000
"""Escapes that are in memory one by one."""
_LONGEST_STEP: Final = 8
"""Bytes from one piece of a run that is looked at to the next."""
_BLOCK: Final = 2**16
"""Bytes of a run whose pieces are in memory at once."""
_BYTES: Final = 256
_MAY_ESCAPE: Final = (b"\\", b"%", b"&")


@dataclass(frozen=True, slots=True)
class _Needle:
    """One form of a secret, and what stands in its place."""

    form: bytes
    name: str
    label: bytes
    weak: bool
    word: bool
    """Whether it must not be the beginning of a longer word."""

    def is_in(self, data: bytes) -> bool:
        """Whether the data shows it as it is."""
        return self.form in data and (not self.word or re.search(re.escape(self.form) + _WORD_ENDS, data) is not None)

    def replace(self, data: bytes) -> bytes:
        """Replace it where it stands as it is."""
        if self.word:
            return re.sub(re.escape(self.form) + _WORD_ENDS, lambda _: self.label, data)
        return data.replace(self.form, self.label)

    def replace_escaped(self, data: bytes) -> bytes:
        """Replace it where some of its characters are escaped; rare, so the pattern is made when it is needed."""
        spellings = _BREAK.join(_any_spelling(byte) for byte in self.form)
        return re.sub(spellings + (_WORD_ENDS if self.word else b""), self.label.replace(b"\\", b"\\\\"), data)


class _Sieve:
    """Tells which of many needles some data may hold, in a small part of the time that looking for each of them takes.

    A form that is there lies within a run of characters that forms are made of. Pieces of such a run are looked at,
    each so far from the one before that one of the first pieces of the form is among them.

    Args:
        needles: What is looked for, the longest first; each form has ``SHORTEST`` bytes at least.
    """

    def __init__(self, needles: Sequence[_Needle]) -> None:
        forms = [needle.form for needle in needles]
        shortest = min(map(len, forms), default=SHORTEST)
        self._step = min(shortest - SHORTEST + 1, _LONGEST_STEP)
        self._needles = needles
        self._places: dict[bytes, list[int]] = {}
        for place, form in enumerate(forms):
            for at in range(self._step):
                self._places.setdefault(form[at : at + SHORTEST], []).append(place)
        self._heads = frozenset(self._places)
        inside = frozenset(b"".join(forms))
        outside = next((byte for byte in range(_BYTES) if byte not in inside), None)
        self._long_run = None if outside is None else re.compile(b"[^\\x%02x]{%d,}" % (outside, shortest))
        self._runs_and_gaps = bytes(byte if byte in inside else outside or 0 for byte in range(_BYTES))
        self.free: set[bytes] = set()
        """Short texts that were looked through and hold none of the forms, however escaped."""

    def candidates(self, data: bytes) -> list[_Needle]:
        """The needles that may be in the data, in their order; each that is there is among them."""
        heads: set[bytes] = set()
        for pieces in self._pieces(data) if self._heads else ():
            if not self._heads.isdisjoint(pieces):  # much the faster one of the two
                heads |= self._heads.intersection(pieces)
        return [self._needles[place] for place in sorted({place for head in heads for place in self._places[head]})]

    def _pieces(self, data: bytes) -> Iterator[list[bytes]]:
        """The pieces of all runs; a few thousand at once, so that a long run takes little memory."""
        for run in self._runs(data):
            for begin in range(0, len(run), _BLOCK):
                block = range(begin, min(begin + _BLOCK, len(run)), self._step)
                yield [run[at : at + SHORTEST] for at in block]

    def _runs(self, data: bytes) -> list[bytes]:
        """What of the data is made of the characters of forms, and long enough for one."""
        if self._long_run is None:
            return [data]
        return self._long_run.findall(data.translate(self._runs_and_gaps))


class Redactor:
    """Replaces every known secret by ``<name>``.

    A secret is found plain, in hexadecimal, in base64 of either alphabet, once and twice, and in base32 (also as a
    part of a longer text, up to the one or two characters at its ends that other bytes share), and each of these with
    any of its characters escaped as in a URL, in JSON, in HTML or in quoted-printable, and with lines broken within it;
    also in UTF-16 and in what gzip has packed. A key of letters and digits is found in capitals and in small letters
    too, and a hexadecimal one without its hyphens. Weak ones (see ``SHORTEST``) are replaced behind ``Bearer`` alone.

    Args:
        ordinary: A text whose words no secret takes away: what contracts, responses and outputs are full of.

    Attributes:
        weak: The names of the secrets that are too short or too ordinary to be looked for everywhere.
    """

    def __init__(self, ordinary: builtins.bytes = b"") -> None:
        self._needles: tuple[_Needle, ...] = ()
        self._made: tuple[tuple[_Needle, ...], _Sieve] = (), _Sieve([])
        self._ordinary = ordinary
        self._known: set[bytes] = set()
        self._alone: dict[bytes, bytes] = {}
        self.weak: list[str] = []

    def __repr__(self) -> str:
        return f"Redactor({sorted({needle.name for needle in self._needles})})"

    def add(self, name: str, secret: str, *, shown: bool = False) -> None:
        """Make a secret known; one that is known already stays as it is.

        Args:
            name: What outputs show in its place, in angle brackets; "secret" where the name itself holds it.
            secret: The secret, at least one character; see ``SHORTEST``.
            shown: Whether it is a part of something that is no secret, so that it is weak, however long it is.

        Raises:
            ValueError: The secret is empty.
        """
        if not secret:
            raise ValueError(f"the secret {name} is empty")
        raw = secret.encode("utf-8", "surrogatepass")
        if raw in self._known:
            return
        self._known.add(raw)
        weak = shown or len(raw) < SHORTEST or _is_figure(raw) or self.is_word(raw)
        if secret in f"<{name}>" and not weak:  # what stands in its place must not give it away
            name = "secret"
        if weak:
            self._add_weak(name, raw)
            raw = b"Bearer " + raw
        forms = _forms(raw) if weak or name.partition(":")[0] in HIDDEN_TEXTS else [*_forms(raw), *_other_cases(raw)]
        known = {needle.form for needle in self._needles}
        added = [_needle(form, name, weak=weak, word=weak and form == raw) for form in forms if form not in known]
        self._needles = tuple(sorted([*self._needles, *added], key=lambda needle: -len(needle.form)))

    def is_word(self, raw: builtins.bytes) -> bool:
        """Whether it is a word or several of what contracts, responses and outputs are full of."""
        return _MIXED.search(raw) is None and raw in self._ordinary

    @property
    def _sieve(self) -> _Sieve:
        """The sieve of the needles of now; made when it is needed, since secrets come several at once."""
        needles, made = self._needles, self._made
        if made[0] is not needles:
            made = self._made = needles, _Sieve(needles)
        return made[1]

    def _add_weak(self, name: str, raw: builtins.bytes) -> None:
        self.weak += [name] if name not in self.weak else []
        if len(raw) >= _STANDS_ALONE and raw not in self._ordinary:
            alone = (b'"' + raw + b'"',) if _is_figure(raw) else (raw, b'"' + raw + b'"')
            self._alone |= {text: f"<{name}>".encode() for text in alone}

    def bytes(self, data: builtins.bytes) -> builtins.bytes:
        """The data with every secret replaced by its name."""
        sieve, given = self._sieve, data  # of now: another thread may make a secret known meanwhile
        if data in sieve.free:
            return data
        if data[:2] == _GZIP and any(self.find(inner) for inner in _unpacked(data)):
            return WITHHELD
        for raw, label in self._alone.items():
            if data == raw:
                return label
            if raw[:1] == b'"':
                data = data.replace(raw, b'"' + label + b'"')
        for needle in self._plain(data):
            data = needle.replace(data)
        escaped = self._escaped(data)
        if data is given and not escaped and len(data) <= _SHORT and len(sieve.free) < _REMEMBERED:
            sieve.free.add(data)
        for needle in escaped:
            data = needle.replace_escaped(data)
        return WITHHELD if escaped and self._escaped(data) else data

    def body(self, data: builtins.bytes) -> builtins.bytes:
        """The body of a message with every secret replaced, withheld where it is no text and its base64 would show one.

        A recording holds the base64 of what is not UTF-8.
        """
        clean = self.bytes(data)
        return WITHHELD if not _is_text(clean) and self.find(base64.b64encode(clean)) else clean

    def headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Headers with every secret replaced by its name, in their names too."""
        everything = _BETWEEN.join(part for header in headers for part in header)
        if self.text(everything) == everything:  # nearly always, and much faster than looking at each
            return tuple(headers)
        return tuple((self.text(name), self.text(value)) for name, value in headers)

    def text(self, text: str) -> str:
        """The text with every secret replaced by its name."""
        raw = text.encode("utf-8", "surrogatepass")
        redacted = self.bytes(raw)
        return text if redacted is raw else redacted.decode("utf-8", "surrogatepass")

    def find(self, data: builtins.bytes) -> list[str]:
        """The names of the secrets that are in the data in any form, each once, in alphabetical order.

        Weak ones are not told: what looks like one is a word.
        """
        return sorted({needle.name for needle in (*self._plain(data), *self._escaped(data)) if not needle.weak})

    def _plain(self, data: builtins.bytes) -> list[_Needle]:
        """The needles that the data shows as they are, the longest first."""
        return [needle for needle in self._sieve.candidates(data) if needle.is_in(data)]

    def _escaped(self, data: builtins.bytes) -> list[_Needle]:
        """The needles that show once escapes are undone, a few times over: texts are quoted within texts."""
        found: list[_Needle] = []
        for undone in without_escapes(data):
            found += [needle for needle in self._plain(undone) if needle not in found]
        return found


def _unpacked(data: bytes) -> Iterator[bytes]:
    """What gzip has packed, once and again, as far as it may be large; nobody announced that it is packed."""
    for _ in range(_ROUNDS):
        if data[:2] != _GZIP:
            break
        try:
            data = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, _MOST_UNPACKED)
        except zlib.error:
            break
        yield data


def without_escapes(data: bytes) -> Iterator[bytes]:
    """The data with its escapes undone, once and again, and each time with its lines joined."""
    yield from _joined(data)
    for _ in range(_ROUNDS):
        before, data = data, _unescaped(data) if any(mark in data for mark in _MAY_ESCAPE) else data
        if data == before:
            break
        yield data
        yield from _joined(data)


def _joined(data: bytes) -> Iterator[bytes]:
    """The data as if its lines had been broken only for their length, and as quoted-printable, where these differ."""
    if b"\n" in data:
        yield data.replace(b"\r\n", b"").replace(b"\n", b"")
    if b"=" in data and (read := binascii.a2b_qp(data)) != data:
        yield read


def _unescaped(data: bytes) -> bytes:
    """Each escape replaced by what it stands for; by splitting, since a function for each takes five times as long."""
    done: list[bytes] = []
    while len(pieces := _ESCAPE.split(data, _AT_ONCE)) > 1:
        data = pieces.pop()
        pieces[1::2] = map(_MEANINGS.__getitem__, pieces[1::2])
        done.append(b"".join(pieces))
    return b"".join([*done, data])


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_figure(raw: bytes) -> bool:
    return _FIGURE.fullmatch(raw) is not None and sum(map(str.isdigit, raw.decode("ascii"))) < _LONG_FIGURE


def _needle(form: bytes, name: str, *, weak: bool, word: bool) -> _Needle:
    return _Needle(form, name, f"<{name}>".encode(), weak, word)


def _forms(secret: bytes) -> list[bytes]:
    """The forms that a secret is looked for in, escapes aside."""
    of_64 = _base64(secret)
    of_32 = [form for shift in range(5) if len(form := _core(base64.b32encode, 5, secret, shift)) >= SHORTEST]
    hexadecimal = [between.join(b"%02x" % byte for byte in secret) for between in (b"", *_BETWEEN_BYTES)]
    # A secret that looks escaped itself is undone together with the data that it is looked for in.
    undone = [form for form in without_escapes(secret) if len(form) >= SHORTEST]
    # What is between the bytes of a text in UTF-16 and UTF-32 of either order.
    wide = [zeros.join(bytes([byte]) for byte in secret) for zeros in (b"\0", b"\0\0\0")]
    twice = [outer for inner in of_64 for outer in _base64(inner)]
    encoded = [*of_64, *twice, *of_32, *[form.lower() for form in of_32]]
    return list(dict.fromkeys([secret, *undone, *hexadecimal, *map(bytes.upper, hexadecimal), *wide, *encoded]))


def _base64(secret: bytes) -> list[bytes]:
    """What base64 of either alphabet makes of a secret, wherever it begins."""
    found = [form for shift in range(3) if len(form := _core(base64.b64encode, 6, secret, shift)) >= SHORTEST]
    return list(dict.fromkeys([*found, *[form.translate(BASE64_URL) for form in found]]))


def _other_cases(secret: bytes) -> list[bytes]:
    """A key in other letter case; one of hexadecimal digits also without the hyphens of a UUID."""
    if len(secret) < _LONG_KEY or _MIXED.search(secret) is None:
        return []
    spellings = [secret, secret.replace(b"-", b"")] if _HEXADECIMAL.fullmatch(secret) else [secret]
    return [form for one in spellings for form in (one, one.lower(), one.upper(), one.swapcase())]


def _core(encode: Callable[[bytes], bytes], bits: int, secret: bytes, shift: int) -> bytes:
    """The characters of so many bits that the secret alone decides where it begins ``shift`` bytes into a group."""
    encoded = encode(bytes(shift) + secret)
    first = -(-shift * 8 // bits)
    last = (shift + len(secret)) * 8 // bits
    return encoded[first:last]


def _any_spelling(byte: int) -> bytes:
    """A pattern for one byte, as it is or escaped; rounds of quoting double backslashes, so there are 8 at most."""
    high, low = (f"[{digit}{digit.upper()}]" for digit in f"{byte:02x}")
    digits = (high + low).encode()
    short = digits if byte > 0x0F else low.encode()  # noqa: PLR2004 - one digit or two
    spellings = [
        rb"\\{1,8}(?:u00|x)" + digits,
        rb"\\{1,8}u\{0{0,8}" + short + rb"\}",
        rb"%(?:25)*" + digits,
        rb"&#0*" + str(byte).encode() + b";?",
        rb"&#[xX]0*" + short + b";?",
        b"=" + digits,
    ]
    if byte in b"\"'/\\":
        spellings.append(rb"\\{1,8}" + re.escape(bytes([byte])))
    spellings += [b"&" + name.encode() + b";" for name, value in _ENTITIES.items() if value == bytes([byte])]
    # The plain byte comes last: it may be the beginning of its own escape, as in &amp; or %25.
    return b"(?:" + b"|".join([*spellings, re.escape(bytes([byte]))]) + b")"


class _Meanings(dict[bytes, bytes]):
    """What escapes stand for; a few thousand spellings are remembered."""

    def __missing__(self, escape: bytes) -> bytes:
        meaning = _meaning(escape)
        if len(self) < _REMEMBERED:
            self[escape] = meaning
        return meaning


def _meaning(escape: bytes) -> bytes:
    text = escape.decode("ascii")
    if text[:3] == "\\u{":
        return bytes([int(text[3:-1], 16)])
    if text[0] == "%" or text[:2] in {"\\u", "\\x"}:
        return bytes([int(text[-2:], 16)])
    if text[0] == "\\":
        return _CONTROLS.get(escape[1:], escape[1:])
    if text[1] != "#":
        return _ENTITIES[text[1:-1]]
    digits = text[2:].removesuffix(";")
    code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    return bytes([code]) if code <= 0xFF else escape  # noqa: PLR2004 - a byte


_MEANINGS: Final = _Meanings()
