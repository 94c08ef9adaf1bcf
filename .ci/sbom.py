"""Generator of the bill of materials (CycloneDX) of a wheel: all packages that pip installs with it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Install the wheel of the folder DIST in an environment of its own, and write to OUTPUT what is there."""
    dist, output = map(Path, sys.argv[1:])
    (wheel,) = dist.glob("*.whl")
    output.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        environment = Path(name, "environment")
        venv.create(environment)
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(environment), "install", "-q", str(wheel)], check=True
        )
        write(environment, wheel.name.split("-")[1], output)


def write(environment: Path, version: str, output: Path) -> None:
    """Write the bill of materials of an environment that has the suite in some version."""
    with tempfile.TemporaryDirectory() as name:
        described = Path(name, "pyproject.toml")
        text = (ROOT / "pyproject.toml").read_text("utf-8")
        described.write_text(text.replace('dynamic = ["version"]', f'version = "{version}"'), "utf-8")
        command = ["cyclonedx-py", "environment", "--pyproject", str(described), "--output-reproducible"]
        subprocess.run([*command, "--output-file", str(output), str(environment)], check=True)


if __name__ == "__main__":
    main()
