"""Redaction: replacement of secrets by their names, in every usual encoding."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.wire.escapes import ROUNDS, any_spelling, without_escapes

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterator, Sequence

SHORTEST: Final = 6
"""Secrets of fewer bytes are weak, and so are ordinary words: a key ``active`` would replace every such status.

Weak secrets are only searched for in reflected headers; a sent header always has the name in the record.
"""

_STANDS_ALONE: Final = 4
"""Bytes from which a weak secret that is no ordinary word is also replaced if it is a whole text."""

WITHHELD: Final = b"<withheld: a secret was in it, in an encoding that cannot be taken out>"

_BETWEEN: Final = "\x1f"
"""A separator that no header and no escape contains."""

BASE64_URL: Final = bytes.maketrans(b"+/", b"-_")

_BREAK: Final = rb"(?:=?(?:\r?\n|\\{1,8}r\\{1,8}n|\\{1,8}n))?"
"""An optional line break in a long line, as in base64 and quoted-printable; also within JSON."""

HIDDEN_TEXTS: Final = ("header", "environment", "provisioner")
"""Prefixes, before a colon, of the names of texts that the target file hides and that are no keys."""

STAND_IN: Final = re.compile(rf"<(?:{'|'.join(HIDDEN_TEXTS)}):[^<>\r\n]{{1,200}}>".encode())
"""The placeholder of a hidden text that is no key; a service may rightly show such a text."""
_MIXED: Final = re.compile(rb"(?=.*[A-Za-z])(?=.*[0-9])", re.DOTALL)
"""Letters and digits: never an ordinary word."""

_PACKED: Final = frozenset({b"\x1f\x8b", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda"})
"""The first bytes of gzip data, and of zlib data at each level of compression."""
_MOST_UNPACKED: Final = 8 * 2**20
_WORD_ENDS: Final = rb"(?![0-9A-Za-z])"
_FIGURE: Final = re.compile(rb"(?=.*[0-9])[0-9.,:/+TZ -]*")
"""A number, a date, a time or an address, which outputs and responses often contain."""

_LONG_FIGURE: Final = 12
"""Digits from which a number does not occur by chance."""

_LONG_KEY: Final = 16
"""Bytes from which letters and digits are a key, and no name that a service shows in lower case."""

_HEXADECIMAL: Final = re.compile(rb"[0-9A-Fa-f-]*")
_BETWEEN_BYTES: Final = (b":", b" ", b"-")
_REMEMBERED: Final = 4096
_REMEMBERED_RUNS: Final = 2**14
_SHORT: Final = 1024
"""The most bytes of a text that is cached as free of secrets, such as the headers of every request."""
_LONGEST_STEP: Final = 8
"""Bytes between the starts of two examined pieces of a run."""
_BLOCK: Final = 2**16
"""Bytes of a run whose pieces are in memory at once."""
_BYTES: Final = 256


@dataclass(frozen=True, slots=True)
class _Needle:
    """One form of a secret, and its replacement."""

    form: bytes
    name: str
    label: bytes
    weak: bool
    word: bool
    """Whether it must not begin a longer word."""

    def is_in(self, data: bytes) -> bool:
        """Whether the data contains the form unescaped."""
        return self.form in data and (not self.word or re.search(re.escape(self.form) + _WORD_ENDS, data) is not None)

    def replace(self, data: bytes) -> bytes:
        """Replace the unescaped form."""
        if self.word:
            return re.sub(re.escape(self.form) + _WORD_ENDS, lambda _: self.label, data)
        return data.replace(self.form, self.label)

    def replace_escaped(self, data: bytes) -> bytes:
        """Replace the form with some characters escaped; rare, so the pattern is built on demand."""
        spellings = _BREAK.join(any_spelling(byte) for byte in self.form)
        return re.sub(spellings + (_WORD_ENDS if self.word else b""), self.label.replace(b"\\", b"\\\\"), data)


class _Sieve:
    """Fast filter for the needles that some data may contain.

    A form lies within a run of characters that occur in forms. The sieve examines pieces of such a run. Their distance
    is small enough that one of the first pieces of every form is among them.

    Args:
        needles: The needles, the longest first; each form has ``SHORTEST`` bytes at least.
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
        self._outside = None if outside is None else bytes([outside])
        self._long_run = re.compile(b"\\x%02x[^\\x%02x]{%d,}" % (outside or 0, outside or 0, shortest))
        self._runs_and_gaps = bytes(byte if byte in inside else outside or 0 for byte in range(_BYTES))
        self.free: set[bytes] = set()
        """Short texts that were searched and contain none of the forms, escaped or not."""
        self._free_runs: set[bytes] = set()
        """Short runs that were searched and contain none of the forms."""

    def candidates(self, data: bytes) -> list[_Needle]:
        """Return the needles that may be in the data, in their order; none that is in it is left out."""
        heads: set[bytes] = set()
        for run in set(self._runs(data)) - self._free_runs if self._heads else ():
            inside = self._heads_in(run)
            if inside:
                heads |= inside
            elif len(run) <= _SHORT and len(self._free_runs) < _REMEMBERED_RUNS:
                self._free_runs.add(run)
        return [self._needles[place] for place in sorted({place for head in heads for place in self._places[head]})]

    def _heads_in(self, run: bytes) -> set[bytes]:
        """Return the beginnings of forms that are pieces of a run; a long run takes little memory."""
        heads: set[bytes] = set()
        for begin in range(0, len(run), _BLOCK):
            block = range(begin, min(begin + _BLOCK, len(run)), self._step)
            pieces = [run[at : at + SHORTEST] for at in block]
            if not self._heads.isdisjoint(pieces):  # much faster than the intersection
                heads |= self._heads.intersection(pieces)
        return heads

    def _runs(self, data: bytes) -> list[bytes]:
        """Return the runs of characters of forms that are long enough for a form, with the byte before each."""
        if self._outside is None:
            return [data]
        return self._long_run.findall(self._outside + data.translate(self._runs_and_gaps))


