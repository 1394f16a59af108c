import { describe, expect, it } from "vitest";
import type { Node } from "../src/api/views";
import {
  freeOf,
  heldOf,
  hit,
  largestPlaceable,
  layoutOf,
  ownersOf,
  squareAt,
  stateOf,
} from "../src/lib/gpu-map";

type Made = Pick<Node, "state" | "gpus">;
const team = (id: string, slug = id) => ({ id, slug, name: slug });
const gpu = (
  free_milli: number,
  owner?: ReturnType<typeof team>,
  health: "healthy" | "sick" = "healthy",
) => ({
  id: "g",
  index: 0,
  uuid: "u",
  model: "A100",
  memory_mib: 1,
  free_memory_mib: 1,
  free_milli,
  health,
  jobs: owner ? [{ id: "j", name: "j", team: owner }] : [],
});
const node = (gpus: Node["gpus"], state: Node["state"] = "ready"): Made => ({ state, gpus });

describe("the map of GPUs", () => {
  it("never shows as free what nothing can be put on", () => {
    expect(stateOf({ state: "cordoned" }, gpu(1000))).toBe("out");
    expect(stateOf({ state: "ready" }, gpu(1000, undefined, "sick"))).toBe("bad");
    expect(stateOf({ state: "ready" }, gpu(400))).toBe("shared");
    expect(freeOf(node([gpu(1000), gpu(1000)], "draining"))).toBe(0);
  });
  it("tells free GPUs from those that one job could get: parts add up to no whole", () => {
    const nodes = [node([gpu(500), gpu(500), gpu(1000)]), node([gpu(1000), gpu(1000), gpu(0)])];
    expect(nodes.map(freeOf)).toEqual([2, 2]);
    expect(largestPlaceable(nodes)).toBe(2);
    expect(largestPlaceable([node([gpu(500), gpu(500)])])).toBe(0);
    expect(largestPlaceable([])).toBe(0);
  });
  it("counts what a drain waits for", () => {
    expect(heldOf(node([gpu(0, team("a")), gpu(1000), gpu(300, team("b"))], "draining"))).toBe(2);
  });
  it("gives each owner a letter of its own", () => {
    const held = [
      gpu(0, team("1", "search")),
      gpu(0, team("2", "speech")),
      gpu(0, team("3", "sim")),
      gpu(0, team("1", "search")),
    ];
    const owners = [...ownersOf([node(held)], "en").values()];
    expect(owners.map((owner) => [owner.name, owner.gpus])).toEqual([
      ["search", 2],
      ["sim", 1],
      ["speech", 1],
    ]);
    expect(new Set(owners.map((owner) => owner.letter)).size).toBe(3);
  });
  it("finds the square under the pointer where it was laid", () => {
    const nodes = Array.from({ length: 256 }, () => node(Array.from({ length: 16 }, () => gpu(1000))));
    const layout = layoutOf(nodes, 1100);
    for (const [at, index] of [
      [0, 0],
      [17, 9],
      [255, 15],
    ] as const) {
      const place = squareAt(layout.cells[at] as { left: number; top: number }, index);
      expect(hit(layout, place.left + 3, place.top + 3)).toEqual({ node: at, gpu: index });
    }
    expect(hit(layout, -5, 2)).toBeNull();
    expect(Math.max(...layout.cells.map((cell) => cell.left + layout.cellWidth))).toBeLessThanOrEqual(1100);
  });
});
