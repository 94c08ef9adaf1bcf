"""Records that a run could not remove are always reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.command_line import start, target_file
from tests.fakes.target import Reply, Turn, hostile

PAGE = Reply(503, (("Content-Type", "text/html"),), b"<h1>Maintenance</h1>")


async def without_deletions(turn: Turn) -> None:
    """Respond as the service does, but refuse deletions as a gateway."""
    await turn.send(PAGE if turn.method == "DELETE" else await turn.honest())


@pytest.mark.parametrize("words", [[], ["--quiet"]], ids=["", "quiet"])
def test_leftovers_give_3_and_the_command_that_removes_them(tmp_path: Path, words: list[str]) -> None:
    """The last line counts the leftovers and says what to do; summary.md names them."""
    with hostile(without_deletions) as target:
        path = target_file(tmp_path, target.url, timeout=10)
        started = start(
            tmp_path / "report", "run", "--target", str(path), "--effort", "quick", *words,
            "--only", "create-engagement-succeeds", CONFORMANCE_API_KEY=target.api_key,
        )  # fmt: skip
        ended = started.wait(100)

    left = len(ended.report["not_undone"])
    assert left > 0
    assert ended.status == 3, ended.messages()
    noun = "record" if left == 1 else "records"
    last = ended.err.splitlines()[-1]
    assert last.startswith(f"Exit 3: {left} {noun} left in the organization.")
    assert last.endswith(f"To remove what is left ({left}): conformance cleanup {ended.folder} --target {path}")
    assert (ended.folder / "summary.md").read_text().count("Not undone") == left
