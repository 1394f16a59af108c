// Colours and letters of bars, by team or by kind.
import { KINDS, type MaskedJobRef } from "../../api/views";
import { colorsOf, type Named } from "../gpu-map";
import type { Bar } from "./bars";
import type { Paint } from "./draw";

export const PAINTS = ["team", "kind"] as const;
export type PaintBy = (typeof PAINTS)[number];
export type Painter = { paintOf: (bar: Bar) => Paint; legend: { id: string; name: string; paint: Paint }[] };

const KIND_PAINTS: Record<(typeof KINDS)[number], Paint> = {
  training: { color: "#0072B2", letter: "T" },
  inference: { color: "#009E73", letter: "I" },
  experiment: { color: "#56B4E9", letter: "X" },
  evaluation: { color: "#CC79A7", letter: "E" },
  batch: { color: "#F0E442", letter: "B" },
};
const UNKNOWN: Paint = { color: "#BBBBBB", letter: "?" };

export function painterByKind(word: (kind: string) => string): Painter {
  return {
    paintOf: (bar) => KIND_PAINTS[bar.kind as (typeof KINDS)[number]] ?? UNKNOWN,
    legend: KINDS.map((kind) => ({ id: kind, name: word(kind), paint: KIND_PAINTS[kind] })),
  };
}

/** Every team that has a bar, in the order of names. */
export function painterByTeam(bars: readonly Bar[], locale: "en" | "zh-CN"): Painter {
  const teams = new Map<string, Named>();
  for (const bar of bars) {
    const job: MaskedJobRef | undefined = bar.run?.job ?? bar.planned?.job;
    const team = job?.team ?? bar.reservation?.team;
    if (team && !teams.has(team.id)) teams.set(team.id, team);
  }
  const paints = new Map<string, Paint>();
  const legend = colorsOf([...teams.values()], locale).map(({ id, name, letter, color }) => {
    const paint = { color, letter };
    paints.set(id, paint);
    return { id, name, paint };
  });
  return { paintOf: (bar) => paints.get(bar.teamId) ?? UNKNOWN, legend };
}
