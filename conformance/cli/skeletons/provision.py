"""A provisioner: JSON-RPC 2.0 on standard input and output, one message on each line.

Add a function to METHODS for each method that your administration can carry out. A method that is missing leaves the
requirements that need it untested. What this program prints on standard error is in provisioner.log.
"""

import json
import sys

METHODS = {
    # "create_key": lambda scopes: {"key": your_administration.create_key(scopes)},
    # "create_throttled_key": lambda: {"key": ...},
    # "create_member": lambda role: {"userId": ..., "email": ..., "key": ...},
    # "create_organization": lambda: {"key": ...},
    # "read_mail": lambda to: {"messages": [{"from": ..., "subject": ..., "text": ...}]},
    # "create_subordinate": lambda engagementId, kind: {"id": ...},
    # "subordinate_exists": lambda engagementId, kind, id: {"exists": True},
}


def respond(method, params):
    """Return the member of the response that says how the method ended."""
    if method not in METHODS:
        return {"error": {"code": -32601, "message": f"This provisioner has no method {method}."}}
    try:
        return {"result": METHODS[method](**params)}
    except Exception as error:
        return {"error": {"code": -32000, "message": str(error)}}


for line in sys.stdin:
    message = json.loads(line)
    ended = respond(message["method"], message.get("params", {}))
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **ended}), flush=True)
