"""Runs with pseudonyms: no output shows people or other users' engagements, and the recording is judged alike."""

from __future__ import annotations

import html
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from conformance.reference.application import create_app
from conformance.reference.faults import fault_by_id
from conformance.reference.server import Server, announcement, listen
from conformance.reference.store import Store
from tests.fakes.command_line import Ended, start, target_file

from .conftest import conformance

PEOPLE = (
    ("Zebulon Quarterstaff", "zebulon.quarterstaff@hidden-people.example"),
    ("Björn Þórðarson", "bjorn@hidden-people.example"),
    ('Sinéad "Red" O\'Quigley & <Sons>', "s.o'quigley+red@hidden-people.example"),
    ("田中 太郎", "TANAKA@hidden-people.example"),
    ("Mira", "mira@hidden-people.example"),
)
ENGAGEMENTS = (
    ("Aardvark Holdings pentest", "Confidential: the merger of Aardvark and Zanzibar."),
    ("zanzibar telecom", "Findings of last year only. " * 12),
    ("Ünïcode Privatbank", None),
    ("cf-zzzzzzz2-left", "Left by another run of someone else."),
    ("Test", "active"),
)
MASKED = [text for row in (*PEOPLE, *ENGAGEMENTS) for text in row if text and text not in {"Mira", "Test", "active"}]
"""Texts that no output may have; the others are also words of the suite."""
FAULTS = ("sort-ignored", "deleted-still-listed", "member-address-masked")


@contextmanager
def _service(fault: str | None = None) -> Iterator[Any]:
    """Serve an organization with people and engagements; yield the announcement."""
    app = create_app(Store(":memory:"), fault=fault_by_id(fault) if fault else None)
    service, organization = app.service, app.bootstrap.organization_id
    with service.store.transaction():
        for name, address in PEOPLE:
            service.add_member(organization, name, address, "member", service.now())
        for title, description in ENGAGEMENTS:
            service.add_engagement(organization, title, description, "active")
    listener, base_url = listen("127.0.0.1", 0)
    ready = threading.Event()
    server = Server(app, listener, ready.set)
    thread = threading.Thread(target=server.serve_until_stopped)
    thread.start()
    ready.wait()
    try:
        yield announcement(app, base_url)
    finally:
        server.stop()
        thread.join()


def _run(folder: Path, fault: str | None, *words: str, lines: tuple[str, ...] = (), **environment: str) -> Ended:
    """Run the suite against a service in an organization with people, in all classes."""
    with _service(fault) as announced:
        program = f"command: [{sys.executable}, -m, conformance.reference.provisioner]"
        names = "environment: [CONFORMANCE_SANDBOX_URL, CONFORMANCE_SANDBOX_TOKEN, PYTHONPATH]"
        lines = ("disposable: true", "provisioner:", f"  {program}", f"  {names}", *lines)
        target = target_file(folder.parent, announced["base_url"], *lines, timeout=10)
        return start(
            folder, "run", "--target", str(target), "--effort", "quick", *words,
            CONFORMANCE_API_KEY=announced["keys"]["api_key"],
            CONFORMANCE_SANDBOX_URL=announced["sandbox_url"],
            CONFORMANCE_SANDBOX_TOKEN=announced["sandbox_token"],
            PYTHONPATH=str(Path(__file__).parents[2]),
            **environment,
        ).wait(300)  # fmt: skip


