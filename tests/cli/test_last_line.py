"""Last line of a run that does not end with 0: exit status and reason, also with --quiet."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command_line import Ended, start
from tests.fakes.target import Behaviour, HostileTarget, Turn, honestly, hostile, json_reply
from tests.sudden.conftest import PATIENCE, under_way, until

Conformance = Callable[..., Any]

WRITING = "create-engagement-succeeds"
RATE_LIMITED = json.dumps({"error": {"code": "RATE_LIMITED", "message": "Later.", "statusCode": 429}}).encode()


async def keeping(turn: Turn) -> None:
    """Respond to deletions with 503, as a gateway without its service does."""
    reply = json_reply(503, {}) if turn.method == "DELETE" else await turn.honest()
    await turn.send(reply)


async def faulty(turn: Turn) -> None:
    """Refuse deletions, and respond wrongly to creations."""
    if turn.method == "DELETE":
        await turn.send(json_reply(503, {}))
    elif turn.method == "POST" and turn.path.endswith("/engagements"):
        reply = await turn.honest()
        await turn.send(json_reply(200, {"data": reply.data["data"]}))
    else:
        await honestly(turn)


def ended(target: HostileTarget, folder: Path, *arguments: str) -> Ended:
    """Run a few checks against a target."""
    arguments = ("run", "--base-url", target.url, "--effort", "quick", *arguments)
    return start(folder, *arguments, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)


def last(run: Ended) -> str:
    """Return the last line on stderr."""
    return run.err.splitlines()[-1]


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
@pytest.mark.parametrize(
    ("behaviour", "status", "why"),
    [
        (keeping, 3, r"\d+ records? left in the organization. To remove what is left \(\d+\): "),
        (faulty, 1, r"\d+ requirements? broken \(.+\). To remove what is left \(\d+\): "),
    ],
)
def test_leftovers_are_always_reported(
    behaviour: Behaviour, status: int, why: str, quiet: tuple[str, ...], tmp_path: Path
) -> None:
    """The last line and summary.md name the command that undoes the rest, and the command works."""
    folder = tmp_path / "report"
    with hostile(behaviour) as target:
        before = target.inventory()
        run = ended(target, folder, "--only", WRITING, "--only", "1", "--only", "8", *quiet)
        command = f"conformance cleanup {folder} --base-url {target.url}"

        assert run.status == status, run.messages()
        assert re.fullmatch(f"Exit {status}: {why}{re.escape(command)}", last(run)), last(run)
        assert command in (folder / "summary.md").read_text()
        target.behaviour = honestly
        arguments = command.split()[1:]
        cleaned = start(tmp_path / "cleaned", *arguments, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)
        assert cleaned.status == 0, cleaned.messages()
        assert target.inventory() == before


def test_nothing_is_left_of_the_embedded_service(conformance: Conformance) -> None:
    """The service ends with all its records, so there is no cleanup command."""
    run = conformance("run", "--embedded", "--effort", "quick", "--max-requests", "60", "--only", "archive*")

    assert "cleanup" not in run.out + run.err
    assert run.status == 0 or run.err.splitlines()[-1].startswith("Exit ")


def test_invitations_are_only_listed(conformance: Conformance, sandbox: dict[str, str]) -> None:
    """The interface cannot undo invitations, so they do not change the status."""
    run = conformance("run", "--effort", "quick", "--disposable", "--only", "invite-succeeds", **sandbox)

    assert (run.status, run.err) == (0, "")
    assert "cannot be undone through the interface." in run.out
    assert "cannot be undone through the interface." in (run.folder / "summary.md").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_reported(number: signal.Signals, tmp_path: Path) -> None:
    """The last line names the signal and the status."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here, as under nohup, and a run inherits that")

    async def slow(turn: Turn) -> None:
        await asyncio.sleep(0.02)
        await honestly(turn)

    with hostile(slow) as target:
        arguments = ("run", "--base-url", target.url, "--effort", "quick", "--quiet")
        started = start(tmp_path / "report", *arguments, CONFORMANCE_API_KEY=target.api_key)
        under_way(started)
        started.process.send_signal(number)
        run = started.wait(PATIENCE)

    assert run.status == 128 + number
    assert last(run) == f"Exit {128 + number}: ended by {number.name}."


