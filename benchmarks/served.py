"""Reference service in a child process, for the benchmarks."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parent.parent
ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextlib.contextmanager
def service(*arguments: str) -> Iterator[tuple[str, str]]:
    """Start the service with arguments; yield its base URL and a key."""
    command = [sys.executable, "-m", "conformance.reference.server", "--announce", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        announced = json.loads(child.stdout.readline())
        yield announced["base_url"], announced["keys"]["api_key"]
        child.stdin.close()
