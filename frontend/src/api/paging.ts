// What all calls share: pages of lists, keys of what is sent once, conditions on what was read.
import { newKey } from "./client";
import type { paths } from "./schema";

export type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? NonNullable<Query>
  : never;
export type Cursor = string | null | undefined;
export type PageOf<Item> = { items: Item[]; next_cursor?: string | null };

export const keyed = (key = newKey()) => ({ header: { "Idempotency-Key": key } });
/** Changes what still is as the caller saw it (412 otherwise). */
export const ifMatch = (version: number) => ({ "If-Match": `"${version}"` });
/** Makes what is not there yet (412 otherwise). */
export const ifNew = { "If-None-Match": "*" } as const;
export const from = (cursor: Cursor) => (cursor ? { cursor } : {});

/** All pages of a list that stays small (pools, teams, quotas …), bounded. */
export async function everything<Item>(
  load: (page: { limit: number; cursor?: string }) => Promise<PageOf<Item>>,
  mostPages = 50,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: Cursor = null;
  for (let page = 0; page < mostPages; page += 1) {
    const found: PageOf<Item> = await load({ limit: 200, ...from(cursor) });
    items.push(...found.items);
    cursor = found.next_cursor;
    if (!cursor) break;
  }
  return items;
}
