"""Recording of a run in a folder: report, exchanges and inputs of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance import __version__
from conformance.files import file_sha256
from conformance.interface.openapi import openapi_sha256
from conformance.replay.recorded_inputs_file import InvalidInputs, RunInputs, read_inputs
from conformance.reports.har_reading import InvalidRecording, read_har
from conformance.reports.model import InvalidReport, load_report
from conformance.reports.sealing import EXCHANGES, PROVISIONED, REPORT
from conformance.suite import suite_sha256

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reports.model import Report
    from conformance.wire.exchange import Exchange


class NotJudgeable(Exception):
    """A folder whose run cannot be re-evaluated; the message is a plain sentence."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run.

    Attributes:
        report: The report.
        exchanges: The exchanges.
        inputs: The inputs of checks that are no exchanges.
        changed: The files that were changed after the run.
    """

    report: Report
    exchanges: list[Exchange]
    inputs: RunInputs
    changed: tuple[str, ...]


def read_recording(folder: Path) -> Recording:
    """Read the recording in a folder.

    Raises:
        NotJudgeable: A file is missing or invalid, or another suite made the recording.
    """
    try:
        report = load_report(folder / REPORT)
        inputs = read_inputs(folder / PROVISIONED)
        exchanges = read_har(folder / EXCHANGES)
        changed = tuple(name for name, digest in inputs.digests.items() if file_sha256(folder / name) != digest)
    except (InvalidReport, InvalidInputs, InvalidRecording) as error:
        raise NotJudgeable(str(error)) from error
    except OSError as error:
        raise NotJudgeable(f"{error.filename} cannot be read: {error.strerror}.") from error
    _ensure_suite(report, inputs)
    return Recording(report, exchanges, inputs, changed)


def _ensure_suite(report: Report, inputs: RunInputs) -> None:
    """Raise if another version of the suite made the recording: it sends other requests."""
    suite = report["suite"]
    if suite["version"] != __version__:
        raise NotJudgeable(
            f"The run was made by version {suite['version']} of the suite and this is {__version__}: "
            "use the same version to judge it again."
        )
    if (inputs.suite_sha256, suite["openapi_sha256"]) != (suite_sha256(), openapi_sha256()):
        raise NotJudgeable(
            f"The run was made by a suite of the same version with other files (digest {inputs.suite_sha256}): "
            "use that suite to judge it again."
        )
