#!/bin/sh
# A provisioner: JSON-RPC 2.0 on standard input and output, one message on each line. It needs jq.
#
# Add a case for each method that your administration can carry out; it prints the result as JSON. A method that is
# missing leaves the requirements that need it untested. Standard error is in provisioner.log.
carry_out() { # METHOD PARAMS
    case $1 in
    # create_key) your_administration create-key "$(printf '%s' "$2" | jq -r '.scopes | join(",")')" | jq -cR '{key: .}' ;;
    # create_throttled_key) {"key"}
    # create_member) role: {"userId", "email", "key"}
    # create_organization) {"key"}
    # read_mail) to: {"messages": [{"from", "subject", "text"}]}
    # create_subordinate) engagementId, kind: {"id"}
    # subordinate_exists) engagementId, kind, id: {"exists"}
    *) return 120 ;; # no such method
    esac
}

while IFS= read -r message; do
    id=$(printf '%s' "$message" | jq -c .id)
    method=$(printf '%s' "$message" | jq -r .method)
    result=$(carry_out "$method" "$(printf '%s' "$message" | jq -c .params)")
    status=$?
    if [ $status -eq 120 ]; then
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"This provisioner has no such method."}}\n' "$id"
    elif [ $status -ne 0 ]; then
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Status %s."}}\n' "$id" "$status"
    else
        printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
    fi
done
