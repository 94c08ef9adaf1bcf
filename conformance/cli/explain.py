"""``conformance explain``: the page of a requirement."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click
from rich.padding import Padding
from rich.table import Table

from conformance.catalogue import load_catalogue
from conformance.cli.completion import complete_requirement
from conformance.cli.listing import as_json_option
from conformance.cli.text import open_console, plain
from conformance.interface.operations import OPERATIONS
from conformance.reports.curl import OWN_HEADERS
from conformance.spelling import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

_MOST_FAULTS: Final = 12
_MOST_EXPECTED: Final = 6
_MOST_LINES: Final = 30
"""Most lines of a body."""
_LIMITS: Final = "8"
"""The section about rate limits, whose headers are on every response."""


@click.command()
@click.argument("identifier", metavar="ID", shell_complete=complete_requirement)
@as_json_option
@click.option("--no-example", is_flag=True, help="Leave out the example, which takes a few seconds.")
def explain(identifier: str, *, as_json: bool, no_example: bool) -> None:
    """Print the page of the requirement ID, as a report names it.

    It has the statement, the class and its needs, what is sent, every permitted outcome, the checks, the faults that
    they catch, and an example: exchanges with the embedded service that a check judged.
    """
    catalogue = load_catalogue()
    if identifier not in catalogue.requirements:
        if (point := catalogue.open_points.get(identifier)) is not None:
            raise click.UsageError(f"{identifier} is an open point, observed and never judged: {point.question}")
        hint = suggestion(identifier, catalogue.requirements, "; list them with: conformance requirements")
        raise click.UsageError(f"There is no requirement {identifier!r}{hint}")
    from conformance.selftest.explanation import example, explanation
    from conformance.verdicts.session import items_by_entry

    requirement = catalogue.requirements[identifier]
    checks = items_by_entry()[identifier]
    page = explanation(requirement, checks) | ({} if no_example else {"example": example(requirement, checks)})
    if as_json:
        click.echo(json.dumps(page, indent=2, ensure_ascii=False))
    else:
        print_page(page)


def print_page(page: Mapping[str, Any]) -> None:
    """Print the page of a requirement as wide as the terminal."""
    console = open_console()
    console.print(plain(page["id"], "bold"))
    console.print(plain(page["title"]))
    console.print()
    console.print(_facts(page))
    if "example" in page:
        _print_example(console, page["example"], with_limits=page["section"]["number"] == _LIMITS)


def _facts(page: Mapping[str, Any]) -> Table:
    """Return everything but the example as a table of names and texts."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column()
    grid.add_column(overflow="fold")
    for name, texts in _rows(page):
        for place, text in enumerate(texts):
            grid.add_row("" if place else name, "-" if len(texts) > 1 else "", plain(text, limit=1000))
    return grid


def _rows(page: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    sent, faults = page["sent"], page["faults"]
    yield "Section", [f"{page['section']['number']} {page['section']['title']}"]
    yield "Based on", [*page["statements"].values()]
    yield "Class", [f"{page['class']['id']}: {page['class']['title']}"]
    yield "Needs", [f"{need}: {line}" for need, line in page["needs"].items()] or ["only a key"]
    yield "Since", [f"release {page['since']} of the catalogue"]
    yield "Requests", _operations(sent["operations"])
    yield "Sent by", [f"{name}: {text}" for name, text in sent["scenarios"].items()]
    yield "Expected", page["expected"]
    yield "Left open", [f"{question} ({point})" for point, question in page["left_open"].items()]
    yield (
        "Checks",
        [name if effort == "quick" else f"{name} (from effort {effort})" for name, effort in page["checks"].items()],
    )
    more = len(faults) - _MOST_FAULTS
    listed = [f"{fault['id']}: {fault['title']}" for fault in faults[:_MOST_FAULTS]]
    yield "Faults", [*listed, *([f"and {more} more, which --json lists"] if more > 0 else [])]


def _operations(operations: Sequence[Mapping[str, Any]]) -> list[str]:
    if len(operations) == len(OPERATIONS):
        return ["every operation of the interface"]
    return [f"{entry['method']} {entry['path']} ({entry['id']}); success: {entry['success']}" for entry in operations]


def _print_example(console: Console, example: Mapping[str, Any], *, with_limits: bool) -> None:
    console.print()
    if "missing" in example:
        console.print(plain(f"No example: the run against the embedded service has no evidence. {example['missing']}"))
        return
    entries = example["exchanges"]
    number = "one exchange" if len(entries) == 1 else f"{len(entries)} exchanges"
    of = f" (of {example['judged']})" if example["judged"] > len(entries) else ""
    console.print(plain(f"Example: {number}{of} with the embedded service, judged by {example['check']}", "bold"))
    for expected in example["expected"][:_MOST_EXPECTED]:
        _print(console, f"expected: {expected}", limit=200)
    for entry in entries:
        console.print()
        _print_exchange(console, entry, with_limits=with_limits)


def _print_exchange(console: Console, entry: Mapping[str, Any], *, with_limits: bool) -> None:
    request, response = entry["request"], entry["response"]
    address = urlsplit(request["url"])
    _print(console, f"> {request['method']} {address.path}{f'?{address.query}' if address.query else ''}")
    _print_headers(console, ">", request["headers"], with_limits=True)
    _print_body(console, request.get("postData", {}).get("text", ""))
    _print(console, f"< {response['status']} {response['statusText']}")
    _print_headers(console, "<", response["headers"], with_limits=with_limits)
    _print_body(console, response["content"]["text"])


def _print_headers(console: Console, sign: str, headers: Sequence[Mapping[str, str]], *, with_limits: bool) -> None:
    for header in headers:
        name = header["name"].lower()
        if name not in OWN_HEADERS and (with_limits or not name.startswith(("x-ratelimit", "date"))):
            _print(console, f"{sign} {header['name']}: {header['value']}")


def _print_body(console: Console, text: str) -> None:
    if not text:
        return
    try:
        value = json.loads(text)
    except ValueError:
        lines = text.splitlines()
    else:
        lines = json.dumps(value, indent=2, ensure_ascii=False).splitlines()
    for line in lines[:_MOST_LINES]:
        _print(console, line)
    if len(lines) > _MOST_LINES:
        _print(console, f"... {len(lines) - _MOST_LINES} more lines")


def _print(console: Console, line: str, limit: int = 400) -> None:
    """Print a line of the example, indented and cut at a limit."""
    console.print(Padding(plain(line, limit=limit), (0, 0, 0, 2), expand=False))
