#!/bin/sh
# A provisioner: JSON-RPC 2.0 on standard input and output, one message on each line.
# It passes every message to the sandbox of `conformance serve`, which prints the two variables that it needs.
# A vendor's provisioner calls the vendor's administration instead.
while IFS= read -r message; do
    printf '%s' "$message" |
        curl --silent --show-error --max-time 10 \
            --header "Authorization: Bearer $CONFORMANCE_SANDBOX_TOKEN" \
            --header 'Content-Type: application/json' \
            --data-binary @- "$CONFORMANCE_SANDBOX_URL" |
        tr -d '\n'
    printf '\n'
done
