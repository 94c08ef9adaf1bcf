"""Kill -9 at any moment, and cleanup afterwards."""

from __future__ import annotations

import os
import signal
import stat
import time
from pathlib import Path

import pytest

from tests.fakes.command_line import Ended, start
from tests.fakes.target import HostileTarget, Turn, hostile
from tests.hostile.cases import Every
from tests.sudden.conftest import PATIENCE, Moment, under_way, until
from tests.sudden.test_interruption import MOMENTS, begun


async def lost(turn: Turn) -> None:
    """Carry a request out and lose its response."""
    await turn.honest()
    turn.reset()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_killed_run_leaves_a_journal_without_keys(
    number: signal.Signals, umask: int, target: HostileTarget, tmp_path: Path
) -> None:
    """A killed run leaves its journal alone, with the permissions that the umask allows, and no key anywhere."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = ("run", "--base-url", target.url, "--effort", "quick")
    environment = {"CONFORMANCE_API_KEY": target.api_key, "TMPDIR": str(temporary)}

    def as_in_a_terminal() -> None:  # which does not ignore SIGQUIT, as a background job does
        os.umask(umask)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    started = start(tmp_path / "report", *words, preexec=as_in_a_terminal, **environment)
    under_way(started)
    assert until(lambda: target.turns > 40)

    started.process.send_signal(number)
    assert started.wait(PATIENCE).status == 128 + number

    (journal,) = (tmp_path / "report").iterdir()
    assert (journal.name, stat.S_IMODE(journal.stat().st_mode)) == ("journal.jsonl", 0o644 & ~umask)
    assert target.api_key.encode() not in journal.read_bytes()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("behaviour", ["honest", "losing answers"])
@pytest.mark.parametrize("moment", range(-(-MOMENTS // 2)))
def test_cleaning_up_after_a_kill(behaviour: str, moment: int, tmp_path: Path) -> None:
    """Cleanup restores the target, also if responses to creations were lost, and a second cleanup writes nothing."""
    parts = {"behaviour": Every(4, lost, methods=("POST",))} if behaviour == "losing answers" else {}
    with hostile(**parts) as target:
        before = target.inventory()
        started = begun(target, tmp_path / "report")
        Moment.of(behaviour, moment).wait(started, target)
        started.process.kill()
        started.wait(PATIENCE)

        first = _cleaned(target, tmp_path)
        assert first.status == 0, first.out + first.err
        assert target.inventory() == before

        heads = len(target.heads)
        second = _cleaned(target, tmp_path)
        assert second.status == 0
        assert all(head.startswith(b"GET ") for head in target.heads[heads:])


def test_cleaning_up_needs_the_key_and_no_more(target: HostileTarget, tmp_path: Path) -> None:
    """Cleanup with a refused key does nothing and says so; the right key works afterwards."""
    before = target.inventory()
    started = begun(target, tmp_path / "report")
    assert until(lambda: target.turns > 40)
    started.process.kill()
    started.wait(PATIENCE)

    words = ("cleanup", str(tmp_path / "report"), "--base-url", target.url)
    refused = start(tmp_path / "cleaned", *words, CONFORMANCE_API_KEY="not-the-key-of-anybody").wait(PATIENCE)

    assert refused.status == 1
    assert "refused" in refused.out
    assert _cleaned(target, tmp_path).status == 0
    assert target.inventory() == before


def test_cleaning_up_another_service_is_refused(target: HostileTarget, tmp_path: Path) -> None:
    """A journal of one service deletes nothing of another, although their organizations have the same id."""
    started = begun(target, tmp_path / "report")
    assert until(lambda: target.turns > 40)
    started.process.kill()
    started.wait(PATIENCE)

    with hostile() as production:
        words = ("cleanup", str(tmp_path / "report"), "--base-url", production.url)
        for more in ((), ("--moved",)):
            refused = start(tmp_path / "cleaned", *words, *more, CONFORMANCE_API_KEY=production.api_key).wait(PATIENCE)
            assert refused.status == 2, refused.out
            named = (target.url, production.url) if not more else ("organization",)
            assert all(name in refused.err for name in named)
        assert all(head.startswith(b"GET ") for head in production.heads)
        assert len(production.heads) <= 1
    assert _cleaned(target, tmp_path).status == 0


def test_nothing_stays_after_a_kill(tmp_path: Path) -> None:
    """The embedded service and the provisioner end after their run is killed."""
    started = start(tmp_path / "report", "run", "--effort", "quick")
    under_way(started)
    time.sleep(1)
    started.process.kill()
    started.wait(PATIENCE)


def _cleaned(target: HostileTarget, folder: Path) -> Ended:
    words = ("cleanup", str(folder / "report"), "--base-url", target.url)
    return start(folder / "cleaned", *words, CONFORMANCE_API_KEY=target.api_key).wait(PATIENCE)
