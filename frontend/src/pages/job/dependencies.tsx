import { useQuery } from "@tanstack/react-query";
import { listDependencies } from "../../api/operations";
import type { JobState } from "../../api/views";
import { Answer } from "../../components/feedback";
import { JobLink } from "../../components/links";
import { StateMark } from "../../components/tags";
import { useText } from "../../lib/use-text";

/** The jobs whose ends are waited for: those that have not ended as wanted yet. */
export function Dependencies({ job }: { job: string }) {
  const { t } = useText();
  const waits = useQuery({
    queryKey: ["job", job, "dependencies"],
    queryFn: () => listDependencies(job),
    refetchInterval: 5_000,
  });
  return (
    <>
      <h3>{t("verdict.dependencies")}</h3>
      <Answer of={waits}>
        {(page) => (
          <>
            <ul>
              {page.items
                .filter((one) => one.met !== true)
                .map((one, at) => (
                  <li key={one.job?.id ?? at}>
                    {one.job ? <JobLink job={one.job} withTeam /> : t("verdict.unseen_job")}{" "}
                    <StateMark state={one.state as JobState} /> {t(`verdict.until_${one.condition}`)}
                  </li>
                ))}
            </ul>
            {page.next_cursor && <p className="quiet">{t("verdict.more_dependencies")}</p>}
          </>
        )}
      </Answer>
    </>
  );
}
