"""Other users' data: a run in any mode leaves it as it was, and is not disturbed by it."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.fakes.command_line import ENVIRONMENT, Ended, start, target_file
from tests.fakes.target import Behaviour, Reply, Turn, hostile
from tests.sudden.conftest import until

PATIENCE: Final = 200.0
OWN_TABLES: Final[dict[str, set[str]]] = {
    "read-only": set(),
    "default": set(),
    "disposable": {"invitations", "keys", "mails", "members", "organizations", "users"},
}
"""Tables in which a mode may leave records: invitations and provisioned records."""

COUNTERS: Final = {"counters", "sqlite_sequence"}

ENGAGEMENTS: Final = "/api/v1/engagements"


_SERVER = ("-m", "conformance.reference.server", "--announce", "--seed-data")


class Organization:
    """A populated organization of the reference service in its own process.

    Attributes:
        said: The announcement of the service.
    """

    def __init__(self, folder: Path) -> None:
        self._database = folder / "store.db"
        self._process = subprocess.Popen(
            [sys.executable, *_SERVER, "--database", str(self._database)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.said: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.key: str = self.said["keys"]["api_key"]

    def client(self) -> httpx.Client:
        """Another user of the organization."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.said["base_url"], headers=headers, timeout=60, trust_env=False)

    def shown(self) -> dict[str, bytes]:
        """Return the bytes that the interface shows of all its data."""
        with self.client() as client:
            found = {"organization": client.get("/api/v1/organizations/current").content}
            found["members"] = client.get("/api/v1/organizations/current/members?perPage=100").content
            listed = client.get(f"{ENGAGEMENTS}?perPage=100&sort=createdAt&order=asc")
            found["engagements"] = listed.content
            for item in listed.json()["data"]:
                found[item["id"]] = client.get(f"{ENGAGEMENTS}/{item['id']}").content
        return found

    def stored(self) -> dict[str, set[tuple[Any, ...]]]:
        """Return the rows of every table of the store."""
        with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as store:
            names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            names = [name for name in names if name not in COUNTERS]
            return {name: set(store.execute(f'SELECT * FROM "{name}"')) for name in names}  # noqa: S608 - names of the store's tables

    def start(self, folder: Path, *words: str, provisioned: bool = False) -> Any:
        """Start a run on the organization."""
        command = f"[{sys.executable}, -m, conformance.reference.provisioner]"
        environment = "[CONFORMANCE_SANDBOX_URL, CONFORMANCE_SANDBOX_TOKEN]"
        lines = [f"provisioner: {{command: {command}, environment: {environment}}}"]
        path = target_file(folder, self.said["base_url"], *(lines if provisioned else []), timeout=30)
        return start(
            folder / "report", "run", "--target", str(path), "--effort", "quick", *words,
            CONFORMANCE_API_KEY=self.key, CONFORMANCE_SANDBOX_URL=self.said["sandbox_url"],
            CONFORMANCE_SANDBOX_TOKEN=self.said["sandbox_token"],
        )  # fmt: skip

    def close(self) -> None:
        """Stop the service."""
        self._process.communicate(timeout=20)


@pytest.fixture
def organization(tmp_path: Path) -> Iterator[Organization]:
    """A populated organization."""
    made = Organization(tmp_path)
    yield made
    made.close()


def assert_conformant(ended: Ended) -> None:
    """Check that the run found no failure and ended with status 0."""
    assert ended.status == 0, ended.messages()
    assert ended.outcomes("failed") == []
    assert "Traceback" not in ended.out + ended.err


@pytest.mark.parametrize("mode", ["read-only", "default", "disposable"])
def test_a_run_leaves_what_is_others(mode: str, organization: Organization, tmp_path: Path) -> None:
    """A run leaves the bytes of the interface and the rows of the store as they were."""
    shown, stored = organization.shown(), organization.stored()

    words = [] if mode == "default" else [f"--{mode}"]
    assert_conformant(organization.start(tmp_path / "run", *words, provisioned=mode == "disposable").wait(PATIENCE))

    now = organization.stored()
    assert organization.shown() == shown
    # An organization that was renamed and renamed back keeps the time of that, which the interface does not show.
    assert {table for table, rows in stored.items() if not rows <= now[table]} <= (
        {"organizations"} if mode == "disposable" else set()
    )
    assert {table for table, rows in now.items() if rows - stored[table]} <= OWN_TABLES[mode]


