"""``conformance site``: a static site over the folders of many runs."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.reports.model import InvalidReport
from conformance.reports.placing import place
from conformance.reports.wording import counted


@click.command("site")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output",
    metavar="DIR",
    default=Path("site"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write the site.",
)
def site(folders: tuple[Path, ...], output: Path) -> None:
    """Build a static site from the folders of runs.

    It shows requirements by implementations, who does what where the interface leaves it open, and the history of every
    implementation, which is known by its target's name. It opens from a file, and links to each run's report.html where
    that lies: move site and folders together.
    """
    from conformance.reports.site import read_runs, site_files

    try:
        runs = read_runs(folders)
        files = site_files(runs, output)
        for folder in {path.parent for path in files}:
            folder.mkdir(parents=True, exist_ok=True)
        place(files)
    except InvalidReport as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.UsageError(f"{click.format_filename(output)} cannot be written: {error.strerror}.") from error
    click.echo(f"{counted(len(runs), 'run')}: {click.format_filename(output / 'index.html')}")
