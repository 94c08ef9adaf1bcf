"""Table of hostile behaviours and the results of runs against them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.reports.markdown import inline
from conformance.reports.wording import counted
from tests.fakes.command_line import Ended
from tests.hostile.cases import Case

PATH: Final = Path(__file__).parents[2] / "docs" / "hostile-targets.md"

_HEAD: Final = """\
# Hostile targets

How runs end against software that is broken or malicious. The servers are in `tests/hostile`. Most of them wrap the
reference service, so that everything except the behaviour is correct. "Untouched" means that the run left the
target's data as they were. Times and memory are those of one execution of `tox -e hostile`, a few runs at a time.
The timeout is that of a single request, from the target file of that run. "Took" is wall-clock time, which a busy
machine lengthens; "CPU" is the processor time of the run.

| the target | exit status | verdict | reported | timeout (s) | took (s) | CPU (s) | MB | untouched |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """A behaviour and the result of a run against it."""

    name: str
    case: Case
    ended: Ended
    clean: bool

    def line(self) -> str:
        """Return the row as Markdown."""
        report, ended = self.ended.report, self.ended
        cells = [
            inline(self.name), str(ended.status), report["verdict"], inline(_reason(ended)), f"{self.case.timeout:g}",
            f"{ended.seconds:.1f}", f"{ended.cpu:.1f}", f"{ended.megabytes:.0f}", "yes" if self.clean else "no",
        ]  # fmt: skip
        return f"| {' | '.join(cells)} |"


def write(rows: Iterable[Row]) -> None:
    """Write the table."""
    PATH.write_text(_HEAD + "".join(f"{row.line()}\n" for row in rows), "utf-8")


def names() -> list[str]:
    """Return the behaviours in the table."""
    lines = PATH.read_text("utf-8").partition("|---|")[2].splitlines()
    return [line.split(" | ")[0].removeprefix("| ") for line in lines[1:]]


def _reason(ended: Ended) -> str:
    """Return one sentence: what failed, or why the run ended early, or what is undecided."""
    failed, undecided = ended.outcomes("failed"), ended.outcomes("cantTell")
    if failed:
        return f"{counted(len(failed), 'requirement')} failed, among them {failed[0]}"
    if ended.err.strip():
        last = ended.err.strip().splitlines()[-1]
        return re.sub(r"^Exit \d: | To remove what is left .*", "", last)
    return f"{counted(len(undecided), 'requirement')} undecided" if undecided else "nothing wrong"