@pytest.mark.parametrize("provisioned", [False, True])
def test_a_read_only_run_reads(organization: Organization, tmp_path: Path, *, provisioned: bool) -> None:
    """A read-only run sends GETs, and other requests only with keys that are refused."""
    run = organization.start(tmp_path / "run", "--read-only", provisioned=provisioned)

    assert_conformant(run.wait(PATIENCE))
    recorded = json.loads((tmp_path / "run" / "report" / "exchanges.har").read_bytes())["log"]["entries"]
    sent = [(entry["request"]["method"], entry["response"]["status"]) for entry in recorded]
    assert [(method, status) for method, status in sent if method != "GET" and status != 401] == []
    assert ("GET", 200) in sent


@pytest.mark.parametrize("words", [(), ("--disposable",)], ids=["default", "disposable"])
def test_two_runs_at_once_do_not_disturb_each_other(
    words: tuple[str, ...], organization: Organization, tmp_path: Path
) -> None:
    """Two parallel runs find no failure, and each removes only its own data and gives back only its own name."""
    shown = organization.shown()

    runs = [organization.start(tmp_path / name, "--seed", "3", *words) for name in ("one", "two")]

    for ended in [run.wait(PATIENCE) for run in runs]:
        if words:  # a renaming by the other run may leave a requirement undecided, and be left to the other run
            assert ended.status in {0, 3}, ended.messages()
            assert ended.outcomes("failed") == []
            assert set(ended.outcomes("undecided")) <= {
                "update-organization-answers-new-name", "update-organization-takes-effect"
            }  # fmt: skip
        else:
            assert_conformant(ended)
    assert organization.shown() == shown


def test_changes_by_other_users_are_no_fault_of_the_service(organization: Organization, tmp_path: Path) -> None:
    """Engagements that other users add and delete during a run cause no finding, and the run does not change them."""
    over = threading.Event()
    kept: dict[str, Any] = {}

    def work() -> None:
        with organization.client() as client:
            for number in range(10_000):
                if over.wait(0.1):
                    return
                made = client.post(ENGAGEMENTS, json={"name": f"Somebody else's {number}"}).json()["data"]["id"]
                client.patch(f"{ENGAGEMENTS}/{made}", json={"name": f"Somebody else's {number}, renamed"})
                if number % 3:
                    client.delete(f"{ENGAGEMENTS}/{made}")
                else:
                    kept[made] = client.get(f"{ENGAGEMENTS}/{made}").json()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        ended = organization.start(tmp_path / "run").wait(PATIENCE)
    finally:
        over.set()
        worker.join()

    assert_conformant(ended)
    with organization.client() as client:
        assert {made: client.get(f"{ENGAGEMENTS}/{made}").json() for made in kept} == kept


def carries_out_without_a_key(method: str, path: str) -> Behaviour:
    """A service that ignores the key of one operation."""

    async def behave(turn: Turn) -> None:
        if turn.method == method and turn.path == path:
            turn.headers["Authorization"] = f"Bearer {turn.target.api_key}"
        await turn.send(await turn.honest())

    return behave


@pytest.mark.parametrize("mode", ["--read-only", "", "--disposable"])
def test_changes_by_requests_without_a_key_are_undone(mode: str, tmp_path: Path) -> None:
    """A run deletes engagements that were created without a key, and a read-only run reports it."""
    with hostile(carries_out_without_a_key("POST", ENGAGEMENTS)) as target:
        before = target.inventory()
        words = (
            "run",
            "--base-url",
            target.url,
            "--effort",
            "quick",
            "--only",
            "key-*",
            "--only",
            "*-refused",
            *mode.split(),
        )
        ended = start(tmp_path / "report", *words, *mode.split(), CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)

        assert ended.status == 1, ended.messages()
        assert target.inventory() == before
    warned = any("were undone with <api_key>" in warning for warning in ended.report["run"]["warnings"])
    assert (warned, ended.report["not_undone"]) == (mode == "--read-only", [])


