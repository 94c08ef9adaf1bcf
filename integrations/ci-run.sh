#!/usr/bin/env bash
# One run in a pipeline: options come from variables, the summary goes where the pipeline shows it.
#
# CONFORMANCE_BASE_URL and CONFORMANCE_API_KEY name the target; TARGET, EFFORT, MODE, WAIVERS, BASELINE, STRICT and REPORT are
# the options of the same names; empty means the default.
set -uo pipefail
if [ -z "${TARGET:-}" ] && [ -z "${CONFORMANCE_BASE_URL:-}" ]; then
    echo "Neither CONFORMANCE_BASE_URL nor TARGET names what to test." >&2
    exit 2
fi
report=${REPORT:-conformance-report}
options=(--report "$report" --effort "${EFFORT:-quick}")
case "${MODE:-default}" in
    read-only | disposable) options+=("--$MODE") ;;
    default) ;;
    *) echo "MODE is read-only, default or disposable, not $MODE" >&2; exit 2 ;;
esac
[ -n "${TARGET:-}" ] && options+=(--target "$TARGET")
[ -n "${WAIVERS:-}" ] && options+=(--waivers "$WAIVERS")
[ -n "${BASELINE:-}" ] && options+=(--baseline "$BASELINE")
[ "${STRICT:-false}" = true ] && options+=(--strict)

conformance run "${options[@]}"
status=$?

if [ -f "$report/summary.md" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$report/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -f "$report/report.json" ] && [ -n "${GITHUB_OUTPUT:-}" ]; then
    verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$report/report.json")
    echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
fi
exit "$status"
