"""Examination of a recorded run: every claim that its folder alone can bear out or refute."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.certificate.challenged import signs
from conformance.certificate.claims import Basis, Claim
from conformance.certificate.consistency import problems
from conformance.certificate.recomputing import contradictions
from conformance.certificate.rendering import RECORDED, foreign, rendered, unlike
from conformance.replay.comparing import differences, is_cut_off
from conformance.replay.drawing_again import drawing_again, other_versions
from conformance.replay.reevaluating import reevaluate
from conformance.reports.sealing import PAGE
from conformance.reports.wording import chosen
from conformance.running.options import Effort
from conformance.scenarios.access.invalid_credentials import KINDS
from conformance.suite import GENERATING, RENDERING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.replay.recorded_inputs_file import RunInputs
    from conformance.replay.recording import Recording
    from conformance.replay.reevaluating import Reevaluation
    from conformance.reports.model import Report


class CertificatePage(NamedTuple):
    """certificate.html, rendered again: its SHA-256 digest, and the versions that rendered it for the signer."""

    digest: str
    versions: Mapping[str, str]


def examined(
    recording: Recording, folder: Path, files: Iterable[str], page: CertificatePage | None = None
) -> list[Claim]:
    """Return the claims about a recorded run.

    Args:
        recording: The recording.
        folder: Its folder.
        files: The names of the files in the folder.
        page: The page of the certificate; None if the run is not signed.
    """
    with drawing_again(recording.inputs) as drawn:
        again = reevaluate(recording, folder)
        report, challenge = recording.report, recording.inputs.options.challenge
        consistent = f"{report['verdict']} follows from {_number(report)} requirements"
        recorded = "address, organization, options, titles, conclusions and times"
        return [
            Claim(f"The report is consistent: {consistent}.", tuple(problems(report, recording.exchanges))),
            _reevaluated(recording, again),
            Claim(f"The report gives the recording's {recorded}.", tuple(contradictions(recording, again, folder))),
            _rendered(recording, folder, files, page),
            *([] if challenge is None else [signs(recording, challenge).claim]),
            _drawn(recording.inputs, [*_other_kinds(recording.inputs), *drawn()]),
        ]


def _number(report: Report) -> str:
    """Return the number of requirements, and how many of them the options of the run chose."""
    every, judged = len(report["requirements"]), len(chosen(report))
    return f"{every}" if judged == every else f"the {judged} chosen ones of {every}"


def _reevaluated(recording: Recording, again: Reevaluation) -> Claim:
    same = f"have the same outcomes and {len(again.conclusions.observations)} observations"
    if is_cut_off(recording.report):
        same = "fail the same requirements; nothing else of a run that ended during its checks can be compared"
    return Claim(
        f"The {len(recording.exchanges)} recorded exchanges, re-evaluated, {same}.",
        tuple(differences(recording, again)),
    )


def _rendered(recording: Recording, folder: Path, files: Iterable[str], page: CertificatePage | None) -> Claim:
    again = rendered(recording)
    used = dict.fromkeys(again.keys() - RECORDED, recording.inputs.versions)
    if page is not None:
        again[PAGE], used[PAGE] = page.digest, page.versions
    wrong = unlike(again, folder)
    other = {name: versions for name in wrong if (versions := other_versions(used.get(name, {}), RENDERING))}
    faults = [f"no run writes {name}" for name in foreign(files, again)]
    faults += [f"{name} is not as it is rendered from the recording" for name in wrong if name not in other]
    if other and not faults:
        why = "; ".join(dict.fromkeys(version for versions in other.values() for version in versions))
        return Claim(f"These files cannot be rendered here: {', '.join(other)} ({why}).", basis=Basis.NOT_HERE)
    return Claim(f"{len(again)} files, rendered again, are the same.", tuple(faults))


def _other_kinds(inputs: RunInputs) -> list[str]:
    """Return the kinds of wrong keys that the run left out or added, a clause each."""
    due = inputs.key_form.kinds
    recorded = [line["told"] for line in inputs.of_checks if line["asked"] == KINDS]
    return [f"the kinds of wrong keys are not those of the main key's form: {told}" for told in recorded if told != due]


def _drawn(inputs: RunInputs, faults: Sequence[str]) -> Claim:
    options = inputs.options
    if options.effort is Effort.QUICK:
        return Claim(f"All requests follow from seed {options.seed} and effort quick.", tuple(faults))
    other = other_versions(inputs.versions, GENERATING)
    if other and not faults:
        return Claim(f"Generated requests cannot be drawn here: {'; '.join(other)}.", basis=Basis.NOT_HERE)
    return Claim(
        f"All requests follow from seed {options.seed} and effort {options.effort.value}, the generated ones too.",
        tuple(faults),
    )
