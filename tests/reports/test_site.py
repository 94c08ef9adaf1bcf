"""Site over many runs: the content of its pages, and its refusals."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.reports.model import report_bytes
from conformance.reports.site import read_runs, site_files
from conformance.reports.site.matrices import history, implementations, letter, observation_rows, requirement_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from conformance.reports.model import Report

    Keep = Callable[..., Path]

NAMES = ("index", "requirements", "observations")


@pytest.fixture
def keep(samples: ModuleType, tmp_path: Path) -> Keep:
    """Return a function that writes the folder of a run: a sample with another name, time and observations."""

    def write(folder: str, *, sample: str = "passing", name: str = "one", day: int = 1, **observed: str) -> Path:
        report: Report = deepcopy(getattr(samples, sample)()[0])
        report["target"]["name"] = name
        report["run"]["started_at"] = f"2026-03-{day:02}T09:30:00Z"
        for observation in report["observations"]:
            observation["observed"] = observed.get(observation["id"].replace("-", "_"), observation["observed"])
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "report.json").write_bytes(report_bytes(report))
        return tmp_path / folder

    return write


def _site(output: Path, *folders: Path) -> Result:
    return CliRunner().invoke(main, ["site", *map(str, folders), "--output", str(output)])


def _text(page: Path) -> str:
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page.read_text("utf-8"), flags=re.DOTALL).split())


def test_the_site_has_a_page_for_everything(keep: Keep, tmp_path: Path) -> None:
    """The site has an index, both matrices, a history for each implementation, and pages for runs without their own."""
    folders = [keep("a"), keep("b", sample="failing", day=2), keep("c", name="two")]
    (folders[0] / "report.html").write_text("the run's own page")

    result = _site(tmp_path / "site", *folders)

    assert (result.exit_code, result.output) == (0, f"3 runs: {tmp_path / 'site' / 'index.html'}\n")
    assert sorted(str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*.html")) == [
        "implementations/001.html",
        "implementations/002.html",
        "index.html",
        "observations.html",
        "requirements.html",
        "runs/002.html",
        "runs/003.html",
    ]


def test_the_metrics_are_of_the_latest_runs(keep: Keep, tmp_path: Path) -> None:
    """Each implementation has its own samples alone, whatever the file in its folder claims."""
    folders = [keep("a"), keep("b", day=2), keep("c", name="two"), keep("d", name="three")]
    for folder, value in zip(folders, (1, 2, 3), strict=False):
        name = json.loads((folder / "report.json").read_text("utf-8"))["target"]["name"]
        series = (f'{{target="{name}"}}', '{target="three"}', '{target="two", }x{}')
        (folder / "metrics.prom").write_text("".join(f"conformance_run_requests{each} {value}\n" for each in series))
    _site(tmp_path / "site", *folders)

    text = (tmp_path / "site" / "metrics.prom").read_text("utf-8")

    assert [line for line in text.splitlines() if not line.startswith("# HELP")] == [
        "# TYPE conformance_run_requests gauge",
        'conformance_run_requests{target="one"} 2',
        'conformance_run_requests{target="two"} 3',
        "# EOF",
    ]


def test_every_link_leads_somewhere(keep: Keep, tmp_path: Path) -> None:
    """Links are relative, lead within the site or to a run's own page, and their anchors exist."""
    own = keep("a run", sample="failing")
    (own / "report.html").write_text("the run's own page")
    _site(tmp_path / "site", own, keep("b", name="two", sample="failing"), keep("c", name="three", sample="hostile"))

    pages = list((tmp_path / "site").rglob("*.html"))
    links = [(page, link) for page in pages for link in re.findall(r'href="([^"]*)"', page.read_text("utf-8"))]
    assert len(links) > 20
    for page, link in links:
        parts = urlsplit(link)
        assert not parts.scheme
        aim = page if not parts.path else page.parent / unquote(parts.path)
        assert aim.is_file(), link
        if parts.fragment and aim != own / "report.html" and aim.resolve() != (own / "report.html").resolve():
            assert f'id="{unquote(parts.fragment)}"' in aim.read_text("utf-8"), link


def test_pages_load_nothing_and_have_no_script(keep: Keep, tmp_path: Path) -> None:
    """Each page has one style, named in the policy by its digest; names of targets are text."""
    _site(tmp_path / "site", keep("a", sample="hostile", name="<script>x</script>"), keep("b", sample="failing"))

    for name in (*NAMES, "implementations/001"):
        text = (tmp_path / "site" / f"{name}.html").read_text("utf-8")
        assert not re.search(r"<(script|link|img|iframe|object|embed|base)\b", text)
        assert not re.search(r"<[^>]*\s(on\w+|style|src)=", text)
        assert 'content="default-src &#39;none&#39;; style-src &#39;sha256-' in text


def test_the_requirements_by_implementations(keep: Keep) -> None:
    """Each implementation is represented by its latest run; waived and failed requirements are distinguished."""
    listed = implementations(
        read_runs(
            [
                keep("a", name="b-service"),
                keep("b", name="a-service", sample="failing"),
                keep("c", day=2, name="b-service"),
            ]
        )
    )

    rows = {row.requirement["id"]: row for row in requirement_rows(listed)}

    assert [implementation.name for implementation in listed] == ["a-service", "b-service"]
    assert len(listed[1].runs) == 2
    broken = [row for row in rows.values() if row.failed]
    assert [row.outcomes for row in broken] == [("failed", "passed"), ("failed", "passed"), ("waived", "passed")]
    assert not any(row.same for row in broken)
    assert rows["mail-3"].outcomes == (None, "untested")
    assert [int(row.requirement["section"]) for row in rows.values()] == sorted(
        int(row.requirement["section"]) for row in rows.values()
    )