def _shown(ended: Ended, texts: list[str]) -> list[tuple[str, str]]:
    """Return the outputs that show a text, in any form."""
    files = filter(Path.is_file, ended.folder.rglob("*"))
    outputs = {path.name: path.read_bytes().decode("utf-8", "replace") for path in files}
    outputs |= {"stdout": ended.out, "stderr": ended.err}
    quoted = {text: {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]} for text in texts}
    forms = {
        text: {
            *(form for one in several for form in (one, json.dumps(one, ensure_ascii=False)[1:-1], html.escape(one))),
            *(quote(text), quote(text, safe=""), quote_plus(text)),
        }
        for text, several in quoted.items()
    }
    return [
        (name, text)
        for name, output in outputs.items()
        for text, spellings in forms.items()
        if any(form.lower() in output.lower() for form in spellings)
    ]


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Return a masked run of a service that keeps everything."""
    return _run(tmp_path_factory.mktemp("masked") / "report", None, "--mask-people")


def test_no_output_shows_people_or_other_users_engagements(masked: Ended) -> None:
    """Names, addresses and texts are in no file of the folder and not on the terminal."""
    assert masked.status == 0, masked.messages()
    assert _shown(masked, MASKED) == []
    assert "pseudonyms" in masked.messages()


def test_without_the_option_outputs_show_them(tmp_path: Path) -> None:
    """The search finds what an ordinary run shows."""
    ended = _run(tmp_path / "report", None)

    assert {text for _, text in _shown(ended, MASKED)} == set(MASKED)


def test_a_masked_recording_is_judged_alike(masked: Ended) -> None:
    """A replay asks for the recorded requests and comes to the same outcomes."""
    again = conformance("render", "--rejudge", masked.folder)

    assert (again.returncode, again.stderr) == (0, ""), again.stdout


def test_a_masked_run_can_be_certified(masked: Ended, tmp_path: Path) -> None:
    """A certificate of its folder holds in every line: journal, requests and other files fit the recording."""
    folder = shutil.copytree(masked.folder, tmp_path / "run")
    for words in (["keygen", tmp_path / "key"], ["sign", folder, "--key", tmp_path / "key"]):
        assert (done := conformance(*words)).returncode == 0, done.stderr
    verified = conformance("verify", folder, "--public-key", tmp_path / "key.pub")

    assert verified.returncode == 0, verified.stdout


def test_short_names_are_replaced_where_people_stand(masked: Ended) -> None:
    """A name that is also a word of the suite is replaced in people and engagements."""
    archive = json.loads((masked.folder / "exchanges.har").read_text("utf-8"))
    bodies = [entry["response"]["content"].get("text", "") for entry in archive["log"]["entries"]]

    assert not [body for body in bodies if '"name":"Mira"' in body.replace(": ", ":") or '"Test"' in body]


def test_pseudonyms_are_alike_in_all_places(masked: Ended) -> None:
    """Each person has one name and one address in all lists, of the shape of the true one."""
    archive = json.loads((masked.folder / "exchanges.har").read_text("utf-8"))
    people: dict[str, set[tuple[str, str]]] = {}
    for entry in archive["log"]["entries"]:
        is_list = entry["_call"]["operation"] == "listMembers" and entry["response"]["status"] == 200
        for member in json.loads(entry["response"]["content"]["text"])["data"] if is_list else ():
            people.setdefault(member["id"], set()).add((member["name"], member["email"]))
    shapes = {(len(name), len(address)) for name, address in PEOPLE}

    assert all(len(shown) == 1 for shown in people.values())
    assert shapes <= {(len(name), len(address)) for shown in people.values() for name, address in shown}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_in_a_masked_recording(tmp_path: Path, fault: str) -> None:
    """A masked run reports what an ordinary one does, word for word when it is judged again, and shows nothing."""
    chosen = ("--only", "listEngagements", "--only", "listMembers")
    events = tmp_path / "events.jsonl"
    masking = ("--mask-people", "--events", str(events))
    with ThreadPoolExecutor() as both:
        ordinary = both.submit(_run, tmp_path / "plain" / "report", fault, *chosen)
        hidden = _run(tmp_path / "hidden" / "report", fault, *chosen, *masking)
        plain = ordinary.result()
    again = conformance("render", "--rejudge", hidden.folder)

    assert hidden.status == plain.status == 1
    assert hidden.outcomes("failed") == plain.outcomes("failed")
    assert again.returncode == 0, again.stdout
    assert _shown(hidden, MASKED) == []
    assert "FAILED" in hidden.out
    told = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
    messages = {event["message"] for event in told if event["event"] == "decided" and event["outcome"] == "failed"}
    assert messages == {"see the report, which has pseudonyms"}
    assert not [text for text in MASKED if text in events.read_text("utf-8")]


@pytest.mark.parametrize(
    ("words", "variable", "line", "is_masked"),
    [
        ((), "", "mask_people: true", True),
        ((), "1", "", True),
        ((), "0", "mask_people: true", False),
        (("--no-mask-people",), "1", "mask_people: true", False),
        (("--mask-people",), "0", "", True),
    ],
)
def test_the_option_goes_before_the_variable_and_the_file(
    tmp_path: Path, words: tuple[str, ...], variable: str, line: str, *, is_masked: bool
) -> None:
    """One precedence, as for the connection options."""
    given = {"CONFORMANCE_MASK_PEOPLE": variable} if variable else {}
    chosen = ("--only", "list-members-total", *words)
    ended = _run(tmp_path / "report", None, *chosen, lines=(line,) if line else (), **given)

    assert bool(_shown(ended, [PEOPLE[0][1]])) is not is_masked
