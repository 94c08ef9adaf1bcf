"""Generator of report.png: the top of the report of a faulty service, in Chromium.

    python docs/screenshot.py           # renews docs/report.png
    python docs/screenshot.py FOLDER    # renews it in a built site, if Chromium is installed

The service is the reference service with a fault; the run is a quick one over loopback.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

FAULT: Final = "archived-editable"
WIDTH: Final = 1080
HEIGHT: Final = 2040
OUTPUT: Final = Path(__file__).with_name("report.png")
TARGET: Final = "name: staging-eu\nbase_url: ${BASE_URL}\napi_key: ${API_KEY}\ndisposable: true\n"
CHROMIUM_OPTIONS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--blink-settings=preferredColorScheme=1"),
)


def main() -> None:
    """Run the suite, take the picture, and print its path."""
    output = Path(*sys.argv[1:], OUTPUT.name) if sys.argv[1:] else OUTPUT
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None and output is not OUTPUT:
        sys.stdout.write("Chromium is not installed: the site keeps the picture of the repository.\n")
        return
    if chromium is None:
        sys.exit("Chromium is not installed.")
    with tempfile.TemporaryDirectory() as name:
        _run(Path(name))
        page = (Path(name) / "report" / "report.html").as_uri()
        picture = [f"--window-size={WIDTH},{HEIGHT}", f"--user-data-dir={name}/profile", f"--screenshot={output}"]
        subprocess.run([chromium, *CHROMIUM_OPTIONS, *picture, page], check=True, capture_output=True)
    sys.stdout.write(f"{output}: {output.stat().st_size:,} bytes\n")


def _run(folder: Path) -> None:
    """Test the faulty service; the run ends with 1."""
    target = folder / "target.yaml"
    target.write_text(TARGET)
    command = [sys.executable, "-m", "conformance.reference.server", "--announce", "--seed-data", "--fault", FAULT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as service:
        assert service.stdout is not None
        announced = json.loads(service.stdout.readline())
        variables = {"BASE_URL": announced["base_url"], "API_KEY": announced["keys"]["api_key"]}
        run = [sys.executable, "-m", "conformance", "run", "--target", str(target), "--report", str(folder / "report")]
        done = subprocess.run(
            [*run, "--effort", "quick", "--seed", "1", "--quiet"], env=os.environ | variables, check=False
        )
    if done.returncode != 1:
        sys.exit(f"The run ended with {done.returncode}; expected 1.")


if __name__ == "__main__":
    main()
