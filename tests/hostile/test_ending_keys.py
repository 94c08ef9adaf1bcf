"""Main key that expires during a run: no requirement fails because of it."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.fakes.command_line import ENVIRONMENT, Ended, start, target_file
from tests.fakes.target import Reply, Turn, hostile, json_reply

PATIENCE: Final = 200.0
PAGE: Final = Reply(403, (("Content-Type", "text/html"),), b"<h1>Suspended</h1>")


@dataclass
class Ending:
    """A behaviour that refuses the main key, or all requests, from some request on.

    Attributes:
        after: The last served request by number, or by the beginning of its method and path.
        status: The status of the refusals.
        everybody: Whether a gateway refuses all requests, not only those with the main key.
        seconds: The duration; None for ever.
    """

    after: int | str
    status: int = 401
    everybody: bool = False
    seconds: float | None = None
    began: float | None = field(default=None, init=False)

    async def __call__(self, turn: Turn) -> None:
        """Respond as the service does, or refuse."""
        if self.began is None and self._is_last(turn):
            self.began = time.monotonic()
            await turn.send(await turn.honest())
            return
        refused = self.everybody or turn.headers.get("Authorization") == f"Bearer {turn.target.api_key}"
        await turn.send(self._refusal(await turn.honest()) if refused and self._is_over() else await turn.honest())

    def _is_last(self, turn: Turn) -> bool:
        if isinstance(self.after, int):
            return turn.number >= self.after
        return f"{turn.method} {turn.path}".startswith(self.after)

    def _is_over(self) -> bool:
        return self.began is not None and (self.seconds is None or time.monotonic() - self.began < self.seconds)

    def _refusal(self, honest: Reply) -> Reply:
        if self.everybody:
            return PAGE
        code = {401: "UNAUTHORIZED", 403: "FORBIDDEN"}[self.status]
        limits = {name: value for name, value in honest.headers if name.lower().startswith("x-ratelimit")}
        error = {"statusCode": self.status, "code": code, "message": "The key has expired."}
        return json_reply(self.status, {"error": error}, **limits)


def tried(folder: Path, ending: Ending, *words: str) -> Ended:
    """Run against a service whose key expires."""
    with hostile(ending) as target:
        path = target_file(folder, target.url, timeout=10)
        run = start(
            folder / "report", "run", "--target", str(path), "--effort", "quick", *words,
            CONFORMANCE_API_KEY=target.api_key,
        )  # fmt: skip
        return run.wait(PATIENCE)


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        pytest.param(Ending(250), [], id="401"),
        pytest.param(Ending(250, 403), [], id="403"),
        pytest.param(Ending(250, everybody=True), [], id="everybody"),
        pytest.param(Ending(250, seconds=2.0), [], id="for-two-seconds"),
        pytest.param(Ending(1), [], id="second-request"),
        pytest.param(Ending(20), ["--read-only"], id="read-only"),
    ],
)
def test_a_key_that_ends_fails_nothing(ending: Ending, words: list[str], tmp_path: Path) -> None:
    """The exit status is 3, the report names the last request before, and judging again gives the same outcomes."""
    ended = tried(tmp_path, ending, *words)

    assert ended.status == 3, ended.messages()
    assert ended.outcomes("failed") == []
    assert ended.report["verdict"] == "inconclusive"
    (warning,) = [
        warning for warning in ended.report["run"]["warnings"] if "the main key was refused from request" in warning
    ]
    first = int(warning.partition("from request ")[2].partition(" ")[0])
    assert f"(request {first - 1}, before it, was " in warning
    assert "the main key was refused from request" in ended.err
    if left := ended.report["not_undone"]:
        assert f"conformance cleanup {ended.folder} --target" in ended.err, left
    assert reevaluated(ended) == 0


def test_a_key_that_ends_while_undoing(tmp_path: Path) -> None:
    """If the key expires during undoing, all requirements are decided, and the message names the cleanup command."""
    seed = "2"  # its random walks delete nothing, so the first deletion belongs to the undoing
    words = ["--only", "update-engagement-keeps-the-rest", "--seed", seed]
    ended = tried(tmp_path, Ending("DELETE /api/v1/engagements/"), *words)

    assert ended.status == 3, ended.messages()
    assert ended.outcomes("failed", "cantTell") == []
    assert "before it, was deleteEngagement of undoing)" in " ".join(ended.report["run"]["warnings"])
    assert ended.report["not_undone"]
    assert f"conformance cleanup {ended.folder} --target" in ended.err


def test_a_failure_before_the_key_ends_counts(tmp_path: Path) -> None:
    """With a failed requirement the exit status is 1, and the message still names the expired key."""

    class Faulty(Ending):
        """Remove a field from every read."""

        async def __call__(self, turn: Turn) -> None:
            if turn.method == "GET" and turn.path.endswith("/current") and turn.number < 200:
                await turn.send(json_reply(200, {"data": {"id": "o"}}))
            else:
                await super().__call__(turn)

    ended = tried(tmp_path, Faulty(250))

    assert ended.status == 1, ended.messages()
    assert "the main key was refused from request" in ended.messages()
    assert "get-organization-fields" in ended.outcomes("failed")


def reevaluated(ended: Ended) -> int:
    """Return the exit status of judging the recording again."""
    words = ["-m", "conformance", "render", str(ended.folder), "--rejudge"]
    done = subprocess.run([sys.executable, *words], capture_output=True, check=False, env=ENVIRONMENT)
    return done.returncode
