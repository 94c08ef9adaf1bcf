"""Clients that common generators make from the sandbox's OpenAPI document, against the sandbox."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE = 300
"""Timeout of a generator or a client in seconds."""

TYPED_PYTHON = """
import sys
from typed_client import AuthenticatedClient, models
from typed_client.api.engagements import create_engagement, delete_engagement, get_engagement, list_engagements
from typed_client.api.members import list_members
from typed_client.api.organization import get_current_organization

client = AuthenticatedClient(sys.argv[1], sys.argv[2])
created = create_engagement.sync(client=client, body=models.NewEngagement(name="typed")).data
assert get_engagement.sync(created.id, client=client).data == created
assert list_engagements.sync(client=client, per_page=1).meta.total == 1
assert delete_engagement.sync(created.id, client=client).data.deleted is True
assert isinstance(get_engagement.sync(created.id, client=client), models.NotFoundError)
assert len(list_members.sync(client=client).data) == 3
assert get_current_organization.sync(client=client).data.member_count == 3
stranger = AuthenticatedClient(sys.argv[1], "another-key")
assert get_current_organization.sync(client=stranger).error.code == "UNAUTHORIZED"
"""
PYTHON = """
import sys
import openapi_client as client

configuration = client.Configuration(access_token=sys.argv[2])
assert configuration.host == sys.argv[1]
connection = client.ApiClient(configuration)
engagements = client.EngagementsApi(connection)
created = engagements.create_engagement(client.NewEngagement(name="generated")).data
assert engagements.get_engagement(created.id).data == created
assert engagements.list_engagements(per_page=1).meta.total == 1
assert engagements.delete_engagement(created.id).data.deleted is True
try:
    engagements.get_engagement(created.id)
except client.exceptions.NotFoundException as refused:
    assert refused.data.error.code == "NOT_FOUND"
else:
    raise AssertionError("a deleted engagement is still there")
assert len(client.MembersApi(connection).list_members().data) == 3
assert client.OrganizationApi(connection).get_current_organization().data.member_count == 3
"""
TYPESCRIPT = """
import type { components, operations } from "./interface.ts";

type Engagement = operations["createEngagement"]["responses"]["2XX"]["content"]["application/json"]["data"];
type Code = components["schemas"]["NotFoundError"]["error"]["code"];
export const status: Engagement["status"] = "archived";
export const code: Code = "NOT_FOUND";
// @ts-expect-error There is no such status.
export const unknown: Engagement["status"] = "deleted";
// @ts-expect-error The code belongs to another status.
export const conflict: Code = "CONFLICT";
"""


def run(command: list[str], folder: Path) -> str:
    """Run a command in a folder and return its output; it must succeed."""
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def installed(*modules: str) -> None:
    """Skip the test if one of the modules is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: it is in the dependency group 'generators'")


def use(client: str, sandbox: dict[str, str], folder: Path) -> None:
    """Run a Python program that uses the generated client in a folder."""
    (folder / "client.py").write_text(client)
    run([sys.executable, "client.py", sandbox["CONFORMANCE_BASE_URL"], sandbox["CONFORMANCE_API_KEY"]], folder)


def test_openapi_python_client(sandbox: dict[str, str], tmp_path: Path) -> None:
    """It generates everything without a warning, and the client reads successes and errors."""
    installed("openapi_python_client")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"]
    (tmp_path / "settings.yaml").write_text("post_hooks: []\n")  # ruff would only format the files
    document = f"{sandbox['CONFORMANCE_BASE_URL']}/openapi.yaml"

    run([*command, "--url", document, "--output-path", "typed_client", "--config", "settings.yaml"], tmp_path)

    use(TYPED_PYTHON, sandbox, tmp_path)


def test_openapi_generator(sandbox: dict[str, str], tmp_path: Path) -> None:
    """Its Python client reads successes and errors, and uses the sandbox as its default server."""
    installed("openapi_generator_cli", "dateutil", "pydantic", "urllib3")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed, which openapi-generator needs")
    start = "from openapi_generator_cli import cli; cli()"
    command = [sys.executable, "-c", start, "generate", "-g", "python", "-o", "."]

    printed = run([*command, "-i", f"{sandbox['CONFORMANCE_BASE_URL']}/openapi.yaml"], tmp_path)

    assert "ERROR" not in printed
    use(PYTHON, sandbox, tmp_path)


def test_openapi_typescript(sandbox: dict[str, str], npm_package: Callable[[str, str], Path], tmp_path: Path) -> None:
    """Its types permit the closed lists of the document, and nothing else."""
    generator, compiler = npm_package("openapi-typescript", "7"), npm_package("typescript", "5")
    (tmp_path / "client.mts").write_text(TYPESCRIPT)
    document = f"{sandbox['CONFORMANCE_BASE_URL']}/openapi.yaml"

    printed = run(["node", str(generator / "bin" / "cli.js"), document, "-o", "interface.ts"], tmp_path)

    assert "warn" not in printed.lower()
    options = ["--noEmit", "--strict", "--allowImportingTsExtensions", "--module", "nodenext"]
    run(["node", str(compiler / "bin" / "tsc"), *options, "client.mts"], tmp_path)
