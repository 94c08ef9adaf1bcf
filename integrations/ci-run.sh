#!/usr/bin/env bash
# One run in a pipeline: options come from variables, and the pipeline shows the summary.
#
# CONFORMANCE_BASE_URL and CONFORMANCE_API_KEY name the target. TARGET, EFFORT, MODE, WAIVERS, BASELINE, STRICT and REPORT
# are the options of the same names. CLASSES, ONLY and SKIP are lists for --class, --only and --skip. OPTIONS are further
# options. ANNOTATIONS says whether annotations for GitHub are printed. Empty means default.
set -uo pipefail
report=${REPORT:-conformance-report}
stderr=$(mktemp)
trap 'rm -f "$stderr"' EXIT

# Remove the outputs of an earlier job; keep the journal for conformance cleanup.
if grep -Eqs '"format": *"conformance-(report|journal)/' "$report/report.json" "$report/journal.jsonl"; then
    for name in report.json report.html junit.xml summary.md ctrf.json earl.jsonld badge.svg report.sarif \
        metrics.prom exchanges.har provisioned.jsonl provisioner.log errors.log; do
        rm -f "$report/$name"
    done
    rm -rf "$report"/reproduce
fi

publish() { # the summary; with status 2 there is no summary, only a last line with the reason
    [ -n "${GITHUB_STEP_SUMMARY:-}" ] || return 0
    if [ "$1" != 2 ] && [ -f "$report/summary.md" ]; then
        cat "$report/summary.md" >>"$GITHUB_STEP_SUMMARY"
    else
        printf '# Conformance: not tested\n' >>"$GITHUB_STEP_SUMMARY"
    fi
    [ "$1" = 0 ] || printf '\n    %s\n' "$(tail -n 1 "$stderr")" >>"$GITHUB_STEP_SUMMARY"
}

annotate() { # the failures; if nothing was tested, the reason
    [ -n "$annotations" ] || return 0
    case "$1" in
        2 | 3) printf '::error title=Conformance::%s\n' "$(tail -n 1 "$stderr" | sed 's/%/%25/g')" ;;
        *) [ ! -f "$report/report.json" ] || conformance render "$report" --format annotations ;;
    esac
}

refuse() {
    echo "Exit 2: $1" | tee "$stderr" >&2
    publish 2
    annotate 2
    exit 2
}

is_true() { # whether the variable of this name is true
    case "$(printf %s "${!1:-}" | tr '[:upper:]' '[:lower:]')" in
        true | yes | on | 1) ;;
        false | no | off | 0 | "") return 1 ;;
        *) refuse "$1 is ${!1}: set it to true or false." ;;
    esac
}

annotations=
if is_true ANNOTATIONS; then annotations=yes; fi

for name in report.json summary.md; do # which a run that is killed would not replace
    [ ! -e "$report/$name" ] || refuse "$report holds $name, which no run wrote: name another folder with REPORT."
done
[ -n "${TARGET:-}" ] || [ -n "${CONFORMANCE_BASE_URL:-}" ] ||
    refuse "No target is named: set CONFORMANCE_BASE_URL or TARGET."
options=(--report "$report" --effort "${EFFORT:-quick}")
case "${MODE:-default}" in
    read-only | disposable) options+=("--$MODE") ;;
    default) ;;
    *) refuse "MODE is $MODE: set it to read-only, default or disposable." ;;
esac
if is_true STRICT; then options+=(--strict); fi
set -f # leave patterns to the suite
for class in ${CLASSES:-}; do options+=(--class "$class"); done
for pattern in ${ONLY:-}; do options+=(--only "$pattern"); done
for pattern in ${SKIP:-}; do options+=(--skip "$pattern"); done
[ -n "${TARGET:-}" ] && options+=(--target "$TARGET")
[ -n "${WAIVERS:-}" ] && options+=(--waivers "$WAIVERS")
[ -n "${BASELINE:-}" ] && options+=(--baseline "$BASELINE")
for word in ${OPTIONS:-}; do options+=("$word"); done

{
    conformance run "${options[@]}" 2>&1 >&3 | tee "$stderr" >&2
    status=${PIPESTATUS[0]}
} 3>&1

publish "$status"
annotate "$status"
if [ "$status" != 2 ] && [ -f "$report/report.json" ] && [ -n "${GITHUB_OUTPUT:-}" ]; then
    verdict=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdict"])' "$report/report.json")
    echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
fi
exit "$status"
