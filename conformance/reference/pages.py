"""Pages of the sandbox beside the interface: links, health, the OpenAPI document and its documentation."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from conformance.interface.openapi import openapi_path
from conformance.reports.templating import environment, fixed_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

_SWAGGER_POLICY: Final = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
"""Swagger UI may send requests, which have a key, only to the sandbox."""
_START: Final = """SwaggerUIBundle({
  url: "openapi.yaml", dom_id: "#swagger-ui", validatorUrl: "none",
  onComplete: () => document.querySelector("#servers").setAttribute("aria-label", "Server"),
});
"""


def with_pages(app: ASGIApp) -> ASGIApp:
    """Return an application that responds to reads of the pages; another application responds to all other requests."""
    pages: dict[str, ASGIApp] = {
        "/": _page("links"),
        "/health": JSONResponse({"status": "ok"}),
        "/openapi.yaml": Response(_document(), media_type="application/yaml"),
        **_documentation(),
    }

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        responds = pages.get(scope["path"], app) if scope["method"] in {"GET", "HEAD"} else app
        await responds(scope, receive, send)

    return respond


def _document() -> str:
    """Return the OpenAPI document with the sandbox as its first server."""
    text = openapi_path().read_text("utf-8")
    return text.replace("\nservers:\n", "\nservers:\n  - url: /\n    description: This sandbox.\n", 1)


def _documentation() -> dict[str, ASGIApp]:
    """Return Swagger UI if the extra ``sandbox`` is installed, otherwise a page that lists the operations."""
    package = find_spec("swagger_ui")
    if package is None or package.origin is None:
        return {"/docs": _page("operations", operations=list(_operations()))}
    files = Path(package.origin).parent / "static"
    page = _page("swagger")
    page.headers["Content-Security-Policy"] = _SWAGGER_POLICY
    return {
        "/docs": page,
        "/docs/start.js": Response(_START, media_type="text/javascript"),
        **{f"/docs/{name}": FileResponse(files / name) for name in ("swagger-ui-bundle.js", "swagger-ui.css")},
    }


def _page(name: str, **values: object) -> Response:
    template = environment("conformance.reference").get_template(f"{name}.html.j2")
    return HTMLResponse(template.render(**fixed_parts(("report.css",)), **values))


def _operations() -> Iterator[dict[str, Any]]:
    """Yield each operation with its method, path and query parameters, permissions and an example of its body."""
    document = yaml.safe_load(openapi_path().read_bytes())
    shared = document["components"]["parameters"]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            parameters = [
                shared[parameter["$ref"].rpartition("/")[2]] if "$ref" in parameter else parameter
                for parameter in operation.get("parameters", ())
            ]
            media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            yield {
                **operation,
                "method": method.upper(),
                "path": path,
                "parameters": parameters,
                "bodies": [example["value"] for example in media.get("examples", {}).values()],
                "permissions": operation["security"][0]["apiKey"],
            }
