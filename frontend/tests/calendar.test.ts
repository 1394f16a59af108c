import { describe, expect, it } from "vitest";
import type { MaintenanceWindow, Reservation } from "../src/api/calendar";
import { localText, momentOf, nextQuarter } from "../src/lib/moment";
import { teamTree } from "../src/lib/team-tree";
import { pictureOf } from "../src/lib/timeline/bars";
import { LANES_A_RESERVATION, stacked } from "../src/lib/timeline/slots";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();
const user = { id: "u", username: "admin", display_name: "Admin" };
const reservation = (id: string, from: number, to: number): Reservation => ({
  id,
  pool: { id: "p", slug: "p" },
  team: { id: "t", slug: "vision", name: "Vision" },
  gpus: 4,
  starts_at: at(from),
  ends_at: at(to),
  note: "",
  created_by: user,
  created_at: at(-1),
});
const maintenance = (nodes: string[], from: number, to: number): MaintenanceWindow => ({
  id: "w",
  nodes: nodes.map((name) => ({ id: name, name })),
  starts_at: at(from),
  ends_at: at(to),
  note: "fans",
  created_by: user,
  created_at: at(-1),
});
const node = (id: string, gpus: number) => ({ id, name: id, gpus: Array.from({ length: gpus }) });

describe("what is kept free", () => {
  it("lies above one another where it holds at the same time", () => {
    const places = stacked([reservation("a", 0, 4), reservation("b", 2, 6), reservation("c", 4, 8)]);
    expect(places.map((one) => [one.reservation.id, one.at])).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 0],
    ]);
  });
  it("has a row of its own before the nodes, and maintenance covers a node's whole row", () => {
    const picture = pictureOf([node("n1", 8), node("n2", 4)], [], [], "en", false, {
      reservations: [reservation("a", 0, 4)],
      windows: [maintenance(["n2", "elsewhere"], 1, 2)],
      reservedName: "Reserved",
    });
    expect(picture.rows.map((row) => [row.name, row.lanes, row.firstLane])).toEqual([
      ["Reserved", LANES_A_RESERVATION, 0],
      ["n1", 8, LANES_A_RESERVATION],
      ["n2", 4, LANES_A_RESERVATION + 8],
    ]);
    expect(picture.bars.map((bar) => [bar.look, bar.row, bar.lane, bar.lanes])).toEqual([
      ["reserved", 0, 0, LANES_A_RESERVATION],
      ["maintenance", 2, 0, 4],
    ]);
  });
  it("adds no row where nothing is reserved", () => {
    expect(pictureOf([node("n1", 8)], [], [], "en").rows.map((row) => row.name)).toEqual(["n1"]);
  });
});

describe("moments in a form", () => {
  it("come back as they went", () => {
    expect(momentOf(localText(NOW))).toBe(new Date(NOW).toISOString());
    expect(momentOf("")).toBeNull();
    expect(nextQuarter(NOW + 1)).toBe(NOW + 900_000);
  });
});

describe("the tree of teams", () => {
  const team = (id: string, name: string, parent?: string) => ({
    id,
    name,
    ...(parent && { parent: { id: parent } }),
  });
  it("puts each team below its own, by name; one without its parent in the list at the top", () => {
    const rows = teamTree(
      [team("b", "Beta", "r"), team("r", "Root"), team("a", "Alpha", "r"), team("x", "Xi", "gone")],
      "en",
    );
    expect(rows.map((row) => [row.team.name, row.depth])).toEqual([
      ["Root", 0],
      ["Alpha", 1],
      ["Beta", 1],
      ["Xi", 0],
    ]);
  });
});
