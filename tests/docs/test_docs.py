"""The documents: their links lead somewhere, what is generated is fresh, and examples in them are sound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from conformance.catalogue import load_catalogue
from conformance.cli import main
from conformance.cli.requirements import markdown_lines
from conformance.target.loading import load_profile

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")])
VARIABLES = {
    name: f"a-key-for-{name.lower()}"
    for name in ("CONFORMANCE_API_KEY", "KEY_ORG_READ", "KEY_OTHER", "KEY_SLOW", "KEY_MEMBER", "ADMIN_TOKEN")
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    """Every relative link of a page is a file of this repository."""
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if not link.startswith(("https:", "http:")):
            assert (page.parent / link).exists(), link


def test_the_list_of_requirements_is_fresh() -> None:
    """docs/requirements.md is what ``conformance requirements --markdown`` prints."""
    assert (ROOT / "docs" / "requirements.md").read_text("utf-8") == "\n".join(markdown_lines(load_catalogue())) + "\n"


def test_the_target_file_of_the_readme_is_sound(tmp_path: Path) -> None:
    """A reader can take it as it is."""
    text = re.search(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert text is not None
    file = tmp_path / "target.yaml"
    file.write_text(text[1])

    assert load_profile(file, VARIABLES).name == "staging-eu"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_yaml_in_pages_is_yaml(page: Path) -> None:
    """Every block of YAML can be read, its variables replaced."""
    for block in re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        yaml.safe_load(re.sub(r"\$\{\w+\}", "value", block))


def test_every_command_is_named_in_the_readme() -> None:
    """A command that the front door does not mention is found by nobody."""
    readme = (ROOT / "README.md").read_text("utf-8")

    for name in main.list_commands(None):  # type: ignore[arg-type]
        assert re.search(rf"\b{name}\b", readme), name
