import type { QueryClient } from "@tanstack/react-query";
import type { Key } from "./invalidation";

/**
 * Makes answers old without breaking off the fetches under way: under a steady stream of changes a slow answer
 * would otherwise never arrive. What was under way may have missed the change, so it is asked once more after.
 */
export function refetcher(client: QueryClient) {
  const again = new Set<string>();
  return (keys: Key[]) => {
    for (const queryKey of keys) {
      const name = JSON.stringify(queryKey);
      const busy = client.isFetching({ queryKey }) > 0;
      const done = client.invalidateQueries({ queryKey }, { cancelRefetch: false });
      if (!busy || again.has(name)) continue;
      again.add(name);
      void done.finally(() => {
        again.delete(name);
        void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
      });
    }
  };
}
