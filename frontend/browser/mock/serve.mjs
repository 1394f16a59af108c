// A made-up server for looking at the console without a real one: dist/ under the real content security policy,
// and answers from data.mjs. Never shipped. PORT (0 = any), user lin, password reeve.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import * as data from "./data.mjs";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const FINAL = ["succeeded", "failed", "cancelled"];
const streams = new Set();
let position = 81_300;

const page = (items, url) => {
  const from = Number(url.searchParams.get("cursor") ?? 0);
  const limit = Number(url.searchParams.get("limit") ?? 50);
  const next = from + limit < items.length ? String(from + limit) : null;
  return { items: items.slice(from, from + limit), next_cursor: next };
};
const named = (of, text) => !text || of?.id === text || of?.slug === text;
const byId = (list, id) => list.find((one) => one.id === id);

function tell(type, id, action) {
  position += 1;
  for (const stream of streams)
    stream.write(`id: ${position}\nevent: change\ndata: ${JSON.stringify({ type, id, action })}\n\n`);
}

function listJobs(url) {
  const get = (name) => url.searchParams.get(name);
  const states = url.searchParams.getAll("state");
  const other = data.jobs.filter(
    (job) =>
      named(job.team, get("team")) &&
      named(job.queue, get("queue")) &&
      (!get("kind") || job.kind === get("kind")) &&
      (!get("user") || job.user.username === get("user")) &&
      (!get("reason") || job.reason?.code === get("reason")) &&
      (!get("name_contains") || job.name.includes(get("name_contains"))),
  );
  const counts = {};
  for (const job of other) counts[job.state] = (counts[job.state] ?? 0) + 1;
  const answer = page(
    other.filter((job) => !states.length || states.includes(job.state)),
    url,
  );
  return get("count") ? { ...answer, counts } : answer;
}

function submit(body) {
  if (body.gpus > 64) {
    return [
      422,
      {
        code: "invalid_body",
        title: "Some fields are wrong",
        errors: [{ pointer: "/gpus", code: "too_many", detail: "at most 64 here" }],
      },
    ];
  }
  const team = data.teams.find((one) => one.slug === body.team);
  const job = {
    ...data.jobs[0],
    ...body,
    id: data.jobs[0].id.replace(/.{4}$/, randomBytes(2).toString("hex")),
    team: { id: team.id, slug: team.slug, name: team.name },
    queue: data.jobs[0].queue,
    state: "queued",
    eviction_count: 0,
    run_number: 0,
    pools: [],
    gpus_total: body.gpus * (body.replicas ?? 1),
    submitted_at: new Date().toISOString(),
    reason: { code: "waiting_for_evictions", since: null },
  };
  data.jobs.unshift(job);
  setTimeout(() => tell("job", job.id, "job.submitted"), 100);
  return [201, job];
}

function act(job, verb) {
  if (verb === "hold") job.held = true;
  if (verb === "release") job.held = false;
  if (verb === "cancel")
    Object.assign(job, { state: "cancelled", end_cause: "cancelled", finished_at: new Date().toISOString() });
  if (verb === "requeue")
    Object.assign(job, { state: "queued", reason: { code: "behind_others", since: null } });
  tell("job", job.id, `job.${verb}`);
  return job;
}

function ofJob(job, part, url) {
  if (!part) return job;
  if (part === "rules") return { kind: job.kind, policy_version: 0, rules: [] };
  if (part === "explain") return data.explainOf(job);
  if (part === "runs") return page(data.runsOf(job), url);
  if (part === "events") return page(data.eventsOf(job), url);
  if (part === "evictions") return page(data.reclaims.flatMap((one) => one.evictions).slice(0, 1), url);
  return null;
}