@pytest.mark.parametrize("is_once", [False, True], ids=["every fifth", "once"])
def test_a_creation_with_another_users_id_changes_no_foreign_data(tmp_path: Path, *, is_once: bool) -> None:
    """If a creation returns another user's id, the run does not write to it, deletes the real engagement, and fails."""
    theirs: list[str] = []
    lies: list[str] = []

    async def behave(turn: Turn) -> None:
        reply = await turn.honest()
        if (
            theirs
            and turn.method == "POST"
            and turn.path == ENGAGEMENTS
            and reply.status == 201
            and turn.number % 5 == 0
            and not (is_once and lies)
        ):
            value = reply.data
            value["data"]["id"] = theirs[turn.number % len(theirs)]
            lies.append(value["data"]["id"])
            reply = Reply(reply.status, reply.headers, json.dumps(value).encode())
        await turn.send(reply)

    with hostile(behave) as target:
        with httpx.Client(headers={"Authorization": f"Bearer {target.api_key}"}, trust_env=False) as client:
            for number in range(4):
                made = client.post(f"{target.url}{ENGAGEMENTS}", json={"name": f"Production {number}"})
                theirs.append(made.json()["data"]["id"])
        before, heads = target.inventory(), len(target.heads)
        words = ("run", "--base-url", target.url, "--effort", "quick")
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)

        written = [head.split(b" ")[1].decode() for head in target.heads[heads:] if not head.startswith(b"GET ")]
        assert [path for path in written if any(identifier in path for identifier in theirs)] == []
        assert target.inventory() == before
    assert ended.status == 1, ended.messages()
    (warning,) = (text for text in ended.report["run"]["warnings"] if "ids of other users' engagements" in text)
    assert all(identifier in warning for identifier in lies)
    failed = {entry["id"] for entry in ended.report["requirements"] if entry["outcome"] == "failed"}
    # Which creations are lied about depends on the order of requests.
    assert failed & {"create-engagement-lasts", "engagement-ids-distinct", "create-engagement-keeps-text"}


def test_an_engagement_that_is_gone_is_the_first_line(tmp_path: Path) -> None:
    """The deletion of another user's engagement during a run is reported first, and fails no requirement."""
    theirs: list[str] = []

    async def behave(turn: Turn) -> None:
        if theirs and turn.method == "GET" and turn.number > 60:
            request = replace(turn, method="DELETE", path=f"{ENGAGEMENTS}/{theirs.pop()}")
            request.headers = {"Authorization": f"Bearer {turn.target.api_key}"}
            await request.honest()
        await turn.send(await turn.honest())

    with hostile(behave) as target:
        with httpx.Client(headers={"Authorization": f"Bearer {target.api_key}"}, trust_env=False) as client:
            made = client.post(f"{target.url}{ENGAGEMENTS}", json={"name": "Quarterly audit"}).json()["data"]["id"]
        theirs.append(made)
        words = ("run", "--base-url", target.url, "--effort", "quick", "--only", "archive-*")
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)

    assert ended.status == 0, ended.messages()
    told = "! Engagements of other users that were there before the run are gone (1): "
    assert told in " ".join(ended.out.split())
    assert '"Quarterly audit"' in (tmp_path / "report" / "summary.md").read_text().splitlines()[0]
    assert ended.report["gone"] == [f'{made} "Quarterly audit"']


def test_a_second_run_does_not_take_the_folder_of_one_that_goes_on(tmp_path: Path) -> None:
    """A second command names the run that uses the folder and sends nothing; the first run ends with status 0."""
    with hostile() as target:
        before = target.inventory()
        words = ("run", "--base-url", target.url, "--effort", "quick")
        # It must not give up the requests that are under way while it is stopped.
        first = start(tmp_path / "report", *words, "--timeout", "300", CONFORMANCE_API_KEY=target.api_key)
        assert until(lambda: target.turns > 20)
        cleaned = ("cleanup", str(tmp_path / "report"), "--base-url", target.url)
        others = [
            start(tmp_path / "report", *words, CONFORMANCE_API_KEY=target.api_key),
            start(tmp_path / "cleaned", *cleaned, CONFORMANCE_API_KEY=target.api_key),
        ]
        first.process.send_signal(signal.SIGSTOP)  # while the others read the folder
        ended = [other.wait(PATIENCE) for other in others]
        first.process.send_signal(signal.SIGCONT)

        assert_conformant(first.wait(PATIENCE))
        assert target.inventory() == before
    for end in ended:
        assert end.status == 2, end.messages()
        assert f"by a run in progress (process {first.process.pid}, begun " in end.err


def test_no_id_that_begins_like_a_real_members_is_written_to(tmp_path: Path) -> None:
    """A service that compares the beginning of ids would remove the member."""
    members = "/api/v1/organizations/current/members"

    async def behave(turn: Turn) -> None:
        await turn.send(await turn.honest())

    with hostile(behave) as target:
        headers = {"Authorization": f"Bearer {target.api_key}"}
        listed = httpx.get(f"{target.url}{members}?perPage=100", headers=headers, trust_env=False).json()["data"]
        heads = len(target.heads)
        words = ("run", "--base-url", target.url, "--effort", "quick", "--disposable", "--only", "*-unknown-member")
        ended = start(tmp_path / "report", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)

        written = [head.split(b" ")[1].decode() for head in target.heads[heads:] if not head.startswith(b"GET ")]
    assert ended.status == 0, ended.messages()
    assert len(written) == 5
    assert [path for path in written for member in listed if path.startswith(f"{members}/{member['id'][:8]}")] == []
