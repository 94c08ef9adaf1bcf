#!/usr/bin/env bash
# One run in a pipeline: options come from variables, the summary goes where the pipeline shows it.
#
# CONFORMANCE_BASE_URL and CONFORMANCE_API_KEY name the target; TARGET, EFFORT, MODE, WAIVERS, BASELINE, STRICT and REPORT are
# the options of the same names, CLASSES, ONLY and SKIP lists of words for --class, --only and --skip; empty means the default.
set -uo pipefail
report=${REPORT:-conformance-report}
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# No output of an earlier job may pass for this one's; the journal stays for conformance cleanup.
if grep -qs '"format": *"conformance-report/' "$report/report.json"; then
    for name in report.json report.html junit.xml summary.md ctrf.json earl.jsonld badge.svg exchanges.har \
        provisioned.jsonl provisioner.log errors.log; do
        rm -f "$report/$name"
    done
fi

publish() { # the summary; status 2 has none of its own, but a last line that says why
    [ -n "${GITHUB_STEP_SUMMARY:-}" ] || return 0
    if [ "$1" != 2 ] && [ -f "$report/summary.md" ]; then
        cat "$report/summary.md" >>"$GITHUB_STEP_SUMMARY"
    else
        printf '# Conformance: not tested\n' >>"$GITHUB_STEP_SUMMARY"
    fi
    [ "$1" = 0 ] || printf '\n    %s\n' "$(tail -n 1 "$said")" >>"$GITHUB_STEP_SUMMARY"
}

refuse() {
    echo "Exit 2: $1" | tee "$said" >&2
    publish 2
    exit 2
}

[ -n "${TARGET:-}" ] || [ -n "${CONFORMANCE_BASE_URL:-}" ] ||
    refuse "Neither CONFORMANCE_BASE_URL nor TARGET names what to test."
options=(--report "$report" --effort "${EFFORT:-quick}")
case "${MODE:-default}" in
    read-only | disposable) options+=("--$MODE") ;;
    default) ;;
    *) refuse "MODE is read-only, default or disposable, not $MODE." ;;
esac
case "$(printf %s "${STRICT:-}" | tr '[:upper:]' '[:lower:]')" in
    true | yes | on | 1) options+=(--strict) ;;
    false | no | off | 0 | "") ;;
    *) refuse "STRICT is true or false, not $STRICT." ;;
esac
set -f # patterns are the suite's, not the shell's
for word in ${CLASSES:-}; do options+=(--class "$word"); done
for word in ${ONLY:-}; do options+=(--only "$word"); done
for word in ${SKIP:-}; do options+=(--skip "$word"); done
[ -n "${TARGET:-}" ] && options+=(--target "$TARGET")
[ -n "${WAIVERS:-}" ] && options+=(--waivers "$WAIVERS")
[ -n "${BASELINE:-}" ] && options+=(--baseline "$BASELINE")

{
    conformance run "${options[@]}" 2>&1 >&3 | tee "$said" >&2
    status=${PIPESTATUS[0]}
} 3>&1

publish "$status"
if [ "$status" != 2 ] && [ -f "$report/report.json" ] && [ -n "${GITHUB_OUTPUT:-}" ]; then
    verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$report/report.json")
    echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
fi
exit "$status"
