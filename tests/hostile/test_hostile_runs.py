"""Runs against hostile targets: each ends as expected, in time, in little memory, and shows no key."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.reports.markdown import inline
from tests.fakes.command_line import Ended, start, target_file
from tests.fakes.target import hostile
from tests.hostile import (
    broken_connections,
    difficult_services,
    lost_services,
    odd_framing,
    odd_identifiers,
    random_changes,
    table,
    wrong_responses,
)
from tests.hostile.cases import Case

CASES: Final = {
    **broken_connections.CASES, **wrong_responses.CASES, **difficult_services.CASES, **odd_framing.CASES,
    **odd_identifiers.CASES, **random_changes.CASES, **lost_services.CASES,
}  # fmt: skip
MEGABYTES: Final = 600
MEASURED: Final = "HOSTILE_TABLE" in os.environ
"""Whether to judge the times and to write the table, as in ``tox -e hostile``."""

ROWS: Final[list[table.Row]] = []
_TOGETHER: Final = 3
_BUSY: Final = 300.0
"""Seconds that a busy machine may add."""


class Outcome:
    """The result of a run against a behaviour.

    Attributes:
        ended: The end of the run.
        key: The key that it used.
        before: The contents of the target before the run.
        after: The contents of the target after the run.
        heads: The heads of the requests.
    """

    def __init__(self, name: str, case: Case, folder: Path) -> None:
        with hostile(case.behaviour, **case.parts()) as target:
            self.key = target.api_key
            self.before = target.inventory()
            words = ["run", "--target", str(target_file(folder, target.url, *case.lines, timeout=case.timeout))]
            words += ["--effort", "quick", "--seed", "7", *case.words]
            words += [word for pattern in case.only for word in ("--only", pattern)]
            started = start(folder / "report", *words, CONFORMANCE_API_KEY=self.key)
            self.ended = started.wait(case.seconds + _BUSY)
            self.after = target.inventory()
            self.heads = list(target.heads)


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Outcome]]]:
    """The results of the runs against all selected behaviours, a few at a time."""
    asked: dict[str, Case] = {}
    for item in request.session.items:
        parameters: Any = getattr(getattr(item, "callspec", None), "params", {})
        if item.path == request.path and parameters.get("name") in CASES:
            asked[parameters["name"]] = CASES[parameters["name"]]
    with ThreadPoolExecutor(_TOGETHER) as pool:
        yield {
            name: pool.submit(Outcome, name, case, tmp_path_factory.mktemp("run") / "it")
            for name, case in asked.items()
        }


@pytest.mark.parametrize("name", CASES)
def test_a_run_ends_as_it_must(
    name: str, outcomes: dict[str, Future[Outcome]], record_property: Callable[..., None]
) -> None:
    """Status, verdict, message, time, memory and leftovers are as expected, and no output shows a key."""
    case, outcome = CASES[name], outcomes[name].result()
    ended = outcome.ended
    if MEASURED:
        ROWS.append(table.Row(name, case, ended, outcome.after == outcome.before))
        table.write(ROWS)
    record_property("seconds", round(ended.seconds, 1))
    record_property("megabytes", round(ended.megabytes))
    record_property("status", ended.status)

    assert "Traceback" not in ended.err + ended.out
    assert not (ended.folder / "errors.log").exists(), (ended.folder / "errors.log").read_text()[:3000]
    permitted = {3} | {*case.status} & {1} if ended.report["not_undone"] else {*case.status}
    assert ended.status in permitted, ended.messages()
    assert ended.report["verdict"] in case.verdict, ended.messages()
    assert case.says in ended.messages()
    assert set(case.failed) <= set(ended.outcomes("failed")), ended.messages()
    assert set(case.cant_tell) <= set(ended.outcomes("cantTell")), ended.messages()
    assert case.only_failed is None or set(ended.outcomes("failed")) <= set(case.only_failed), ended.messages()
    assert not case.decided or ended.outcomes("cantTell") == [], ended.messages()
    assert not MEASURED or ended.seconds <= case.seconds
    assert ended.megabytes <= MEGABYTES
    assert not case.clean or outcome.after == outcome.before, ended.messages()
    assert not any(b"/stolen" in head or _keeps_cookies(head, outcome.key) for head in outcome.heads)
    assert _outputs_with_key(outcome.key, ended) == []


def _keeps_cookies(head: bytes, key: str) -> bool:
    """Whether a request sends a cookie that the target set; the suite's own cookie has the key."""
    (_, *sent) = head.split(b"\r\nCookie: ")
    given = [cookie.partition(b"=")[2] for cookies in sent for cookie in cookies.partition(b"\r\n")[0].split(b"; ")]
    return any(value != key.encode() for value in given) or b"\r\ncookie:" in head


def test_the_table_has_every_behaviour() -> None:
    """The table of the documentation has exactly the existing behaviours."""
    assert sorted(table.names()) == sorted(inline(name) for name in CASES)


def _outputs_with_key(key: str, ended: Ended) -> list[str]:
    """Return the places that show a key, in any common encoding."""
    raw = key.encode()
    forms = [raw, raw.hex().encode(), raw.hex().upper().encode(), *(_core(raw, shift) for shift in range(3))]
    texts = {"stdout": ended.out.encode(), "stderr": ended.err.encode()}
    texts |= {path.name: path.read_bytes() for path in ended.folder.rglob("*") if path.is_file()}
    return [name for name, text in texts.items() if any(form in text for form in forms)]


def _core(raw: bytes, shift: int) -> bytes:
    """Return the constant parts of the base64 of any text that contains these bytes."""
    return base64.b64encode(b"\0" * shift + raw)[4:-4]
