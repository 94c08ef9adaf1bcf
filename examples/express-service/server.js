// The core of the interface, in memory, for an organization with one owner. It has two deliberate faults.
import express from "express";
const KEY = process.env.API_KEY ?? "express-example-key", LIMIT = 100000;
const CODES = { 400: "BAD_REQUEST", 401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "CONFLICT", 500: "INTERNAL_ERROR" };
const KNOWN = { status: ["active", "archived"], sort: ["createdAt", "updatedAt", "name"], order: ["asc", "desc"],
  role: ["owner", "admin", "member"] };
const now = () => new Date().toISOString();
const owner = { id: "u_1", name: "Olga", email: "olga@example.com", role: "owner", joinedAt: now(), lastSeenAt: now() };
const organization = { id: "org_1", name: "Example", slug: "example", plan: "free", memberCount: 1, createdAt: now(),
  settings: { requireTwoFactor: false, domainAutoJoin: false, ssoEnabled: false } };
const engagements = new Map(), limit = { used: 0, reset: 0 };
const need = (condition, message, status = 400) => { if (!condition) throw Object.assign(Error(message), { status }); };
const found = (id) => engagements.get(id) ?? need(false, "There is no such engagement.", 404);
const one = (resource) => ({ data: resource });
const change = (item, values) => one(Object.assign(item, values, { updatedAt: now() }));
const object = (body) => (body?.constructor === Object ? body : need(false, "The body must be a JSON object."));
const texts = ({ name, description }) => {
  need([name, description ?? ""].every((text) => typeof text === "string"), "name and description are texts.");
  return { name, description: description ?? "" };
};
const paged = (items, { page = "1", perPage = "20", ...rest }) => {
  for (const [name, value] of Object.entries(rest)) need(KNOWN[name]?.includes(value) ?? true, `Bad ${name}.`);
  need([page, perPage].every((text) => /^[1-9]\d{0,8}$/.test(text)) && perPage <= 100, "There is no such page.");
  const meta = { total: items.length, page: +page, perPage: +perPage, totalPages: Math.ceil(items.length / perPage) };
  return { data: items.slice((page - 1) * perPage, page * perPage), meta };
};
const app = express().use((request, response, next) => {
  if (Date.now() / 1000 >= limit.reset) Object.assign(limit, { used: 0, reset: Math.floor(Date.now() / 1000) + 60 });
  const remaining = LIMIT - ++limit.used;
  response.set({ "X-RateLimit-Limit": LIMIT, "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": limit.reset });
  need(request.get("Authorization") === `Bearer ${KEY}`, "The API key is missing or invalid.", 401);
  next();
}, express.json());
const route = (method, path, answer, status = 200) => app[method](`/api/v1${path}`, (request, response) =>
  response.status(status).json(answer({ ...request.params, ...request.query }, request.body)));
route("get", "/organizations/current", () => one({ ...organization, engagementCount: engagements.size }));
route("get", "/organizations/current/members", (query) =>
  paged((query.role ?? "owner") === "owner" ? [owner] : [], query));
route("get", "/engagements", (query) => {
  const { status, sort = "createdAt" } = query;
  const items = [...engagements.values()].filter((item) => item.status === (status ?? item.status));
  return paged(items.sort((one, other) => (one[sort] < other[sort] ? -1 : 1)), query); // fault: order is ignored
});
route("post", "/engagements", (_, body) => {
  const [id, createdAt] = [crypto.randomUUID(), now()];
  engagements.set(id, { id, ...texts(object(body)), status: "active", createdAt, updatedAt: createdAt });
  return one(found(id));
}, 201);
route("get", "/engagements/:id", ({ id }) => one(found(id)));
// fault: an archived engagement can be edited
route("patch", "/engagements/:id", ({ id }, body) => change(found(id), texts({ ...found(id), ...object(body) })));
route("post", "/engagements/:id/archive", ({ id }) => change(found(id), { status: "archived" }));
route("post", "/engagements/:id/unarchive", ({ id }) => change(found(id), { status: "active" }));
route("delete", "/engagements/:id", ({ id }) => one({ deleted: engagements.delete(found(id).id), id }));
app.use(() => need(false, "There is nothing here.", 404));
app.use(({ status = 500, message }, _request, response, _next) => {
  response.status(status).json({ error: { code: CODES[status] ?? "BAD_REQUEST", message, statusCode: status } });
});
const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}`));
