import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Key, keysOfAll } from "../src/live/invalidation";
import { followChanges } from "../src/live/stream";

class FakeSource {
  static all: FakeSource[] = [];
  readyState = 1;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  heard = new Map<string, (event: MessageEvent<string>) => void>();
  constructor(readonly url: string) {
    FakeSource.all.push(this);
  }
  addEventListener(name: string, listener: (event: MessageEvent<string>) => void) {
    this.heard.set(name, listener);
  }
  close() {
    this.readyState = 2;
  }
  say(change: unknown) {
    this.heard.get("change")?.(new MessageEvent("change", { data: JSON.stringify(change) }));
  }
}

describe("what a change makes old", () => {
  it("names a job's own answers and the lists that show it", () => {
    const keys = keysOfAll([{ type: "job", id: "j1" }]);
    expect(keys).toContainEqual(["job", "j1"]);
    expect(keys).toContainEqual(["jobs"]);
    expect(keys).toContainEqual(["quotas"]);
  });
  it("names each key once, and drops what a shorter one covers", () => {
    const keys = keysOfAll([
      { type: "job", id: "j1" },
      { type: "job", id: "j2" },
      { type: "reclaim", id: "r" },
    ]);
    expect(keys.filter((key) => key[0] === "job")).toEqual([["job"]]);
    expect(new Set(keys.map((key) => key.join())).size).toBe(keys.length);
  });
  it("refetches everything after a gap or a type it does not know", () => {
    expect(keysOfAll([{ type: "resync" }, { type: "job" }])).toEqual([[]]);
    expect(keysOfAll([{ type: "something-new" }])).toEqual([[]]);
  });
});

describe("the live stream", () => {
  let invalidated: Key[][];
  let states: string[];
  let stop: () => void;
  const fetched = vi.fn(async () => new Response("{}", { status: 200 }));
  const source = () => FakeSource.all.at(-1) as FakeSource;
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fetched);
    fetched.mockClear();
    localStorage.clear();
    FakeSource.all = [];
    invalidated = [];
    states = [];
    stop = followChanges({
      open: (url) => new FakeSource(url),
      invalidate: (keys) => invalidated.push(keys),
      onState: (state) => states.push(state.link),
    });
    source().onopen?.();
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("makes one refetch of a burst", () => {
    for (let n = 0; n < 500; n += 1) source().say({ type: "job", id: `j${n}` });
    expect(invalidated).toHaveLength(0);
    vi.advanceTimersByTime(1100);
    expect(invalidated).toHaveLength(1);
  });
  it("keeps a second between refetches, and loses none", () => {
    source().say({ type: "loan" });
    vi.advanceTimersByTime(300);
    source().say({ type: "node" });
    vi.advanceTimersByTime(300);
    expect(invalidated).toHaveLength(1);
    vi.advanceTimersByTime(800);
    expect(invalidated).toHaveLength(2);
    expect(invalidated[1]).toContainEqual(["nodes"]);
  });
  it("leaves a short break to the browser, which resumes by Last-Event-ID", () => {
    source().readyState = 0;
    source().onerror?.();
    vi.advanceTimersByTime(60_000);
    expect(states.at(-1)).toBe("lost");
    expect(FakeSource.all).toHaveLength(1);
    source().onopen?.();
    expect(states.at(-1)).toBe("live");
    expect(invalidated).toHaveLength(0);
  });
  it("renews the session when the server ended the stream, and then refetches everything", async () => {
    source().readyState = 2;
    source().onerror?.();
    await vi.advanceTimersByTimeAsync(1100);
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(FakeSource.all).toHaveLength(2);
    source().onopen?.();
    await vi.advanceTimersByTimeAsync(1500);
    expect(invalidated).toEqual([[[]]]);
  });
  it("ignores what is no change", () => {
    source().heard.get("change")?.(new MessageEvent("change", { data: "not json" }));
    vi.advanceTimersByTime(2000);
    expect(invalidated).toHaveLength(0);
  });
});