class Redactor:
    """Replaces every known secret by ``<name>``.

    Forms of a secret that are found:

    - plain, hexadecimal, base64 of either alphabet (once and twice) and base32, also within a longer text, except the
      one or two characters at the ends that depend on other bytes;
    - each of these with characters escaped as in a URL, JSON, HTML or quoted-printable, and with broken lines;
    - UTF-16, UTF-32, gzip and zlib data;
    - a key of letters and digits in upper and lower case, and a hexadecimal key without hyphens.

    Weak secrets (see ``SHORTEST``) are only replaced after ``Bearer``.

    Args:
        ordinary: A text whose words are never replaced: the vocabulary of contracts, responses and outputs.

    Attributes:
        weak: The names of the secrets that are too short or too ordinary to be searched for everywhere.
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
        """Add a secret; a known one stays unchanged.

        Args:
            name: What outputs show in its place, in angle brackets; "secret" if the name itself contains it.
            secret: The secret, at least one character; see ``SHORTEST``.
            shown: Whether it is part of a text that is no secret, so that it is weak, however long it is.

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
        if secret in f"<{name}>" and not weak:  # the replacement must not reveal the secret
            name = "secret"
        if weak:
            self._add_weak(name, raw)
            raw = b"Bearer " + raw
        forms = _forms(raw) if weak or name.partition(":")[0] in HIDDEN_TEXTS else [*_forms(raw), *_other_cases(raw)]
        known = {needle.form for needle in self._needles}
        added = [_needle(form, name, weak=weak, word=weak and form == raw) for form in forms if form not in known]
        self._needles = tuple(sorted([*self._needles, *added], key=lambda needle: -len(needle.form)))

    def is_word(self, raw: builtins.bytes) -> bool:
        """Whether it consists of ordinary words."""
        return _MIXED.search(raw) is None and raw in self._ordinary

    @property
    def _sieve(self) -> _Sieve:
        """The sieve of the present needles; built on demand, since secrets are added several at once."""
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
        """Return the data with every secret replaced by its name."""
        sieve, given = self._sieve, data  # read once: another thread may add a secret meanwhile
        if data in sieve.free:
            return data
        if data[:2] in _PACKED and any(self.find(inner) for inner in _unpacked(data)):
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
        """Return a body with every secret replaced; withhold it if it is no text and its base64 would show a secret.

        A recording has the base64 of a body that is not UTF-8.
        """
        clean = self.bytes(data)
        return WITHHELD if not is_text(clean) and self.find(base64.b64encode(clean)) else clean

    def headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return headers with every secret in names and values replaced by its name."""
        everything = _BETWEEN.join(part for header in headers for part in header)
        if self.text(everything) == everything:  # nearly always, and much faster than a search of each
            return tuple(headers)
        return tuple((self.text(name), self.text(value)) for name, value in headers)

    def text(self, text: str) -> str:
        """Return the text with every secret replaced by its name."""
        raw = text.encode("utf-8", "surrogatepass")
        redacted = self.bytes(raw)
        return text if redacted is raw else redacted.decode("utf-8", "surrogatepass")

    def find(self, data: builtins.bytes) -> list[str]:
        """Return the sorted names of the secrets that are in the data in any form.

        Weak secrets are left out: what looks like one is a word.
        """
        return sorted({needle.name for needle in (*self._plain(data), *self._escaped(data)) if not needle.weak})

    def _plain(self, data: builtins.bytes) -> list[_Needle]:
        """Return the needles that the data contains unescaped, the longest first."""
        return [needle for needle in self._sieve.candidates(data) if needle.is_in(data)]

    def _escaped(self, data: builtins.bytes) -> list[_Needle]:
        """Return the needles that the data contains once it is unescaped, several times for texts within texts."""
        found: list[_Needle] = []
        for undone in without_escapes(data):
            found += [needle for needle in self._plain(undone) if needle not in found]
        return found


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Yield the content of gzip or zlib data without a Content-Encoding, several times, within a size limit."""
    for _ in range(ROUNDS):
        if data[:2] not in _PACKED:
            break
        try:
            data = zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(data, _MOST_UNPACKED)
        except zlib.error:
            break
        yield data


