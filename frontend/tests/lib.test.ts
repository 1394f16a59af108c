import { describe, expect, it, vi } from "vitest";
import { JOB_STATES } from "../src/api/views";
import { chooseLocale } from "../src/i18n";
import { formatPairs, joinCommand, parsePairs, splitCommand } from "../src/lib/command-line";
import { allPages, csvCell, csvOf } from "../src/lib/csv";
import { eventFacts, isReport, ruleKey } from "../src/lib/event-words";
import { compareNames, formatDuration, formatMib, formatPercent, formatUtc } from "../src/lib/format";
import { leaveSpan } from "../src/lib/leave-span";
import { loanSteps } from "../src/lib/loan-steps";
import { parseSearch, someOf, stringifySearch } from "../src/lib/search-params";
import { rowsInView } from "../src/lib/window";

describe("CSV", () => {
  it("quotes, and makes plain what a spreadsheet would run", () => {
    expect(csvCell('=HYPERLINK("x")')).toBe('"\'=HYPERLINK(""x"")"');
    expect(["+1", "-1", "@a", "\tb"].map(csvCell)).toEqual(["'+1", "'-1", "'@a", "'\tb"]);
    expect(csvCell(-1)).toBe("-1");
    expect(csvCell("视觉, 训练")).toBe('"视觉, 训练"');
    expect(csvCell(null)).toBe("");
  });
  it("holds every row of every page, in order", async () => {
    const rows = Array.from({ length: 10_001 }, (_, n) => n);
    const load = async (cursor: string | null) => {
      const from = Number(cursor ?? 0);
      const items = rows.slice(from, from + 200);
      return { items, next_cursor: from + 200 < rows.length ? String(from + 200) : null };
    };
    const progress = vi.fn();
    const all = await allPages(load, progress);
    expect(all).toEqual(rows);
    expect(progress).toHaveBeenLastCalledWith(10_001);
    const text = csvOf([{ head: "n", cell: (n: number) => n }], all);
    expect(text.startsWith("\uFEFFn\r\n0\r\n")).toBe(true);
    expect(text.trimEnd().split("\r\n")).toHaveLength(10_002);
  });
});

describe("filters in the address", () => {
  it("survive the way there and back, lists too", () => {
    const search = { state: ["queued", "running"], name_contains: "视觉 a&b=c", team: "vision" };
    expect(parseSearch(stringifySearch(search))).toEqual(search);
  });
  it("leave out what is not set, and keep only known words", () => {
    expect(stringifySearch({ a: undefined, b: "", c: "x" })).toBe("?c=x");
    expect(someOf(JOB_STATES, ["running", "nonsense", "queued"])).toEqual(["queued", "running"]);
    expect(someOf(JOB_STATES, "running")).toEqual(["running"]);
    expect(someOf(JOB_STATES, "nonsense")).toBeUndefined();
  });
  it("keep numbers as they were written", () => {
    expect(parseSearch("?name=007")).toEqual({ name: "007" });
  });
});

describe("the command line", () => {
  it("splits like a shell", () => {
    expect(splitCommand(`sh -c 'echo "a b"' x\\ y "q\\"r" ''`).words).toEqual([
      "sh",
      "-c",
      'echo "a b"',
      "x y",
      'q"r',
      "",
    ]);
    expect(splitCommand("echo 'oops").open).toBe(true);
  });
  it("comes back as the same words", () => {
    for (const words of [
      ["python", "train.py"],
      ["sh", "-c", "echo 'it''s' $HOME"],
      ["", "a b", "视觉"],
    ]) {
      expect(splitCommand(joinCommand(words)).words).toEqual(words);
    }
  });
  it("reads pairs and names the line that is none", () => {
    expect(parsePairs("A=1\n\nB=x=y").pairs).toEqual({ A: "1", B: "x=y" });
    expect(parsePairs("A=1\nnonsense").bad).toBe("nonsense");
    expect(parsePairs(formatPairs({ A: "1", B: "2" })).pairs).toEqual({ A: "1", B: "2" });
  });
});

describe("numbers and times", () => {
  it("follow the language", () => {
    expect(formatDuration(3_905, "en")).toBe("1 hr 5 min");
    expect(formatDuration(3_905, "zh-CN")).toMatch(/1\s?小时 5\s?分钟/);
    expect(formatDuration(0, "en")).toBe("0 sec");
    expect(formatDuration(86_400, "en")).toBe("1 day");
    expect(formatPercent(0, 0, "en")).toBe("0%");
    expect(formatMib(81_920, "en")).toBe("80 GiB");
    expect(formatUtc("2026-03-01T04:05:06.789Z")).toBe("2026-03-01 04:05:06 UTC");
  });
  it("sorts names by pinyin in Chinese, and numbers by value", () => {
    // By code point 上海 would come first.
    expect(["张家口", "上海", "北京"].sort((a, b) => compareNames(a, b, "zh-CN"))).toEqual([
      "北京",
      "上海",
      "张家口",
    ]);
    expect(compareNames("gpu-2", "gpu-10", "en")).toBeLessThan(0);
  });
  it("choose a language: the person's, the browser's, English", () => {
    expect(chooseLocale("zh-CN", ["en-GB"])).toBe("zh-CN");
    expect(chooseLocale(null, ["fr", "zh-TW", "en"])).toBe("zh-CN");
    expect(chooseLocale(null, ["fr"])).toBe("en");
  });
});

