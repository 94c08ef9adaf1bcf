"""Pages of the sandbox: which application has them, and the documentation with and without Swagger UI."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httpx
import pytest
import yaml
from starlette.types import ASGIApp

from conformance.interface.openapi import openapi_path
from conformance.reference import pages
from conformance.reference.application import Application, create_app


@pytest.fixture
def app() -> Application:
    """The reference service, as an embedded run and the self-test use it."""
    return create_app()


def get(app: ASGIApp, path: str) -> httpx.Response:
    """Return the response to a GET."""

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sandbox.test") as client:
            return await client.get(path)

    return asyncio.run(send())


@pytest.mark.parametrize("path", ["/", "/health", "/openapi.yaml", "/docs"])
def test_only_the_sandbox_has_pages(app: Application, path: str) -> None:
    """Without ``with_pages`` the interface responds, with its error envelope."""
    assert get(app, path).json()["error"]["code"] == "UNAUTHORIZED"
    assert get(pages.with_pages(app), path).status_code == 200


def test_the_plain_page_lists_every_operation(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Swagger UI the page has each operation in the document's order, with parameters and an example."""
    monkeypatch.setattr(pages, "find_spec", lambda _: None)
    document = yaml.safe_load(openapi_path().read_bytes())
    operations = [
        f"<code>{method.upper()} {path}</code>"
        for path, item in document["paths"].items()
        for method in item
        if method != "parameters"
    ]

    text = get(pages.with_pages(app), "/docs").text

    places = [text.index(operation) for operation in operations]
    assert len(places) == 13
    assert places == sorted(places)
    for part in ("<code>perPage</code>", "engagements:delete", "mika@example.com", "engagement-conformance[sandbox]"):
        assert part in text
    assert "<script" not in text


def test_swagger_ui_is_served_from_its_package(
    app: Application, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The page, its script and its files come from the sandbox, and a policy forbids other hosts."""
    static = tmp_path / "swagger_ui" / "static"
    static.mkdir(parents=True)
    (tmp_path / "swagger_ui" / "__init__.py").write_text("raise RuntimeError('not imported')")
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        (static / name).write_text(f"/* {name} */")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    sandbox = pages.with_pages(app)

    page = get(sandbox, "/docs")

    assert page.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert get(sandbox, "/docs/swagger-ui.css").text == "/* swagger-ui.css */"
    assert get(sandbox, "/docs/swagger-ui-bundle.js").headers["Content-Type"].startswith("text/javascript")
    assert 'url: "openapi.yaml"' in get(sandbox, "/docs/start.js").text
    assert page.text.count("docs/") == 3
