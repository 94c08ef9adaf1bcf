// A provisioner: JSON-RPC 2.0 on standard input and output, one message on each line.
//
// Add a function to methods for each method that your administration can carry out. A method that is missing leaves the
// requirements that need it untested. What this program prints on standard error is in provisioner.log.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
)

type method func(params map[string]any) (any, error)

var methods = map[string]method{
	// "create_key": func(params map[string]any) (any, error) {
	// 	key, err := createKey(params["scopes"])
	// 	return map[string]string{"key": key}, err
	// },
	// "create_throttled_key": {"key"}
	// "create_member", role: {"userId", "email", "key"}
	// "create_organization": {"key"}
	// "read_mail", to: {"messages": [{"from", "subject", "text"}]}
	// "create_subordinate", engagementId, kind: {"id"}
	// "subordinate_exists", engagementId, kind, id: {"exists"}
}

type request struct {
	ID     any            `json:"id"`
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
}

func respond(asked request) map[string]any {
	response := map[string]any{"jsonrpc": "2.0", "id": asked.ID}
	carryOut, known := methods[asked.Method]
	if !known {
		message := fmt.Sprintf("This provisioner has no method %s.", asked.Method)
		response["error"] = map[string]any{"code": -32601, "message": message}
	} else if result, err := carryOut(asked.Params); err != nil {
		response["error"] = map[string]any{"code": -32000, "message": err.Error()}
	} else {
		response["result"] = result
	}
	return response
}

func main() {
	requests, responses := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked request
		if err := requests.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := responses.Encode(respond(asked)); err != nil {
			log.Fatal(err)
		}
	}
}
