"""Malformed files from others, for every file that the suite reads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.certificate.keys import make_keys
from conformance.cli import main
from conformance.files import DOCUMENT, TEXT, read_file

from .conftest import conformance

HUGE = 2 << 30
PLACES = {
    "render": ("report.json", ["render", "{folder}", "--format", "junit"]),
    "render a recording": ("exchanges.har", ["render", "{folder}", "--format", "har"]),
    "judge a report again": ("report.json", ["render", "--rejudge", "{folder}/report.html"]),
    "judge a recording again": ("exchanges.har", ["render", "--rejudge", "{folder}"]),
    "judge notes again": ("provisioned.jsonl", ["render", "--rejudge", "{folder}"]),
    "diff": ("report.json", ["diff", "{folder}", "{folder}"]),
    "site": ("report.json", ["site", "{folder}", "--output", "{folder}/site"]),
    "sign a report": ("report.json", ["sign", "{folder}", "--key", "{key}"]),
    "sign a recording": ("exchanges.har", ["sign", "{folder}", "--key", "{key}"]),
    "sign notes": ("provisioned.jsonl", ["sign", "{folder}", "--key", "{key}"]),
    "sign with a key": ("key", ["sign", "{folder}", "--key", "{folder}/key"]),
    "verify": ("certificate.dsse.json", ["verify", "{folder}", "--public-key", "{key}.pub"]),
    "verify with a key": ("key.pub", ["verify", "{folder}", "--public-key", "{folder}/key.pub"]),
    "baseline": ("baseline.json", ["run", "--embedded", "--baseline", "{folder}/baseline.json"]),
    "waivers": ("waivers.yaml", ["run", "--embedded", "--waivers", "{folder}/waivers.yaml"]),
    "target": ("target.yaml", ["run", "--target", "{folder}/target.yaml"]),
    "a key of the target": ("secret", ["run", "--target", "{folder}/with-key.yaml"]),
    "certificate authorities": ("ca.pem", ["run", "--target", "{folder}/with-ca.yaml"]),
    "cleanup": ("journal.jsonl", ["cleanup", "{folder}", "--base-url", "http://127.0.0.1:9", "--api-key", "k"]),
}
"""Each file that the suite reads, and a command that reads it."""


def fifo(path: Path) -> None:
    """Make a pipe that no program writes to."""
    os.mkfifo(path)


def endless(path: Path) -> None:
    """Make a link to an endless device."""
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    """Make a sparse file of 2 GiB."""
    with path.open("wb") as file:
        file.truncate(HUGE)


def loop(path: Path) -> None:
    """Make a link to itself."""
    path.symlink_to(path)


def deep(path: Path) -> None:
    """Write a text nested too deeply for parsers of JSON and YAML."""
    path.write_bytes(b"[" * 100_000)


def nested(path: Path) -> None:
    """Write JSON and YAML that parsers read, but that is nested too deeply for the suite."""
    path.write_bytes(b'{"a":' * 700 + b"1" + b"}" * 700)


def braces(path: Path) -> None:
    """Write a text that takes a YAML scanner minutes."""
    path.write_bytes(b"{" * 300_000)


def binary(path: Path) -> None:
    """Write binary data."""
    path.write_bytes(bytes(range(256)) * 100)


KINDS = (fifo, endless, huge, loop, deep, nested, braces, binary)
CASES = [
    pytest.param(place, kind, id=f"{place}: {kind.__name__}")
    for place in PLACES
    for kind in KINDS
    if (place, kind) != ("a key of the target", nested)  # a valid key
]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a pair of keys."""
    path = tmp_path_factory.mktemp("keys") / "signer"
    make_keys(path)
    return path


@pytest.fixture
def command(folder: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], Result]:
    """Return a function that runs a command on the folder of a run."""
    monkeypatch.chdir(folder)
    head = "base_url: https://127.0.0.1:9\n"
    (folder / "with-key.yaml").write_text(head + "api_key: {file: secret}\n")
    (folder / "with-ca.yaml").write_text(head + "api_key: abcdefgh\ntls: {ca_file: ca.pem}\n")

    def run(arguments: list[str]) -> Result:
        return CliRunner().invoke(main, [argument.format(folder=folder, key=key) for argument in arguments])

    return run