def is_text(data: bytes) -> bool:
    """Whether data is a text in UTF-8."""
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
    """Return the forms of a secret that are searched for, escapes aside."""
    of_64 = _base64(secret)
    of_32 = [form for shift in range(5) if len(form := _core(base64.b32encode, 5, secret, shift)) >= SHORTEST]
    hexadecimal = [between.join(b"%02x" % byte for byte in secret) for between in (b"", *_BETWEEN_BYTES)]
    # A secret that looks escaped itself is unescaped together with the data.
    undone = [form for form in without_escapes(secret) if len(form) >= SHORTEST]
    # The bytes between the characters of UTF-16 and UTF-32, of either byte order.
    wide = [zeros.join(bytes([byte]) for byte in secret) for zeros in (b"\0", b"\0\0\0")]
    twice = [outer for inner in of_64 for outer in _base64(inner)]
    encoded = [*of_64, *twice, *of_32, *[form.lower() for form in of_32]]
    return list(dict.fromkeys([secret, *undone, *hexadecimal, *map(bytes.upper, hexadecimal), *wide, *encoded]))


def _base64(secret: bytes) -> list[bytes]:
    """Return the base64 forms of a secret, in either alphabet, for every offset."""
    found = [form for shift in range(3) if len(form := _core(base64.b64encode, 6, secret, shift)) >= SHORTEST]
    return list(dict.fromkeys([*found, *[form.translate(BASE64_URL) for form in found]]))


def _other_cases(secret: bytes) -> list[bytes]:
    """Return a key in other letter case; a hexadecimal key also without the hyphens of a UUID."""
    if len(secret) < _LONG_KEY or _MIXED.search(secret) is None:
        return []
    spellings = [secret, secret.replace(b"-", b"")] if _HEXADECIMAL.fullmatch(secret) else [secret]
    return [
        form for spelling in spellings for form in (spelling, spelling.lower(), spelling.upper(), spelling.swapcase())
    ]


def _core(encode: Callable[[bytes], bytes], bits: int, secret: bytes, shift: int) -> bytes:
    """Return the encoded characters that depend on the secret alone if it begins ``shift`` bytes into a group."""
    encoded = encode(bytes(shift) + secret)
    first = -(-shift * 8 // bits)
    last = (shift + len(secret)) * 8 // bits
    return encoded[first:last]