function answer(method, parts, url, body) {
  const [what, id, part] = parts;
  const found = (thing) => (thing ? [200, thing] : [404, { code: "not_found", title: "Not found" }]);
  if (what === "jobs" && method === "POST" && !id) return submit(body);
  if (what === "jobs" && !id) return [200, listJobs(url)];
  if (what === "jobs" && method === "POST") return found(act(byId(data.jobs, id), part));
  if (what === "jobs") return found(byId(data.jobs, id) && ofJob(byId(data.jobs, id), part, url));
  if (what === "overview") return [200, id === "history" ? { points: data.history } : data.overview()];
  if (what === "runs" || what === "planned-starts" || id === "versions") return [200, page([], url)];
  if (what === "policy" && id === "effective") return [200, { policy_version: 0, kinds: [] }];
  if (what === "policy") return [200, { version: 0, document: {}, created_by: null, created_at: null }];
  if (what === "teams") return [200, page(data.teams, url)];
  if (what === "pools") return [200, page(data.pools, url)];
  if (what === "nodes")
    return [
      200,
      page(
        data.nodes.filter((node) => named(node.pool, url.searchParams.get("pool"))),
        url,
      ),
    ];
  if (what === "quotas") {
    const wanted = (name) => url.searchParams.get(name);
    return [
      200,
      page(
        data.quotas.filter((one) => named(one.team, wanted("team")) && named(one.pool, wanted("pool"))),
        url,
      ),
    ];
  }
  if (what === "queues" && !id)
    return [
      200,
      page(
        data.queues.filter((one) => named(one.team, url.searchParams.get("team"))),
        url,
      ),
    ];
  if (what === "queues" && part === "line") {
    const line = data.jobs.filter((job) => job.state === "queued").slice(0, 24);
    const places = line.map((job, n) => ({
      ...job,
      position: n + 1,
      job: data.jobRef(job),
      reason_code: job.reason?.code ?? null,
    }));
    return [200, page(places, url)];
  }
  if (what === "queues") return found(Object.assign(byId(data.queues, id) ?? {}, body));
  if (what === "loans" && id === "matrix") {
    const open = data.loans.filter(
      (loan) => !loan.ended_at && loan.pool.slug === url.searchParams.get("pool"),
    );
    return [200, { pool: data.pools[0], as_of: data.ago(0), cells: open }];
  }
  if (what === "loans") {
    const team = url.searchParams.get("team");
    const open = url.searchParams.get("open") === "true";
    return [
      200,
      page(
        data.loans.filter(
          (loan) => (!open || !loan.ended_at) && (named(loan.borrower, team) || named(loan.lender, team)),
        ),
        url,
      ),
    ];
  }
  if (what === "reclaims" && !id)
    return [
      200,
      page(
        data.reclaims.filter((one) => [null, one.state].includes(url.searchParams.get("state"))),
        url,
      ),
    ];
  if (what === "reclaims") return found(byId(data.reclaims, id));
  if (what === "evictions")
    return found(
      byId(
        data.reclaims.flatMap((one) => one.evictions),
        id,
      ),
    );
  return [404, { code: "not_found", title: "Not found" }];
}

function log(response, url, job) {
  const lines = Array.from(
    { length: 900 },
    (_, n) => `[${n}] epoch ${Math.floor(n / 90)} loss ${(4 / (n + 1)).toFixed(4)} 学习率 3e-4\n`,
  );
  const all = Buffer.from(lines.join(""));
  const offset = url.searchParams.get("offset");
  const start =
    offset === null
      ? Math.max(0, all.length - Number(url.searchParams.get("tail_bytes") ?? all.length))
      : Number(offset);
  response.writeHead(200, {
    "content-type": "text/plain; charset=utf-8",
    "reeve-log-start": start,
    "reeve-log-next": all.length,
    "reeve-log-complete": String(FINAL.includes(job.state)),
    ...(url.searchParams.get("download") && { "content-disposition": "attachment; filename=job.log" }),
  });
  response.end(all.subarray(start));
}

function file(response, path) {
  const isPage = !existsSync(`${DIST}${path}`) || path === "/";
  const name = isPage ? "/index.html" : path;
  const nonce = randomBytes(16).toString("base64");
  const text = readFileSync(`${DIST}${name}`, "utf8").replace(
    'name="csp-nonce" content=""',
    `name="csp-nonce" content="${nonce}"`,
  );
  response.writeHead(200, {
    "content-type": TYPES[extname(name)],
    "content-security-policy": `default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  });
  response.end(text);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://mock");
  if (!url.pathname.startsWith("/api/")) return file(response, url.pathname);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : {};
  const send = (status, answered, headers = {}) => {
    response.writeHead(status, {
      "content-type": status < 400 ? "application/json" : "application/problem+json",
      ...headers,
    });
    response.end(
      answered === undefined
        ? ""
        : JSON.stringify(
            status < 400 ? answered : { type: "about:blank", status, request_id: "mock", ...answered },
          ),
    );
  };
  const parts = url.pathname.split("/").slice(3);
  const path = parts.join("/");
  if (path === "auth/sign-in") {
    if (body.username !== "lin" || body.password !== "reeve")
      return send(401, { code: "sign_in_failed", title: "Wrong" });
    return send(200, { user: data.me }, { "set-cookie": "reeve_session=1; HttpOnly; Path=/" });
  }
  if (path === "auth/sign-out")
    return send(204, undefined, { "set-cookie": "reeve_session=; Max-Age=0; Path=/" });
  if (!/reeve_session=1/.test(request.headers.cookie ?? ""))
    return send(401, { code: "unauthenticated", title: "Sign in" });
  if (path === "me") return send(200, Object.assign(data.me, request.method === "PATCH" ? body : {}));
  if (path === "events") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": hello\n\n");
    streams.add(response);
    return request.on("close", () => streams.delete(response));
  }
  if (parts[0] === "jobs" && parts[2] === "logs") return log(response, url, byId(data.jobs, parts[1]));
  const [status, answered] = answer(request.method, parts, url, body);
  return send(status, answered);
});
const beats = setInterval(() => tell("loan", null, "loan.changed"), 4000);
beats.unref();
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
