import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newKey, whenSignedOut } from "../src/api/client";
import { actOnJob, listJobs, listQuotas, showMe, submitJob, updateQueue } from "../src/api/operations";
import { fieldOf, Problem } from "../src/api/problem";
import type { Queue } from "../src/api/views";
import { refetcher } from "../src/live/refetch";

const reply = (status: number, body: unknown = {}, headers: Record<string, string> = {}) =>
  new Response(status === 204 ? null : JSON.stringify(body), { status, headers });

describe("the client", () => {
  it("says a detail that only repeats the fields once", () => {
    const field = { pointer: "/gpus", code: "too_small", detail: "must be at least 1" };
    const body = { type: "t", title: "Invalid", status: 422, code: "invalid" };
    expect(
      new Problem({ ...body, detail: "/gpus: must be at least 1", errors: [field] }).ownDetail,
    ).toBeUndefined();
    expect(new Problem({ ...body, detail: "wrong in itself", errors: [field] }).ownDetail).toBe(
      "wrong in itself",
    );
    expect(new Problem({ ...body, detail: "not found" }).ownDetail).toBe("not found");
  });

  const fetched = vi.fn<(request: Request) => Promise<Response>>();
  const pathOf = (request: Request) => request.url.replace(location.origin, "");
  const paths = () => fetched.mock.calls.map(([request]) => `${request.method} ${pathOf(request)}`);
  const spec = { name: "a", team: "vision", command: ["true"] };
  beforeEach(() => {
    localStorage.clear();
    fetched.mockReset();
    vi.stubGlobal("fetch", fetched);
  });
  afterEach(() => vi.unstubAllGlobals());

  it("renews the session once for all that are refused together, and repeats them", async () => {
    let signedIn = false;
    fetched.mockImplementation(async ({ url }) => {
      if (url.includes("/auth/refresh")) signedIn = true;
      return signedIn ? reply(200, { ok: true }) : reply(401);
    });
    await expect(Promise.all([showMe(), actOnJob("1", "hold")])).resolves.toEqual([
      { ok: true },
      { ok: true },
    ]);
    expect(paths().filter((path) => path.includes("/auth/refresh"))).toHaveLength(1);
  });
  it("says that nobody is signed in when the session cannot be renewed", async () => {
    const out = vi.fn();
    whenSignedOut(out);
    fetched.mockImplementation(async () =>
      reply(401, { code: "unauthenticated", title: "Not signed in", status: 401 }),
    );
    await expect(listJobs({})).rejects.toMatchObject({ status: 401, code: "unauthenticated" });
    expect(paths().filter((path) => path.includes("/jobs"))).toHaveLength(1);
    expect(out).toHaveBeenCalledTimes(1);
  });
  it("keeps the problem whole, and makes one of what is none", async () => {
    const body = {
      type: "/problems/invalid_body",
      title: "Some fields are wrong",
      status: 422,
      code: "invalid_body",
      errors: [{ pointer: "/gpus", code: "out_of_range", detail: "0 to 1024" }],
      request_id: "r-1",
    };
    fetched.mockResolvedValueOnce(reply(422, body));
    const problem = (await submitJob(spec, "k").catch((error: unknown) => error)) as Problem;
    expect(problem).toBeInstanceOf(Problem);
    expect(problem.body).toMatchObject({ request_id: "r-1", errors: body.errors });
    expect(fieldOf("/gpus")).toBe("gpus");
    expect(fieldOf("/env/A")).toBe("env");
    fetched.mockResolvedValueOnce(new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
    await expect(listJobs({})).rejects.toMatchObject({ status: 502, code: "http_502" });
    fetched.mockRejectedValueOnce(new TypeError("connection refused"));
    await expect(listJobs({})).rejects.toMatchObject({ unreachable: true });
  });
  it("sends the key it was given, and a new one otherwise", async () => {
    fetched.mockImplementation(async () => reply(201));
    await submitJob(spec, "k1");
    await actOnJob("1", "cancel");
    const keys = fetched.mock.calls.map(([request]) => request.headers.get("Idempotency-Key"));
    expect(keys[0]).toBe("k1");
    expect(keys[1]).toMatch(/^[0-9a-f]{32}$/);
    expect(newKey()).not.toBe(newKey());
  });
  it("writes queries with repeated names and leaves out what is not set", async () => {
    fetched.mockImplementation(async () => reply(200, { items: [] }));
    await listJobs({ state: ["queued", "running"], team: undefined }, null, 5, true);
    expect(paths()).toEqual(["GET /api/v1/jobs?state=queued&state=running&limit=5&count=true"]);
  });
  it("changes only what is as it was seen", async () => {
    fetched.mockImplementation(async () => reply(200));
    await updateQueue({ id: "q 1", version: 7 } as Queue, { state: "held" });
    expect(paths()).toEqual(["PATCH /api/v1/queues/q%201"]);
    expect(fetched.mock.calls[0]?.[0].headers.get("If-Match")).toBe('"7"');
    expect(await fetched.mock.calls[0]?.[0].json()).toEqual({ state: "held" });
  });
  it("reads all pages of what stays small", async () => {
    fetched.mockImplementation(async ({ url }) =>
      url.includes("cursor=c2") ? reply(200, { items: [2] }) : reply(200, { items: [1], next_cursor: "c2" }),
    );
    await expect(listQuotas({ pool: "a100" })).resolves.toEqual([1, 2]);
  });
});

describe("refetching under a stream of changes", () => {
  it("lets a slow answer arrive, and asks once more for what it may have missed", async () => {
    vi.useFakeTimers();
    const client = new QueryClient();
    let asked = 0;
    const seen: number[] = [];
    const observer = new QueryObserver(client, {
      queryKey: ["jobs"],
      queryFn: async () => {
        asked += 1;
        const mine = asked;
        await new Promise((done) => setTimeout(done, 3000));
        return mine;
      },
    });
    const stop = observer.subscribe((result) => result.data !== undefined && seen.push(result.data));
    const refetch = refetcher(client);
    for (let second = 0; second < 10; second += 1) {
      await vi.advanceTimersByTimeAsync(1000);
      refetch([["jobs"]]);
    }
    expect(seen).toContain(1);
    expect(seen).toContain(2);
    const before = asked;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toBeGreaterThan(before);
    const settled = asked;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked).toBe(settled);
    stop();
    client.clear();
    vi.useRealTimers();
  });
});
