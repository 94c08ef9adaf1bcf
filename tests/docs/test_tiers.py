"""Tiers of the tests: tox, its labels, the gate and the documents agree, and samples are drawn as documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from tests import tiers

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
TOX = ConfigParser(interpolation=None)
TOX.read_string((ROOT / "tox.ini").read_text("utf-8"))
LABELS = dict(line.split(" = ") for line in TOX["tox"]["labels"].strip().splitlines())
LIES = "tests/hostile/test_lying_services.py::test_no_lie_of_a_service_makes_a_run_write_to_others"
JOURNALS = "tests/hostile/test_forged_journals.py"


def options(environment: str) -> list[str]:
    """Return the options with which a tox environment selects tests."""
    return re.findall(r"--(?:tier \w+|sample)|-m (?!pytest)\S+", TOX[f"testenv:{environment}"]["commands"])


def collected(*words: str) -> list[str]:
    """Return the node ids that pytest would run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ, timeout=300)
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.parametrize("path", sorted({*tiers.SAMPLES, *(path for paths in tiers.MARKS.values() for path in paths)}))
def test_paths_lead_to_tests(path: str) -> None:
    """Each path of a mark or a sample exists, also after tests are moved or renamed."""
    file, _, name = path.partition("::")

    assert (ROOT / file).exists()
    assert not name or f"\ndef {name}(" in (ROOT / file).read_text("utf-8")


def test_each_test_is_in_the_quick_or_in_the_long_tier() -> None:
    """``tox`` runs all quick tests, ``tox -e long`` a sample of the others, ``tox -e all`` everything."""
    assert options("tests") == ["--tier quick"]
    assert options("long") == ["--tier long", "--sample"]
    assert options("all") == []


def test_labels_name_environments() -> None:
    """Each environment in a label exists."""
    for environment in re.split(r", ", ", ".join([*LABELS.values(), TOX["tox"]["env_list"]])):
        assert f"testenv:{environment}" in TOX


def test_nightly_leaves_nothing_out() -> None:
    """The label runs everything from ``tox`` and ``tox -m full``, with all examples."""
    within = re.findall(r"\[testenv:(\w+)\]commands", TOX["testenv:tests"]["commands"])
    tiered = {*TOX["tox"]["env_list"].split(", "), *within, *LABELS["full"].split(", ")}

    assert within == ["lint", "types"]
    assert tiered - {"tests", "long"} | {"all"} <= {*LABELS["nightly"].split(", ")}


def test_tests_are_marked_by_their_path() -> None:
    """Marks come from the path of a folder, a file or a single test; other tests have none."""
    assert tiers.marks(f"{LIES}[7]") == ["hostile"]
    assert tiers.marks("tests/reports/test_browser.py::test_the_guard_itself_works") == ["browser"]
    assert tiers.marks("tests/reference/test_fault_library.py::test_fault_shows[archive-twice]") == ["slow"]
    assert tiers.marks("tests/reference/test_fault_library.py::test_titles_are_sentences_of_their_own") == []


def test_a_commit_draws_its_sample() -> None:
    """The sample of a test's examples has its size; the same commit draws the same sample, another commit another."""
    names = [f"{LIES}[{number}]" for number in range(1000)]
    others = ["tests/wire/test_request.py::test_a[1]", "tests/wire/test_request.py::test_b"]

    out = tiers.left_out([*names, *others], "a commit")

    assert len(set(names) - out) == tiers.SAMPLES[LIES]
    assert not out & set(others)
    assert out == tiers.left_out([*others, *names], "a commit")
    assert out != tiers.left_out(names, "another commit")
    assert tiers.left_out([f"{LIES}[7]"], "a commit") == set()


def test_the_longest_path_gives_the_size() -> None:
    """A folder's number is that of the long tests in it, without those of a longer path."""
    names = [f"{JOURNALS}::{test}[{number}]" for test in ("test_a", "test_b") for number in range(9)]
    quick = [f"tests/cli/test_summary.py::test_{number}" for number in range(9)]

    assert tiers.drawn_from(LIES) == (LIES, tiers.SAMPLES[LIES])
    assert tiers.drawn_from(names[0]) == ("tests/hostile/", tiers.SAMPLES["tests/hostile/"])
    assert tiers.drawn_from(quick[0]) is tiers.drawn_from("tests/packaging/test_builds.py::test_a") is None
    assert len(set(names) - tiers.left_out(names, "a commit")) == tiers.SAMPLES["tests/hostile/"]
    assert tiers.left_out(quick, "a commit") == set()


def test_examples_are_of_different_tests() -> None:
    """A sample has examples of as many tests as possible."""
    names = [f"{JOURNALS}::test_{test}[{number}]" for test in "abc" for number in range(9)]

    drawn = set(names) - tiers.left_out(names, "a commit")

    assert len(drawn) == tiers.SAMPLES["tests/hostile/"]
    assert len({name.partition("[")[0] for name in drawn}) == len("abc")


def test_only_a_sample_is_collected() -> None:
    """``--sample`` collects the drawn tests, all of a file with few, and each test named by its id."""
    file = LIES.partition("::")[0]

    drawn = collected("--tier", "long", "--sample", file, JOURNALS)

    assert len([name for name in drawn if name.startswith(f"{LIES}[")]) == tiers.SAMPLES[LIES]
    assert f"{JOURNALS}::test_the_journals_would_do_harm" in drawn
    assert collected("--sample", f"{LIES}[7]") == [f"{LIES}[7]"]
    assert collected("--tier", "quick", file) == []


def test_files_of_the_other_tier_are_not_collected() -> None:
    """A file is left out if none of its tests is of the tier."""
    assert [tiers.may_be_long(file) for file in ("tests/hostile/test_a.py", "tests/wire/test_redaction.py")] == [
        True
    ] * 2
    assert [tiers.is_long(file) for file in ("tests/hostile/test_a.py", "tests/wire/test_redaction.py")] == [
        True,
        False,
    ]
    assert not tiers.may_be_long("tests/wire/test_requests.py")


def test_the_gate_calls_the_command_of_the_readme_first() -> None:
    """The gate then runs the longer tests."""
    (command,) = re.findall(r"^    (.* && \.venv/bin/tox)$", README, re.MULTILINE)
    gate = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()

    assert gate.index(command) < gate.index(".venv/bin/tox -m full")
    assert f"\n    {command}\n" in CONTRIBUTING


def test_the_duration_of_tests_is_stated_first() -> None:
    """The README states the time before its command, and CONTRIBUTING states it for each tier."""
    before, _, _ = README.partition("&& .venv/bin/tox\n")
    rows = re.findall(r"^\| `(tox[^`]*)` \|.*\| (?=.*(?:minutes|hours) \|$)", CONTRIBUTING, re.MULTILINE)

    assert re.search(r"\d minutes on two cores", before)
    assert {"tox", *(f"tox -m {label}" for label in LABELS)} <= set(rows)
