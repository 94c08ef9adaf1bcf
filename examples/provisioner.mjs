#!/usr/bin/env node
// A provisioner for Node 18 or later: JSON-RPC 2.0 on standard input and output, one message on each line.
// It calls the sandbox of `conformance serve`, which prints the two variables that it needs. A vendor's provisioner calls
// the vendor's administration in `methods` instead. A missing method only leaves the requirements that need it untested.
import { createInterface } from "node:readline";

const METHOD_NOT_FOUND = -32601;
const SERVER_ERROR = -32000;

async function sandbox(method, params) {
  const response = await fetch(process.env.CONFORMANCE_SANDBOX_URL, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.CONFORMANCE_SANDBOX_TOKEN}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  });
  const { result, error } = await response.json();
  if (error) throw new Error(error.message);
  return result;
}

const methods = {
  create_key: ({ scopes }) => sandbox("create_key", { scopes }),
  create_throttled_key: () => sandbox("create_throttled_key", {}),
  create_member: ({ role }) => sandbox("create_member", { role }),
  create_organization: () => sandbox("create_organization", {}),
  read_mail: ({ to }) => sandbox("read_mail", { to }),
  create_subordinate: ({ engagementId, kind }) => sandbox("create_subordinate", { engagementId, kind }),
  subordinate_exists: ({ engagementId, kind, id }) => sandbox("subordinate_exists", { engagementId, kind, id }),
};

async function respond({ id, method, params }) {
  if (!Object.hasOwn(methods, method)) {
    return { jsonrpc: "2.0", id, error: { code: METHOD_NOT_FOUND, message: `This provisioner has no method ${method}.` } };
  }
  try {
    return { jsonrpc: "2.0", id, result: await methods[method](params ?? {}) };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message: String(error.message) } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await respond(JSON.parse(line)))}\n`);
}