def test_a_second_signal_is_reported(tmp_path: Path) -> None:
    """It ends the process at once; the last line names the command that undoes the rest."""

    async def stalling(turn: Turn) -> None:
        await (turn.stall() if turn.method == "DELETE" else honestly(turn))

    folder = tmp_path / "report"
    with hostile(stalling) as target:
        arguments = ("run", "--base-url", target.url, "--effort", "quick", "--quiet", "--only", WRITING)
        started = start(folder, *arguments, CONFORMANCE_API_KEY=target.api_key)
        assert until(lambda: any(head.startswith(b"DELETE") for head in target.heads))
        started.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        started.process.send_signal(signal.SIGTERM)
        run = started.wait(PATIENCE)

    undoing = f"conformance cleanup {folder} --base-url {target.url}"
    assert last(run) == f"Exit {run.status}: Ended at once. To undo what the run has left: {undoing}"


@pytest.fixture(scope="module")
def broken() -> Iterator[HostileTarget]:
    """Serve a service that breaks a few requirements at every creation."""

    async def wrong(turn: Turn) -> None:
        reply = await turn.honest()
        if turn.method == "POST" and turn.path.endswith("/engagements") and reply.status < 300:
            reply = json_reply(reply.status, {"data": reply.data["data"] | {"status": "archived"}}).with_headers(
                **{name.replace("-", "_"): value for name, value in reply.headers if name.lower().startswith("x-")}
            )
        await turn.send(reply)

    with hostile(wrong) as target:
        yield target


