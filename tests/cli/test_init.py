"""``conformance init`` and ``schema``, and completion in a shell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from conformance.catalogue import CLASSES
from conformance.cli.schema import SCHEMAS, schema_text
from conformance.interface.operations import KINDS
from conformance.targets import loading
from conformance.targets.loading import load_profile
from conformance.targets.yaml_entries import TargetFileError
from conformance.verdicts.waivers import WaiverError, load_waivers
from tests.cli.conftest import ENVIRONMENT

Conformance = Callable[..., Any]

ROOT = Path(__file__).parents[2]
KEY = "a-key-that-nobody-may-see"
ANSWERS = ("--key-variable", "THE_KEY", "--no-disposable")
PROGRAMS = {"python": "python3", "node": "node", "go": "go", "shell": "jq"}


def lacking(language: str) -> bool:
    """Whether this machine cannot run a skeleton."""
    return shutil.which(PROGRAMS[language]) is None


@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=pytest.mark.skipif(lacking(name), reason=f"{name} is missing")) for name in PROGRAMS],
)
def test_files_of_init_work(conformance: Conformance, sandbox: dict[str, str], tmp_path: Path, language: str) -> None:
    """Doctor accepts the file, and the skeleton follows the protocol."""
    ended = conformance(
        "init", *ANSWERS, "--base-url", sandbox["CONFORMANCE_BASE_URL"], "--provisioner", language,
        THE_KEY=sandbox["CONFORMANCE_API_KEY"],
    )  # fmt: skip

    assert ended.status == 0, ended.out + ended.err
    assert "Reachable: 200" in ended.out
    target = yaml.safe_load((tmp_path / "conformance.yaml").read_text())
    done = subprocess.run(
        target["provisioner"]["command"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=120,
        input='{"jsonrpc": "2.0", "id": 7, "method": "create_key", "params": {"scopes": ["engagements:read"]}}\n' * 2,
    )  # fmt: skip
    responses = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(response["id"], response["error"]["code"]) for response in responses] == [(7, -32601)] * 2


def test_a_method_of_the_python_skeleton_is_called(conformance: Conformance, tmp_path: Path) -> None:
    """As soon as it is in the table."""
    conformance("init", *ANSWERS, "--base-url", "http://127.0.0.1:1", "--provisioner", "python")
    program = tmp_path / "provision.py"
    program.write_text(
        program.read_text().replace("METHODS = {", 'METHODS = {"create_key": lambda scopes: {"key": "-".join(scopes)},')
    )

    done = subprocess.run(
        [sys.executable, str(program)], check=True, capture_output=True, text=True, timeout=60,
        input='{"jsonrpc": "2.0", "id": 1, "method": "create_key", "params": {"scopes": ["a", "b"]}}\n',
    )  # fmt: skip
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {"key": "a-b"}}


@pytest.mark.parametrize(
    ("asked", "given", "written"),
    [
        ("http://127.0.0.1:1\n\n\n\n", (), {"api_key": "${CONFORMANCE_API_KEY}", "disposable": False}),
        ("http://127.0.0.1:1\nA_KEY\ny\nnone\n", (), {"api_key": "${A_KEY}", "disposable": True}),
        ("\n\n", ("--base-url", "http://127.0.0.1:1", "--disposable"), {"disposable": True}),
    ],
)
def test_init_asks_for_what_no_option_gives(
    tmp_path: Path, asked: str, given: tuple[str, ...], written: dict[str, object]
) -> None:
    """Without the key, it names the next command."""
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "init", *given],
        check=False, capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT, input=asked, timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("conformance doctor --target conformance.yaml\n")
    target = yaml.safe_load((tmp_path / "conformance.yaml").read_text())
    assert written.items() <= target.items()
    assert "provisioner" not in target


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--base-url", "service.test", "--provisioner", "none"), "base_url must be a URL"),
        (("--base-url", "http://a.test", "--provisioner", "node"), "provision.mjs exists, and is not replaced."),
        (("--base-url", "http://a.test", "--provisioner", "cobol"), "'cobol' is not one of"),
        (("--provisioner", "none"), "An answer is missing: give it as --base-url."),
    ],
)
def test_init_writes_all_or_nothing(
    conformance: Conformance, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    """No file is replaced."""
    (tmp_path / "provision.mjs").write_text("mine")

    ended = conformance("init", *ANSWERS, *arguments)

    assert ended.status == 2
    assert message in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["provision.mjs"]
    assert (tmp_path / "provision.mjs").read_text() == "mine"


@pytest.mark.parametrize("kind", ["a file", "a link", "an earlier schema"])
def test_init_replaces_no_schema_of_others(conformance: Conformance, tmp_path: Path, kind: str) -> None:
    """A cloned repository may hold a link with that name, to any file of the user."""
    mine, schema = tmp_path / "mine", tmp_path / "conformance.schema.json"
    mine.write_text("mine")
    if kind == "a link":
        schema.symlink_to(mine)
    else:
        schema.write_text("{}" if kind == "a file" else schema_text("target").replace("Describes", "It describes"))

    ended = conformance("init", *ANSWERS, "--base-url", "http://a.test", "--provisioner", "none")

    is_replaced = kind == "an earlier schema"
    assert ended.status == (0 if is_replaced else 2), ended.err
    assert (tmp_path / "conformance.yaml").exists() is is_replaced
    assert mine.read_text() == "mine"


def test_editors_find_the_schema(conformance: Conformance, tmp_path: Path) -> None:
    """The first line names it for the YAML language server."""
    conformance("init", *ANSWERS, "--base-url", "http://a.test", "--provisioner", "none")

    first = (tmp_path / "conformance.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=conformance.schema.json"
    assert (tmp_path / "conformance.schema.json").read_text() == schema_text("target")


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_printed(conformance: Conformance, name: str) -> None:
    """Each is a JSON Schema."""
    assert "$schema" in json.loads(conformance("schema", name).out)


def test_the_schema_has_the_names_of_the_loader() -> None:
    """Keys, kinds and classes are those that a target file may have."""
    known = json.loads(schema_text("target"))["properties"]

    assert sorted(known) == sorted(loading._TOP)
    assert sorted(known["keys"]["properties"]) == sorted(loading.KEY_NAMES)
    assert known["require"]["items"]["enum"] == list(CLASSES)
    assert known["subordinates"]["items"]["properties"]["kind"]["enum"] == list(KINDS)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_keep_the_schema(path: Path) -> None:
    """Also with variables in place of values."""
    Draft7Validator(json.loads(schema_text("target"))).validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    ("lines", "is_valid"),
    [
        ("", True),
        ("timeout: 3.5\nrate: ${RATE}\ndisposable: ${FLAG}", True),
        ("tls: {verify: false}\nproxy: socks5://127.0.0.1:1080\nrequire: [core]", True),
        ("keys: {other_organization: {file: key}, throttled: ''}\nmembers:", False),
        ("keys: {other_organization: {file: key}, throttled: abcd}\nmembers:", True),
        ("provisioner: {command: [a], environment: {A: b}}\nheaders: {X-A: b}", True),
        ("provisioner: {timeout: 3}", False),
        ("provisioner: {command: []}", False),
        ("limits: {p95_ms: 500}", True),
        ("limits: {p95: 500}", False),
        ("timeout: 0", False),
        ("timeout: soon", False),
        ("rates: 3", False),
        ("tls: {ca: x}", False),
        ("disposable: maybe", False),
        ("require: [everything]", False),
        ("members: [{key: abcd}]", False),
        ("subordinates: [{kind: tasks, create: {path: /a}, read: {path: /b}}]", False),
        ("mailbox: {host: a}", False),
    ],
)
def test_the_schema_agrees_with_the_loader(tmp_path: Path, lines: str, *, is_valid: bool) -> None:
    """Both accept a file, or neither does."""
    (tmp_path / "key").write_text("another-key-of-nobody")
    file = tmp_path / "target.yaml"
    file.write_text(f"base_url: http://127.0.0.1:1\napi_key: {KEY}\n{lines}\n")
    schema = Draft7Validator(json.loads(schema_text("target")))

    try:
        load_profile(file, {"RATE": "2", "FLAG": "true"})
        is_loaded = True
    except TargetFileError:
        is_loaded = False

    assert schema.is_valid(yaml.safe_load(file.read_text())) is is_valid
    assert is_loaded is is_valid


@pytest.mark.parametrize(
    ("lines", "is_valid"),
    [
        ("", True),
        ("check: test_*", True),
        ("until: 2026-12-31", False),
        ("owner: ''", False),
        ("expires: soon", False),
        ("check: [a]", False),
    ],
)
def test_the_schema_of_waivers_agrees_with_their_loader(tmp_path: Path, lines: str, *, is_valid: bool) -> None:
    """A date without quotes is a text for an editor."""
    waiver = {"requirement": "sort-by-name", "reason": "Later.", "owner": "ana", "expires": "2026-12-31"}
    waiver |= yaml.load(lines, yaml.BaseLoader) or {}  # noqa: S506 - it makes texts alone
    file = tmp_path / "waivers.yaml"
    file.write_text("- " + "\n  ".join(f"{key}: {value or repr(value)}" for key, value in waiver.items()))

    try:
        load_waivers(file)
        is_loaded = True
    except WaiverError:
        is_loaded = False

    assert Draft7Validator(json.loads(schema_text("waivers"))).is_valid([waiver]) is is_valid
    assert is_loaded is is_valid


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("run --only archive-s", "archive-sets-status"),
        ("run --only updateCur", "updateCurrentOrganization"),
        ("run --class perm", "permissions"),
        ("explain archive-s", "archive-sets-status"),
        ("serve --fault sort-ig", "sort-ignored"),
        ("serve --latitude archive_again=", "archive_again="),
        ("selftest --faults sort-ig", "sort-ignored"),
    ],
)
def test_a_shell_completes_ids(conformance: Conformance, words: str, found: str) -> None:
    """By click's protocol of completion."""
    line = f"conformance {words}"
    ended = conformance(
        words.partition(" ")[0],
        _CONFORMANCE_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(line.split()) - 1),
    )

    assert any(value.startswith(found) for value in ended.out.replace("plain,", "").split()), ended.out
