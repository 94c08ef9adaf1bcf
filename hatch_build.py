"""Build hook of hatchling that records the commit of the suite in wheels and sdists."""

from __future__ import annotations

import runpy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Replacement of the package's ``commit.txt``; an editable installation keeps it, and asks git each time."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file with the commit, if the commit is known."""
        module = runpy.run_path(str(Path(self.root, "conformance", "commit.py")))
        self._folder = TemporaryDirectory()
        if version != "editable" and (commit := module["commit"]()):
            file = Path(self._folder.name, module["RECORDED"])
            file.write_text(f"{commit}\n", "ascii")
            build_data["force_include"][str(file)] = f"conformance/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's signature
        """Delete the file."""
        self._folder.cleanup()
