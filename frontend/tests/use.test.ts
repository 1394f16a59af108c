import { expect, test } from "vitest";
import { withGaps } from "../src/components/use-chart";
import { together } from "../src/pages/nodes/node-use";

const point = (at: string, mean: number | null) => ({ at, mean, max: 100, memory_mib: 1 });

test("where no samples came the line falls to nothing, and rises where they come again", () => {
  const points = [
    point("2026-03-02T09:00:00.000Z", 50),
    point("2026-03-02T09:01:00.000Z", 60),
    point("2026-03-02T09:10:00.000Z", 70),
  ];
  expect(withGaps(points, 60, (one) => one.mean ?? 0)).toEqual([
    ["2026-03-02T09:00:00.000Z", 50],
    ["2026-03-02T09:01:00.000Z", 60],
    ["2026-03-02T09:02:00.000Z", 0],
    ["2026-03-02T09:10:00.000Z", 70],
    ["2026-03-02T09:11:00.000Z", 0],
  ]);
  expect(withGaps([], 60, (one) => one.max)).toEqual([]);
});

test("a node's GPUs are one mean by their samples, and the most of any", () => {
  const hour = (samples: number, mean: number | null, max: number) => ({
    at: "2026-03-02T09:00:00Z",
    samples,
    held_samples: samples,
    compute_permille_mean: mean,
    compute_permille_max: max,
    memory_used_mib_max: max,
    power_milliwatts_mean: 1,
    temperature_celsius_max: null,
  });
  const gpu = (index: number, points: ReturnType<typeof hour>[]) => ({ index, now: null, points });
  const used = {
    from: "",
    to: "",
    bucket_secs: 3600,
    gpus: [gpu(0, [hour(30, 900, 990)]), gpu(1, [hour(10, 100, 300), hour(5, null, 0)])],
  };
  expect(together(used)).toEqual([{ at: "2026-03-02T09:00:00Z", mean: 70, max: 99, memory_mib: 990 }]);
});
