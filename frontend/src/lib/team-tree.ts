// Teams in the order of their tree, each with how deep it lies.
import type { Locale, Team } from "../api/views";
import { compareNames } from "./format";

type Known = Pick<Team, "id" | "name"> & { parent?: { id: string } | null };

export function teamTree<One extends Known>(teams: readonly One[], locale: Locale) {
  const known = new Set(teams.map((team) => team.id));
  const below = new Map<string, One[]>();
  for (const team of teams) {
    // One whose parent is not in the list stands at the top.
    const above = team.parent && known.has(team.parent.id) ? team.parent.id : "";
    below.set(above, [...(below.get(above) ?? []), team]);
  }
  const rows: { team: One; depth: number }[] = [];
  const add = (above: string, depth: number) => {
    const children = [...(below.get(above) ?? [])].sort((a, b) => compareNames(a.name, b.name, locale));
    for (const team of children) {
      rows.push({ team, depth });
      add(team.id, depth + 1);
    }
  };
  add("", 0);
  return rows;
}