@pytest.mark.parametrize(("place", "kind"), CASES)
def test_a_crafted_file_ends_in_a_sentence(
    folder: Path, command: Callable[[list[str]], Result], place: str, kind: Callable[[Path], None]
) -> None:
    """The command ends with a sentence and 2 (``verify``: 1), without a hang, a crash or unbounded memory."""
    name, arguments = PLACES[place]
    (folder / name).unlink(missing_ok=True)
    kind(folder / name)

    result = command(arguments)

    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == (1 if place == "verify" else 2)
    assert "Traceback" not in result.output
    sentence = next(
        line for line in result.output.splitlines() if not line.startswith(("Usage", "Try", "✓", "Left out"))
    )
    assert len(sentence) < 700


@pytest.mark.parametrize("option", ["--target", "--waivers"])
def test_keys_may_come_through_a_pipe(folder: Path, command: Callable[[list[str]], Result], option: str) -> None:
    """A target file or waivers from a pipe are read; the error about their content shows it."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("nonsense: 1\n"), daemon=True)
    writer.start()

    result = command(["run", option, str(pipe), *([] if option == "--target" else ["--embedded"])])

    writer.join(10)
    assert result.exit_code == 2
    assert ("nonsense is not a known key" in result.output) or ("expected a list of waivers" in result.output)


def test_a_pipe_may_be_slow(tmp_path: Path) -> None:
    """A pipe is read until its writer closes it, not until it is empty for a moment."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb", buffering=0) as stream:
            stream.write(b"one ")
            time.sleep(0.2)
            stream.write(b"two")

    writer = threading.Thread(target=write)
    writer.start()
    assert read_file(pipe, TEXT, piped=True) == b"one two"
    writer.join()


def test_a_pipe_is_read_to_its_bound(tmp_path: Path) -> None:
    """An endless pipe is refused at the limit."""
    with pytest.raises(OSError, match="is larger than 1 MiB"):
        read_file(Path("/dev/zero"), TEXT, piped=True)
    with pytest.raises(OSError, match="it is not a regular file"):
        read_file(Path("/dev/zero"), DOCUMENT)


def test_a_file_of_just_the_bound_is_read(tmp_path: Path) -> None:
    """A file of exactly the limit is read, a longer one is refused."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * TEXT)
    assert len(read_file(path, TEXT)) == TEXT
    path.write_bytes(b"x" * (TEXT + 1))
    with pytest.raises(OSError, match="it is larger than 1 MiB"):
        read_file(path, TEXT)


def test_a_file_without_a_size_is_read_whole() -> None:
    """Files of /proc report a size of 0 and are read whole."""
    assert read_file(Path("/proc/self/status"), TEXT).startswith(b"Name:")


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--embedded", "--report", LONG],
        ["run", "--target", LONG],
        ["run", "--embedded", "--waivers", LONG],
        ["run", "--embedded", "--baseline", LONG],
        ["render", LONG, "--format", "json"],
        ["render", "{folder}", "--format", "json", "--output", LONG],
        ["diff", LONG, "{folder}"],
        ["site", LONG, "--output", "{folder}/site"],
        ["site", "{folder}", "--output", LONG],
        ["cleanup", LONG, "--base-url", "http://127.0.0.1:9", "--api-key", "k"],
        ["sign", "{folder}", "--key", LONG],
        ["verify", "{folder}", "--public-key", LONG],
        ["keygen", LONG],
    ],
)
def test_a_name_too_long_is_a_sentence(folder: Path, arguments: list[str]) -> None:
    """Every option with a path reports a sentence and ends with 2."""
    done = conformance(*(argument.format(folder=folder) for argument in arguments))

    assert done.returncode == 2
    assert "an error of this suite" not in done.stderr
    assert "Traceback" not in done.stderr
