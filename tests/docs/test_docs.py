"""Documents: links resolve, generated pages are fresh, and examples are valid."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from conformance import __version__
from conformance.catalogue import CLASSES, load_catalogue
from conformance.cli import main
from conformance.targets.capabilities import PROVISIONER_METHODS
from conformance.targets.loading import load_profile
from conformance.targets.profile import Profile
from docs.refresh import requirement_lines

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")])
OF_OPTIONS = {"mode", "user_info", "warnings", "folder", "template_secrets"}
"""Attributes of a profile that are not keys of a target file."""
VARIABLES = {
    name: f"a-key-for-{name.lower()}"
    for name in (
        "CONFORMANCE_API_KEY",
        "KEY_ENGAGEMENTS_READ",
        "KEY_OTHER",
        "KEY_THROTTLED",
        "KEY_MEMBER",
        "ADMIN_TOKEN",
    )
}


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page: its headings, as GitHub names them."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """Return the links of a page, including pictures, whose file or anchor does not exist in this repository."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)[^)]*\)", page.read_text("utf-8")):
        if not link.startswith(("https:", "http:")):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    """Every link within the repository has a target."""
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    """Missing files, headings and pictures are reported."""
    page = tmp_path / "page.md"
    (tmp_path / "other.md").write_text("# A `name` of its own\n")
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#a-name-of-its-own) [c](#here) [d](https://x)\n"
        "[e](missing.md) [f](other.md#nowhere) [g](#there) ![h](missing.png)\n"
    )

    assert broken_links(page) == ["missing.md", "other.md#nowhere", "#there", "missing.png"]


def test_the_list_of_requirements_is_fresh() -> None:
    """docs/requirements.md follows from the catalogue."""
    assert (ROOT / "docs" / "requirements.md").read_text("utf-8") == "\n".join(
        requirement_lines(load_catalogue())
    ) + "\n"


def test_the_list_of_requirements_names_later_releases() -> None:
    """A requirement says since which release it is in the catalogue, if that is not the first."""
    catalogue = load_catalogue()
    young, *_ = catalogue.requirements.values()
    lines = requirement_lines(replace(catalogue, requirements={young.id: replace(young, since="1.1")}))
    assert [line for line in lines if ", since 1.1 |" in line and f"**{young.id}**" in line] != []


def test_the_first_target_file_of_its_page_is_sound(tmp_path: Path) -> None:
    """The example loads unchanged."""
    text = re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "target-files.md").read_text("utf-8"), re.DOTALL)
    assert text is not None
    file = tmp_path / "target.yaml"
    file.write_text(text[1])

    assert load_profile(file, VARIABLES).name == "staging"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_yaml_in_pages_is_yaml(page: Path) -> None:
    """Every block of YAML parses after its variables are replaced."""
    for block in re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        yaml.safe_load(re.sub(r"\$\{\w+\}", "value", block))


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("target-files.md", {"base_url", "members", *(field.name for field in fields(Profile))} - OF_OPTIONS),
        ("provisioners.md", {method for methods in PROVISIONER_METHODS.values() for method in methods}),
        ("classes.md", set(CLASSES)),
        ("certificates.md", {"certificate.dsse.json", "--subject-digest", "--anyway"}),
    ],
)
def test_a_page_leaves_nothing_out(page: str, names: set[str]) -> None:
    """The pages name every key of a target file, every method of a provisioner, and every class."""
    text = (ROOT / "docs" / page).read_text("utf-8")

    assert [name for name in sorted(names) if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)] == []


def test_observations_in_pages_are_of_open_points() -> None:
    """The example questions are questions of the catalogue."""
    text = (ROOT / "docs" / "observations.md").read_text("utf-8")
    asked = re.findall(r"^\| (What|Which|How)([^|]+) \|", text, re.MULTILINE)
    questions = {point.question for point in load_catalogue().open_points.values()}

    assert asked
    assert {f"{word}{rest}" for word, rest in asked} <= questions


def test_every_command_is_named_in_the_readme() -> None:
    """The README names every command."""
    readme = (ROOT / "README.md").read_text("utf-8")

    for name in main.list_commands(None):  # type: ignore[arg-type]
        assert re.search(rf"\b{name}\b", readme), name


def test_the_newest_release_of_the_changelog_is_this_version() -> None:
    """A new version has its part of the changelog, below the changes that are not released."""
    headings = re.findall(r"^## \[(.*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)

    assert headings[:2] == ["Unreleased", __version__]