def test_the_observations_by_implementations(keep: Keep) -> None:
    """The most frequent behaviour is A, and an implementation without an observation has no letter."""
    folders = [
        keep(str(number), name=f"n{number}", duplicate_name="accepted" if number == 2 else "409")
        for number in (1, 2, 3)
    ]
    silent = keep("silent", name="n4")
    report = json.loads((silent / "report.json").read_bytes())
    report["observations"] = []
    (silent / "report.json").write_text(json.dumps(report))

    rows = {row.observation["id"]: row for row in observation_rows(implementations(read_runs([*folders, silent])))}

    assert rows["duplicate-name"].responses == (("A", "409", 2), ("B", "accepted", 1))
    assert [given for given, _ in rows["duplicate-name"].letters] == ["A", "B", "A", ""]
    assert not rows["duplicate-name"].same
    assert rows["success-status-create"].same


def test_letters_do_not_run_out() -> None:
    """AA follows Z."""
    assert [letter(place) for place in (0, 25, 26, 27, 26 + 26 * 26)] == ["A", "Z", "AA", "AB", "AAA"]


def test_the_history_starts_with_the_newest_run(keep: Keep, tmp_path: Path) -> None:
    """Each run shows the changes since the previous run, independent of the order of the folders."""
    folders = [
        keep("new", day=3, sample="failing"),
        keep("old", day=1),
        keep("middle", day=2, duplicate_name="accepted"),
    ]

    (implementation,) = implementations(read_runs(folders))
    newest, middle, oldest = history(implementation)

    assert oldest.drift is None
    assert middle.drift is not None
    assert [change.id for change in middle.drift.observations] == ["duplicate-name"]
    assert newest.drift is not None
    assert len(newest.drift.regressions) == 2
    _site(tmp_path / "site", *folders)
    text = _text(tmp_path / "site" / "implementations" / "001.html")
    assert text.index("3 March 2026") < text.index("2 March 2026") < text.index("1 March 2026")
    assert "2 regressions, 0 fixed" in text


def test_a_folder_counts_once(keep: Keep) -> None:
    """A folder under another spelling of its path is not counted again."""
    folder = keep("a")

    assert len(read_runs([folder, folder.parent / "x" / ".." / "a"])) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "contains no report.json"),
        (b'{"format": "conformance-report/1", "su', "is not JSON"),
        (b"{}", "breaks its schema"),
        (b"[]", "breaks its schema"),
        (b"\xff\xfe", "is not JSON"),
    ],
)
def test_a_folder_without_a_whole_run_is_named(keep: Keep, tmp_path: Path, content: bytes | None, words: str) -> None:
    """The folder is named in one sentence on stderr, and the site has the others; without others there is no site."""
    bad = tmp_path / "cut short"
    bad.mkdir()
    if content is not None:
        (bad / "report.json").write_bytes(content)

    result = _site(tmp_path / "site", keep("a"), bad)

    alone = _site(tmp_path / "other", bad)

    (line,) = result.stderr.splitlines()
    assert "cut short" in line
    assert words in line
    assert (result.exit_code, result.stdout) == (0, f"1 run: {tmp_path / 'site' / 'index.html'}\n")
    assert alone.exit_code == 2
    assert "None of the folders contains a finished run." in alone.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("link", [".", "implementations", "runs"])
def test_the_site_is_not_written_through_a_link(keep: Keep, tmp_path: Path, link: str) -> None:
    """A site whose folder is a link to another folder is refused, and nothing is written there."""
    others, output = tmp_path / "others", tmp_path / "site"
    others.mkdir()
    if link != ".":
        output.mkdir()
    (output / link).symlink_to(others) if link != "." else output.symlink_to(others)

    result = _site(output, keep("a"))

    assert result.exit_code == 2
    assert "is a link to another place" in result.stderr
    assert list(others.iterdir()) == []


def test_another_site_is_not_overwritten(keep: Keep, tmp_path: Path) -> None:
    """A page that no site of runs has written stays; a site of runs is replaced."""
    folder, output = keep("a"), tmp_path / "home"
    output.mkdir()
    (output / "index.html").write_text("my page")

    result = _site(output, folder)

    assert (result.exit_code, (output / "index.html").read_text()) == (2, "my page")
    assert "is no page of a site of runs" in " ".join(result.stderr.split())
    (output / "index.html").unlink()
    assert [_site(output, folder).exit_code for _ in range(2)] == [0, 0]


def test_a_place_that_cannot_be_written_is_named(keep: Keep, tmp_path: Path) -> None:
    """The message names a file in the place of a folder."""
    (tmp_path / "file").write_text("")

    result = _site(tmp_path / "file" / "site", keep("a"))

    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_many_folders_are_read_in_several_processes(keep: Keep) -> None:
    """The runs are sorted by time, and an invalid one is named and omitted."""
    folders = [keep(f"run-{number}", day=31 - number) for number in range(20)]

    runs = read_runs(folders)
    (folders[7] / "report.json").write_bytes(b"{")

    assert [run.folder.name for run in runs] == [f"run-{number}" for number in reversed(range(20))]
    left_out: list[str] = []
    assert len(read_runs(folders, left_out.append)) == 19
    assert "run-7 contains no complete run" in "".join(left_out)


def test_the_site_may_lie_above_its_runs(keep: Keep, tmp_path: Path) -> None:
    """Links then lead to subfolders, and the run's own page is unchanged."""
    folder = keep("a")
    (folder / "report.html").write_text("the run's own page")

    files: Any = site_files(read_runs([folder]), tmp_path)

    assert folder / "report.html" not in files
    assert b'href="a/report.html"' in b"".join(files[tmp_path / "index.html"]())
