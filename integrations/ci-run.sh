#!/usr/bin/env bash
# One run in a pipeline: options come from variables, the summary goes where the pipeline shows it.
#
# CONFORMANCE_BASE_URL and CONFORMANCE_API_KEY name the target; TARGET, EFFORT, MODE, WAIVERS, BASELINE, STRICT and REPORT are
# the options of the same names, CLASSES, ONLY and SKIP lists of words for --class, --only and --skip; empty means the default.
set -uo pipefail
report=${REPORT:-conformance-report}

# A report of an earlier job must not be published as this one's.
if grep -qs '"conformance-report/' "$report/report.json"; then
    rm -f "$report"/{report.json,report.html,junit.xml,summary.md,earl.jsonld,ctrf.json,badge.svg,exchanges.har}
fi

refuse() {
    echo "Exit 2: $1" >&2
    publish "Exit 2: $1"
    exit 2
}

publish() {
    [ -n "${GITHUB_STEP_SUMMARY:-}" ] || return 0
    if [ -f "$report/summary.md" ]; then
        cat "$report/summary.md"
    else
        printf '# Conformance: not tested\n\n    %s\n' "$1"
    fi >>"$GITHUB_STEP_SUMMARY"
}

if [ -z "${TARGET:-}" ] && [ -z "${CONFORMANCE_BASE_URL:-}" ]; then
    refuse "Neither CONFORMANCE_BASE_URL nor TARGET names what to test."
fi
options=(--report "$report" --effort "${EFFORT:-quick}")
case "${MODE:-default}" in
    read-only | disposable) options+=("--$MODE") ;;
    default) ;;
    *) refuse "MODE is read-only, default or disposable, not $MODE." ;;
esac
strict=${STRICT:-false}
case "${strict,,}" in
    true | yes | on | 1) options+=(--strict) ;;
    false | no | off | 0) ;;
    *) refuse "STRICT is true or false, not $STRICT." ;;
esac
[ -n "${TARGET:-}" ] && options+=(--target "$TARGET")
[ -n "${WAIVERS:-}" ] && options+=(--waivers "$WAIVERS")
[ -n "${BASELINE:-}" ] && options+=(--baseline "$BASELINE")
set -f # patterns are for the suite, not for the shell
for name in ${CLASSES:-}; do options+=(--class "$name"); done
for pattern in ${ONLY:-}; do options+=(--only "$pattern"); done
for pattern in ${SKIP:-}; do options+=(--skip "$pattern"); done

said=$(mktemp)
trap 'rm -f "$said"' EXIT
{ conformance run "${options[@]}" 2>&1 1>&3 | tee "$said" >&2; } 3>&1
status=${PIPESTATUS[0]}

publish "$(tail -n 1 "$said")"
if [ -f "$report/report.json" ] && [ -n "${GITHUB_OUTPUT:-}" ]; then
    verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$report/report.json")
    echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
fi
exit "$status"
