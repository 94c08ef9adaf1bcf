"""Wrong keys of a run, which together must not reveal the real key to a reader of the outputs."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from tests.fakes.command_line import Ended, start
from tests.fakes.target import Reply, Turn, hostile

PATIENCE: Final = 200.0
ENDS: Final = 12
"""Characters that a service shows of the beginning and of the end of an unknown key."""
PIECE: Final = 7
"""Characters in a row that are no coincidence."""
KEYS: Final = {
    "letters and digits": "sk_live_4eC39HqLyjWDarjtT1zdp7dcN2bVxQ8mKfRs6uYw",
    "a UUID": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "hexadecimal": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "base64 with marks": "Vh7/kQ2+pLm9Zx4Rt8Wc/Yb3Nf6Gd1Js+Ku5Ea0HoTi=",
    "a token in three parts": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ2ZW5kb3ItNDIifQ.k3T9xQwLr7Zb1Yc8Vd2Nf5Mg4Hj6Kp0Ss",
}


def _shown(key: str) -> dict[str, str]:
    """Return the forms in which a service shows an unknown key."""
    raw = key.encode()
    return {
        "message": f"Unknown API key: {key}",
        "capitals": f"UNKNOWN API KEY: {key.upper()}",
        "quoted": json.dumps({"key": key}),
        "base64": base64.b64encode(raw).decode(),
        "base64 of a sentence": base64.b64encode(b"Unknown: " + raw).decode(),
        "percent": quote(key, safe=""),
        "hexadecimal": raw.hex(),
        "begins": f"{key[:ENDS]}...",
        "ends": f"...{key[-ENDS:]}",
        "ends in base64": base64.b64encode(raw[:ENDS] + b"..." + raw[-ENDS:]).decode(),
        "hint": f"{key[:ENDS].upper()}***{key[-ENDS:].lower()}",
    }


async def _telling(turn: Turn, key: str) -> None:
    """Accept the real key, and show every other key in the body and in a header."""
    given = turn.headers.get("Authorization", "")
    if given == f"Bearer {key}":
        turn.headers["Authorization"] = f"Bearer {turn.target.api_key}"
    reply = await turn.honest()
    if reply.status == HTTPStatus.UNAUTHORIZED and given:
        shown = _shown(given.partition(" ")[2] or given)
        body = reply.data
        body["error"]["message"] = shown["message"]
        body["error"]["details"] = [shown, given]
        headers = {"X_Seen": shown["begins"], "X_Seen_Whole": shown["message"]}
        reply = Reply(reply.status, reply.headers, json.dumps(body).encode()).with_headers(**headers)
    await turn.send(reply)


def _readings(ended: Ended) -> list[str]:
    """Return all texts of the files: whole, each string, and each string decoded from base64 and hexadecimal."""
    texts = [ended.out, ended.err, *(path.read_text("utf-8") for path in ended.folder.rglob("*") if path.is_file())]
    for entry in json.loads((ended.folder / "exchanges.har").read_text("utf-8"))["log"]["entries"]:
        body = entry["response"].get("content", {}).get("text", "")
        if entry["response"]["status"] == HTTPStatus.UNAUTHORIZED and body.startswith("{"):
            details = json.loads(body)["error"].get("details", [])
            strings = [
                text for detail in details for text in (detail.values() if isinstance(detail, dict) else [detail])
            ]
            texts += [reading for text in strings for reading in (text, *_decoded(text))]
    return [text.casefold() for text in texts]


def _decoded(text: str) -> list[str]:
    found = []
    for read in (lambda given: base64.b64decode(given, validate=True), bytes.fromhex):
        try:
            found.append(read(text).decode("latin-1"))
        except ValueError:
            continue
    return found


def _known(key: str, texts: list[str]) -> set[int]:
    """Return the positions of the key that all texts together reveal; letter case is ignored."""
    sought = key.casefold()
    starts = range(len(sought) - PIECE + 1)
    told = [start for start in starts if any(sought[start : start + PIECE] in text for text in texts)]
    return {place for start in told for place in range(start, start + PIECE)}


@pytest.mark.parametrize("kind", KEYS)
def test_all_wrong_keys_together_tell_no_fifth_of_the_real_one(kind: str, tmp_path: Path) -> None:
    """The outputs do not reveal the real key if a service shows unknown keys, whole or shortened, in any encoding."""
    key = KEYS[kind]
    with hostile(lambda turn: _telling(turn, key)) as target:
        words = ("run", "--base-url", target.url, "--effort", "quick", "--seed", "1", "--quiet")
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=key).wait(PATIENCE)

    assert ended.status == 0, ended.messages()
    texts = _readings(ended)
    assert any("unknown api key: <" in text for text in texts)
    assert len(_known(key, texts)) <= len(key) / 5
    again = subprocess.run(
        [sys.executable, "-m", "conformance", "render", "--rejudge", str(ended.folder)], check=False, timeout=PATIENCE
    )
    assert again.returncode == 0
