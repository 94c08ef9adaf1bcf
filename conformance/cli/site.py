"""``conformance site``: static site of many runs."""

from __future__ import annotations

import errno
from pathlib import Path

import click

from conformance.cli.text import complain, usage_error
from conformance.reports.atomic_files import place
from conformance.reports.model import InvalidReport
from conformance.reports.wording import counted


@click.command("site")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output",
    metavar="DIR",
    default=Path("site"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the site.",
)
def site(folders: tuple[Path, ...], output: Path) -> None:
    """Build a static site from the folders of runs.

    The site shows the requirements by implementation, the behaviour of each implementation at open points, and its
    history. The target's name identifies an implementation. The site opens from a file and links to each run's
    report.html: move the site and the folders together. A folder that cannot be read is reported and left out.
    The site's metrics.prom has the metrics of each implementation's latest run.
    """
    from conformance.reports.site import read_runs, site_files

    runs = read_runs(folders, complain)
    if not runs:
        raise click.UsageError("None of the folders contains a finished run.")
    index = output / "index.html"
    if index.exists() and not (output / "observations.html").exists():
        shown = click.format_filename(index)
        raise click.UsageError(f"{shown} is no page of a site of runs: name another folder with --output.")
    try:
        files = site_files(runs, output)
        for folder in sorted({path.parent for path in files} | {output}):
            _make(folder)
        place(files)
    except InvalidReport as error:  # a folder was changed meanwhile
        raise usage_error(error) from error
    except OSError as error:
        reason = f"{click.format_filename(output)} cannot be written: {error.strerror}."
        raise click.UsageError(reason) from error
    click.echo(f"{counted(len(runs), 'run')}: {click.format_filename(index)}")


def _make(folder: Path) -> None:
    """Create a folder of the site; a symbolic link is refused, as its target is not the site's.

    Raises:
        OSError: The folder cannot be created, or is a link.
    """
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder.name} is a link to another place")
    folder.mkdir(parents=True, exist_ok=True)