describe("the leave bar", () => {
  const told = "2026-03-01T10:00:00Z";
  const at = (secs: number) => new Date(Date.parse(told) + secs * 1000).toISOString();
  it("spans notice to grace when the job left early", () => {
    const span = leaveSpan(
      { notified_at: told, leave_by: at(100), vacated_at: at(25), checkpointed_at: at(10) },
      0,
    );
    expect(span).toEqual({ graceTo: 100, leftAt: 25, checkpointAt: 10, late: false, open: false });
  });
  it("shows how late it was", () => {
    const span = leaveSpan(
      { notified_at: told, leave_by: at(100), vacated_at: at(200), checkpointed_at: null },
      0,
    );
    expect(span).toEqual({ graceTo: 50, leftAt: 100, checkpointAt: null, late: true, open: false });
  });
  it("runs with the clock while it leaves", () => {
    const span = leaveSpan(
      { notified_at: told, leave_by: at(100), vacated_at: null, checkpointed_at: null },
      Date.parse(at(40)),
    );
    expect(span).toMatchObject({ leftAt: 40, late: false, open: true });
  });
});

describe("a team's loans over time", () => {
  const team = (id: string) => ({ id, slug: id, name: id });
  const loan = (borrower: string, lender: string | null, gpus: number, from: string, to: string | null) => ({
    id: from,
    pool: { id: "p", slug: "p" },
    borrower: team(borrower),
    lender: lender ? team(lender) : null,
    gpus,
    started_at: `2026-03-0${from}T00:00:00.000Z`,
    ended_at: to && `2026-03-0${to}T00:00:00.000Z`,
  });
  it("adds up as steps, cut at the start of the window", () => {
    const steps = loanSteps(
      [
        loan("b", "a", 4, "1", "4"),
        loan("b", null, 2, "3", null),
        loan("a", "b", 1, "5", null),
        loan("b", "a", 9, "1", "2"),
      ],
      "b",
      "2026-03-02T00:00:00.000Z",
      "2026-03-06T00:00:00.000Z",
    );
    expect(steps.map((step) => [step.at.slice(8, 10), step.borrowed, step.lent])).toEqual([
      ["02", 4, 0],
      ["03", 6, 0],
      ["04", 2, 0],
      ["05", 2, 1],
      ["06", 2, 1],
    ]);
  });
});

describe("long tables", () => {
  it("make only the rows in view, and always some", () => {
    expect(rowsInView(10_000, 42_000, 640, 42)).toEqual({ from: 988, to: 1028 });
    expect(rowsInView(5, 99_999, 640, 42)).toEqual({ from: 5, to: 5 });
    expect(rowsInView(100, 0, 640, 42).from).toBe(0);
  });
});

describe("what an event says", () => {
  it("names a rule by its number", () => {
    expect(ruleKey("2.10 the quota was lowered")).toBe("2_10");
    expect(ruleKey("operator")).toBe("operator");
  });
  it("tells why somebody had to leave, and by which eviction", () => {
    const after = { cause: "reclaim", eviction_id: "e1", members: [0, 1], state: "leaving" };
    expect(eventFacts({ action: "job.evicted", after })).toMatchObject({
      cause: "reclaim",
      endCause: null,
      evictionId: "e1",
      members: 2,
    });
  });
  it("tells a run's end apart from its eviction", () => {
    const ended = { cause: "exit_code", exit_code: 3, run_number: 2, signal: null };
    expect(eventFacts({ action: "job.failed", after: ended })).toMatchObject({
      endCause: "exit_code",
      exitCode: 3,
      run: 2,
      signal: null,
    });
    const evicted = { cause: "evicted", run_number: 1 };
    expect(eventFacts({ action: "job.requeued", after: evicted }).endCause).toBeNull();
  });
  it("keeps the nodes' reports apart and says when one saved", () => {
    const event = {
      action: "member.reported",
      after: { member: 0, state: "leaving", checkpointed_at: "2026-01-01T00:00:00Z" },
    };
    expect(isReport(event)).toBe(true);
    expect(eventFacts(event)).toMatchObject({ saved: true, member: 0, memberState: "leaving" });
  });
  it("reads nothing out of nothing", () => {
    expect(eventFacts({ action: "job.held", after: null })).toMatchObject({ cause: null, members: null });
  });
});