@pytest.fixture(scope="module")
def failed(broken: HostileTarget, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The end of a run against it."""
    return ended(broken, tmp_path_factory.mktemp("failed") / "report", "--only", "createEngagement")


def failing(report: dict[str, Any]) -> list[str]:
    """Return the ids of the failed requirements."""
    return [entry["id"] for entry in report["requirements"] if entry["outcome"] == "failed"]


def test_failures_are_named(broken: HostileTarget, tmp_path: Path) -> None:
    """The output also contains the path of the report, even with --quiet."""
    run = ended(broken, tmp_path / "report", "--quiet", "--only", "createEngagement")

    names = failing(run.report)
    assert names
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    count = "1 requirement" if len(names) == 1 else f"{len(names)} requirements"
    assert (run.status, last(run)) == (1, f"Exit 1: {count} broken ({shown}).")
    assert run.out.splitlines()[-1] == f"Report: {tmp_path / 'report' / 'report.html'}"


def test_failures_of_the_baseline_are_named(broken: HostileTarget, failed: Ended, tmp_path: Path) -> None:
    """A service that fails as in the folder of an earlier run gives 0; all outputs say that the failures are known."""
    run = ended(broken, tmp_path / "after", "--only", "createEngagement", "--baseline", str(failed.folder))

    names = failing(run.report)
    assert failed.status == 1
    assert failing(failed.report) == names != []
    assert (run.status, run.err) == (0, ""), run.messages()
    count = "1 requirement" if len(names) == 1 else f"{len(names)} requirements"
    assert f"is NOT conformant: {count} broken, all in the baseline." in run.out
    assert run.out.count("This failure is in the baseline.") == len(names)
    assert (run.folder / "summary.md").read_text().count(" (in the baseline)") == len(names)
    assert "<failure" not in (run.folder / "junit.xml").read_text()


def test_a_baseline_is_written_and_updated(broken: HostileTarget, failed: Ended, tmp_path: Path) -> None:
    """The failures of a run become the baseline; what a later run does not judge stays in it."""
    baseline = tmp_path / "baseline.json"
    first = ended(
        broken, tmp_path / "first", "--only", "createEngagement", "--baseline", str(baseline), "--baseline-update"
    )
    again = ended(broken, tmp_path / "again", "--only", "createEngagement", "--quiet", "--baseline", str(baseline))
    other = ended(broken, tmp_path / "other", "--only", "listMembers", "--baseline", str(baseline), "--baseline-update")
    known = failing(json.loads(baseline.read_text()))

    assert (first.status, again.status, other.status) == (0, 0, 0), (
        first.messages() + again.messages() + other.messages()
    )
    assert f"The baseline {baseline} now has" in " ".join(first.out.split())
    assert again.out.splitlines()[-1] == f"Report: {again.folder / 'report.html'}"
    assert "-> untested" not in other.out
    assert "-> absent" not in other.out
    assert set(known) >= set(failing(failed.report)) == set(failing(first.report))


@pytest.mark.parametrize("words", [(), ("--baseline", ".")])
def test_an_update_needs_a_file(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Without a file to write, nothing is sent."""
    run = start(tmp_path / "report", "run", "--embedded", "--baseline-update", *words).wait(60)

    assert (run.status, last(run)) == (2, "Exit 2: --baseline-update needs a file: give --baseline FILE.")


@pytest.mark.parametrize("waived", [True, False])
def test_fail_fast_ends_the_checks(broken: HostileTarget, failed: Ended, tmp_path: Path, *, waived: bool) -> None:
    """The first failure that is not waived ends the checks; the run undoes its changes, the rest is untested."""
    before = broken.inventory()
    names = failing(failed.report)
    waivers = tmp_path / "waivers.yaml"
    entry = {"reason": "known", "owner": "o", "expires": "2099-01-01"}
    waivers.write_text("\n".join(
        f"- {{requirement: {name}, reason: known, owner: o, expires: {entry['expires']}}}" for name in names
    ))  # fmt: skip
    more = ("--waivers", str(waivers)) if waived else ()
    run = ended(broken, tmp_path / "fast", "--only", "createEngagement", "--fail-fast", *more)

    assert broken.inventory() == before
    assert run.report["run"].get("failed_fast", False) is not waived
    if waived:
        assert (run.status, failing(run.report)) == (0, names)
        summary = (run.folder / "summary.md").read_text()
        assert "Waived by o until 2099-01-01: known" in summary
        assert summary.count("(waived)") == len(names)
    else:
        assert (run.status, len(failing(run.report))) == (1, 1)
        assert f"--fail-fast, and {failing(run.report)[0]} failed" in run.out
        assert "The run ended at a failure before." in {entry["reason"] for entry in run.report["requirements"]}
    again = start(tmp_path / "again", "render", "--rejudge", str(tmp_path / "fast")).wait(PATIENCE)
    assert again.status == 0, again.messages()


def test_invalid_waivers_are_reported(conformance: Conformance, tmp_path: Path) -> None:
    """Nothing failed; the expired waiver is the reason for status 1."""
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text("- {requirement: sort-by-name, reason: r, owner: o, expires: 2020-01-01}\n")

    run = conformance("run", "--embedded", "--quiet", "--only", "get-organization-fields", "--waivers", str(waivers))

    assert run.status == 1
    assert run.err == "Exit 1: The waiver of sort-by-name expired on 2020-01-01 (owner: o).\n"


def test_a_service_that_starts_late_is_waited_for(tmp_path: Path) -> None:
    """The run waits as --wait allows, also through a gateway's responses, and can be re-evaluated."""
    since: list[float] = []

    async def starting(turn: Turn) -> None:
        since.append(time.monotonic())
        if since[-1] - since[0] < 4:
            await (turn.send(json_reply(503, {})) if turn.number % 2 else turn.stall())
        else:
            await honestly(turn)

    with hostile(starting) as target:
        file = tmp_path / "target.yaml"
        file.write_text(f"base_url: {target.url}\napi_key: {target.api_key}\ntimeout: 1\n")
        file.chmod(0o600)
        arguments = ("run", "--target", str(file), "--effort", "quick", "--only", "get-organization-fields")
        run = start(tmp_path / "late", *arguments, "--wait", "60").wait(PATIENCE)
        since.clear()
        hasty = start(tmp_path / "hasty", *arguments).wait(PATIENCE)

    assert run.status == 0, run.messages()
    assert hasty.status == 3
    again = start(tmp_path / "again", "render", "--rejudge", str(tmp_path / "late")).wait(PATIENCE)
    assert again.status == 0, again.messages()


def test_a_piped_run_says_what_it_waits_for(tmp_path: Path) -> None:
    """A job without output for 15 seconds prints its counts, and the wait for the rate limit with its end."""

    async def used_up(turn: Turn) -> None:
        reply = await turn.honest()
        if turn.number == 2:
            limits = {"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": str(int(time.time()) + 22)}
            reply = replace(reply, status=429, body=RATE_LIMITED).with_headers(**limits)
        await turn.send(reply)

    with hostile(used_up) as target:
        run = ended(target, tmp_path / "report", "--only", "get-organization-fields")

    assert run.status == 0, run.messages()
    sign = r"(?m)^\d+ s: \d+/\d+ checks, \d+ requests; waiting for the rate limit until \S+ UTC \(\d+ s\)$"
    assert re.search(sign, run.out), run.out


def test_the_longest_line_of_the_coverage_is_whole(conformance: Conformance) -> None:
    """In a pipe no name is cut or wrapped."""
    run = conformance("requirements", "--coverage")
    checks = json.loads(conformance("requirements", "--coverage", "--json").out)["requirements"]

    lines = run.out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert all(any(line.endswith(check) for line in lines) for entry in checks for check in entry["checks"])
