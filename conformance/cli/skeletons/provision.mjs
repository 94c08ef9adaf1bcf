// A provisioner for Node 18 or later: JSON-RPC 2.0 on standard input and output, one message on each line.
//
// Add a function to `methods` for each method that your administration can carry out. A method that is missing leaves
// the requirements that need it untested. What this program prints on standard error is in provisioner.log.
import { createInterface } from "node:readline";

const methods = {
  // create_key: async ({ scopes }) => ({ key: await yourAdministration.createKey(scopes) }),
  // create_throttled_key: async () => ({ key }),
  // create_member: async ({ role }) => ({ userId, email, key }),
  // create_organization: async () => ({ key }),
  // read_mail: async ({ to }) => ({ messages: [{ from, subject, text }] }),
  // create_subordinate: async ({ engagementId, kind }) => ({ id }),
  // subordinate_exists: async ({ engagementId, kind, id }) => ({ exists: true }),
};

async function respond(method, params) {
  if (!Object.hasOwn(methods, method)) {
    return { error: { code: -32601, message: `This provisioner has no method ${method}.` } };
  }
  try {
    return { result: await methods[method](params ?? {}) };
  } catch (error) {
    return { error: { code: -32000, message: String(error.message) } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...(await respond(method, params)) })}\n`);
}
