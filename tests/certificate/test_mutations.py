"""Consistent edits of single members: each is found if it contradicts the recording, else its member is stated."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from conformance.certificate import examining
from conformance.certificate.recomputing import BOUNDED, STATED
from conformance.certificate.statement import CLAIMS
from conformance.certificate.verifying import verify
from conformance.replay.recording import Recording
from conformance.replay.reevaluating import Reevaluation, reevaluate
from conformance.reports.sealing import PROVISIONED
from conformance.wire.exchange import UNDOING
from conformance.wire.replay_wire import BESIDE

from .forging import documents, forge

SHARES = {"report": 250, "statement": 100, "notes": 75, "archive": 75}
"""The number of edits of each document."""

Place = tuple[str | int, ...]

OF_VENDOR = {
    "report": tuple(name for name in STATED if name not in {"/suite/commit", "/waivers"}),
    "statement": tuple(f"/predicate/{CLAIMS}/{name}" for name in ("build", "reservations", "versions/signed")),
    "notes": ("/0/versions", "/0/target/timeout", "/0/target/patience", "/0/target/api_key/prefix"),
    "archive": ("/log/entries/*/_head_seconds",),
}
"""The members that rest on the vendor's word, by patterns of JSON pointers: no edit of one is found."""

JUDGED = {
    "report": ("/suite/commit", "/waivers", *BOUNDED),
    "statement": (f"/predicate/{CLAIMS}/signed_at",),
    "notes": ("/*/told", "/*/time", "/*/exchanges", "/0/target/api_key/length"),
    "archive": ("/log/entries/*/response", "/log/entries/*/startedDateTime"),
}
"""The members that have bounds, a schema, or checks that judge them: an edit is found if it contradicts these."""


@pytest.fixture(autouse=True)
def judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge equal recordings once."""
    monkeypatch.setattr(examining, "reevaluate", _reevaluated)


_KNOWN: dict[bytes, Reevaluation] = {}


def _reevaluated(recording: Recording, folder: Path) -> Reevaluation:
    notes = (folder / PROVISIONED).read_bytes().splitlines()[:-1]
    digest = hashlib.sha256((folder / "exchanges.har").read_bytes() + b"".join(notes)).digest()
    if digest not in _KNOWN:
        _KNOWN[digest] = reevaluate(recording, folder)
    return _KNOWN[digest]


def _places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of each member of a JSON value that is no object."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if place and not isinstance(value, dict):
        yield place
    for name, member in members:
        yield from _places(member, (*place, name))


def _edited(value: Any, chance: random.Random) -> Any:
    """Return another JSON value that looks like this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + chance.choice((1, 7))
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    return "x" if value is None else _other_text(value)


def _other_text(text: str) -> str:
    """Return another time, another digest or another text."""
    if found := re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:)(\d\d)(.*)", text):
        return f"{found[1]}{(int(found[2]) + 30) % 60:02}{found[3]}"
    if re.fullmatch("[0-9a-f]{40,}", text):
        return text[:-1] + ("0" if text[-1] != "0" else "1")
    return f"{text}x"


def _is_of(place: Place, patterns: tuple[str, ...]) -> bool:
    """Whether a place is at or below one of the patterns."""
    pointer = "".join(f"/{part}" for part in place)
    return any(re.fullmatch(f"{re.escape(pattern)}(/.*)?".replace(r"\*", "[^/]*"), pointer) for pattern in patterns)


def _is_beside(folder: Path, place: Place) -> bool:
    """Whether a place belongs to a request that no check sends, such as those that undo the run."""
    if place[:2] != ("log", "entries") or len(place) == 2:
        return False
    return documents(folder)["archive"]["log"]["entries"][place[2]]["_check"] in {*BESIDE, UNDOING}


@cache
def _drawn(folder: Path, document: str, count: int) -> list[Place]:
    """Return random places of a document, at least one of each kind of member and of each about equally many."""
    kinds: dict[Place, list[Place]] = {}
    for place in _places(documents(folder)[document]):
        kind = tuple("*" if isinstance(part, int) and (depth or part) else part for depth, part in enumerate(place))
        kinds.setdefault(kind, []).append(place)
    assert len(kinds) <= count
    chance = random.Random(document)
    return [chance.choice(kinds[kind]) for kind in islice(cycle(chance.sample(list(kinds), len(kinds))), count)]


def _edit(folder: Path, key: Ed25519PrivateKey, document: str, place: Place, chance: random.Random) -> None:
    def change(value: Any) -> None:
        for part in place[:-1]:
            value = value[part]
        value[place[-1]] = _edited(value[place[-1]], chance)

    forge(folder, key, document, change)


@pytest.mark.parametrize(("document", "number"), [(name, number) for name, n in SHARES.items() for number in range(n)])
def test_an_edit_is_found_unless_only_the_vendor_knows(
    signed_run: Path,
    private_key: Ed25519PrivateKey,
    public_key: Ed25519PublicKey,
    tmp_path: Path,
    document: str,
    number: int,
) -> None:
    """A member is changed alone, and everything that follows from it is made anew."""
    place = _drawn(signed_run, document, SHARES[document])[number]
    folder = Path(shutil.copytree(signed_run, tmp_path / "run"))
    _edit(folder, private_key, document, place, random.Random(number))
    verified = verify(folder, public_key)
    found = not verified.holds or not verified.is_judged

    if not (_is_of(place, JUDGED[document]) or (document == "archive" and _is_beside(signed_run, place))):
        assert found is not _is_of(place, OF_VENDOR[document]), place


def test_the_stated_members_are_documented() -> None:
    """docs/certificates.md lists them, and those with bounds, for each file."""
    page = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (report\.json|statement|provisioned\.jsonl|exchanges\.har) \| (`.*`) \| (`.*`) \|$", page, re.MULTILINE
    )
    listed = [[re.findall("`(.*?)`", cell) for cell in cells] for _, *cells in rows]
    ours = f"/predicate/{CLAIMS}/"

    assert listed == [
        [[name.removeprefix(ours) for name in patterns[document]] for patterns in (OF_VENDOR, JUDGED)]
        for document in ("report", "statement", "notes", "archive")
    ]
