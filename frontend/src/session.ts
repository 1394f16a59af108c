import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { showMe, signOut, updateMe } from "./api/operations";
import { Problem } from "./api/problem";
import type { Locale, Me } from "./api/views";
import { setLocale } from "./settings/preferences";

/** Who is signed in; null = nobody. */
export function useMe() {
  return useQuery<Me | null>({
    queryKey: ["me"],
    queryFn: async () => {
      try {
        return await showMe();
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

/** Nothing of one person's answers stays for the next; "me" itself is watched and gets its new value. */
export function forgetAnswers(client: QueryClient) {
  client.removeQueries({ predicate: (query) => query.queryKey[0] !== "me" });
}

export function useSignOut() {
  const client = useQueryClient();
  return async () => {
    try {
      await signOut();
    } finally {
      forgetAnswers(client);
      client.setQueryData(["me"], null);
    }
  };
}

/** Chooses the language here at once, and on the server for the person's other browsers. */
export function useChooseLocale() {
  const client = useQueryClient();
  return async (locale: Locale) => {
    setLocale(locale);
    if (client.getQueryData(["me"])) {
      client.setQueryData(["me"], await updateMe({ locale }));
    }
  };
}

export const isAdmin = (me: Me | null | undefined) => me?.platform_roles.includes("admin") ?? false;

/** Whether the person may act on that team's jobs and queues; the server has the last word. */
export function mayLead(me: Me | null | undefined, teamId: string): boolean {
  return (
    isAdmin(me) || (me?.memberships.some((one) => one.team.id === teamId && one.role === "lead") ?? false)
  );
}
