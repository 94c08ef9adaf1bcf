// A small service with the interface, in memory, for an organization with one owner. It has two deliberate faults.
import express from "express";
import { randomUUID } from "node:crypto";

const KEY = process.env.API_KEY ?? "express-example-key";
const CODES = { 400: "BAD_REQUEST", 401: "UNAUTHORIZED", 404: "NOT_FOUND", 409: "CONFLICT", 500: "INTERNAL_ERROR" };
const now = () => new Date().toISOString();
const owner = { id: "u_1", name: "Olga", email: "olga@example.com", role: "owner", joinedAt: now(), lastSeenAt: now() };
const settings = { requireTwoFactor: false, domainAutoJoin: false, ssoEnabled: false };
const organization = { id: "org_1", name: "Example", slug: "example", plan: "free", createdAt: now(), settings };
const engagements = new Map();
const used = { requests: 0, reset: 0 };
const need = (condition, message, status = 400) => { if (!condition) throw Object.assign(Error(message), { status }); };
const found = (id) => engagements.get(id) ?? need(false, "Engagement not found", 404);
const needTexts = (...values) => need(values.every((value) => typeof value === "string"), "A text is expected.");
const whole = (text, most) => {
  need(/^\d+$/.test(text) && text >= 1 && text <= most, `page and perPage are integers from 1, perPage to 100.`);
  return Number(text);
};
const paged = (items, { page = "1", perPage = "20" }) => {
  const [number, size, total] = [whole(page, 1e9), whole(perPage, 100), items.length];
  const meta = { total, page: number, perPage: size, totalPages: Math.ceil(total / size) };
  return { data: items.slice((number - 1) * size, number * size), meta };
};

const app = express(), api = express.Router();
app.use((request, response, next) => {
  if (Date.now() / 1000 >= used.reset) Object.assign(used, { requests: 0, reset: Math.floor(Date.now() / 1000) + 60 });
  used.requests += 1;
  response.set("X-RateLimit-Limit", 100000).set("X-RateLimit-Remaining", 100000 - used.requests);
  response.set("X-RateLimit-Reset", used.reset);
  need(request.get("Authorization") === `Bearer ${KEY}`, "The API key is missing or invalid.", 401);
  next();
});
app.use(express.json(), ({ method, path, body }, _, next) => {
  const hasBody = /POST|PATCH/.test(method) && !path.endsWith("archive");
  need(!hasBody || (body && !Array.isArray(body)), "The body must be a JSON object.");
  next();
});
api.get("/organizations/current", (_, response) => {
  response.json({ data: { ...organization, memberCount: 1, engagementCount: engagements.size } });
});
api.patch("/organizations/current", ({ body: { name = organization.name } }, response) => {
  needTexts(name);
  Object.assign(organization, { name });
  response.json({ data: { id: organization.id, name, slug: organization.slug, updatedAt: now() } });
});
api.get("/organizations/current/members", ({ query }, response) => {
  need([undefined, "owner", "admin", "member"].includes(query.role), "There is no such role.");
  response.json(paged([owner].filter(({ role }) => role === (query.role ?? role)), query));
});
api.post("/organizations/current/members/invite", ({ body: { email, role } }, response) => {
  need(String(email).includes("@") && ["admin", "member"].includes(role), "email is an address, role admin or member.");
  const expiresAt = new Date(Date.now() + 7 * 86400000).toISOString();
  response.status(201).json({ data: { id: randomUUID(), email, role, status: "pending", expiresAt, createdAt: now() } });
});
api.all("/organizations/current/members/:id", ({ params, method, body }) => {
  need(method !== "PATCH" || ["admin", "member"].includes(body.role), "role is admin or member.");
  need(false, "The owner stays.", params.id === owner.id ? 409 : 404);
});
api.get("/engagements", ({ query }, response) => {
  const { status, sort = "createdAt", order = "desc" } = query;
  need([undefined, "active", "archived"].includes(status) && ["asc", "desc"].includes(order), "Bad status or order.");
  need(["createdAt", "updatedAt", "name"].includes(sort), "The list is not sorted by that.");
  const items = [...engagements.values()].filter((item) => item.status === (status ?? item.status));
  response.json(paged(items.sort((one, other) => (one[sort] < other[sort] ? -1 : 1)), query)); // fault: order is ignored
});
api.post("/engagements", ({ body: { name, description } }, response) => {
  needTexts(name, description ?? "");
  const item = { id: randomUUID(), name, description: description ?? "", status: "active", createdAt: now() };
  engagements.set(item.id, Object.assign(item, { updatedAt: item.createdAt }));
  response.status(201).json({ data: item });
});
api.get("/engagements/:id", ({ params }, response) => response.json({ data: found(params.id) }));
api.patch("/engagements/:id", ({ params, body }, response) => {
  const item = found(params.id); // fault: an archived engagement can be edited
  const { name = item.name, description = item.description } = body;
  needTexts(name, description ?? "");
  response.json({ data: Object.assign(item, { name, description: description ?? "", updatedAt: now() }) });
});
for (const [path, status] of [["archive", "archived"], ["unarchive", "active"]]) {
  api.post(`/engagements/:id/${path}`, ({ params }, response) => {
    response.json({ data: Object.assign(found(params.id), { status, updatedAt: now() }) });
  });
}
api.delete("/engagements/:id", ({ params }, response) => {
  engagements.delete(found(params.id).id);
  response.json({ data: { deleted: true, id: params.id } });
});
app.use("/api/v1", api);
app.use(() => need(false, "There is nothing here.", 404));
app.use((error, _request, response, _next) => {
  const status = CODES[error.status] ? error.status : 500;
  response.status(status).json({ error: { code: CODES[status], message: error.message, statusCode: status } });
});
const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
