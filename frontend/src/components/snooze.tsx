import { useQueryClient } from "@tanstack/react-query";
import type { Idle } from "../api/use";
import { snoozeJob } from "../api/use";
import { useText } from "../lib/use-text";
import { ActButton } from "./act-button";

const HOURS = [1, 4] as const;

/** Puts off what follows from a job being idle; nothing is shown where nothing follows. */
export function Snooze({ job, idle }: { job: { id: string; name: string }; idle: Idle }) {
  const { t, n } = useText();
  const client = useQueryClient();
  if (idle.state !== "notified" || idle.protected || idle.action === "notify") return null;
  const put = async (hours: number) => {
    await snoozeJob(job.id, hours * 3_600);
    await Promise.all([
      client.invalidateQueries({ queryKey: ["idle"] }),
      client.invalidateQueries({ queryKey: ["job", job.id] }),
    ]);
  };
  return (
    <span className="acts">
      {HOURS.map((hours) => (
        <ActButton
          key={hours}
          label={t("idle_list.snooze", { hours: n(hours) })}
          of={job.name}
          run={() => put(hours)}
        />
      ))}
    </span>
  );
}
