import { useQuery } from "@tanstack/react-query";
import { Segmented } from "antd";
import { useState } from "react";
import { type JobUse, showJobUse } from "../../api/use";
import type { Job } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { Facts, Section } from "../../components/page";
import { UseChart } from "../../components/use-chart";
import { When } from "../../components/when";
import { formatMib } from "../../lib/format";
import { HISTORY_HOURS, type HistoryHours } from "../../lib/history-hours";
import { useText } from "../../lib/use-text";

/** How a job uses its GPUs: asked against used, over time, and what it could ask for instead. */
export function GpuUse({ job }: { job: Job }) {
  const { t } = useText();
  const [hours, setHours] = useState<HistoryHours>("24");
  const used = useQuery({
    queryKey: ["job", job.id, "use", hours],
    queryFn: () => showJobUse(job.id, Number(hours)),
    refetchInterval: 60_000,
    enabled: job.gpus > 0,
  });
  if (job.gpus === 0 || job.run_number === 0) return null;
  return (
    <Section
      title={t("gpu_use.title")}
      extra={
        <Segmented
          aria-label={t("history.range")}
          name="use-hours"
          value={hours}
          options={HISTORY_HOURS.map((value) => ({ value, label: t(`history.hours_${value}`) }))}
          onChange={setHours}
        />
      }
    >
      <Answer of={used}>
        {(data) =>
          data.points.length === 0 ? (
            <Nothing why={t("gpu_use.none")} next={t("gpu_use.none_next")} />
          ) : (
            <Seen job={job} used={data} />
          )
        }
      </Answer>
    </Section>
  );
}

function Seen({ job, used }: { job: Job; used: JobUse }) {
  const { t, n, locale, sentence } = useText();
  const { figures } = used;
  const percent = (permille: number | null | undefined) =>
    permille == null ? "–" : t("gpu_use.percent", { value: n(permille / 10) });
  const memory = (mib: number | null | undefined) => (mib == null ? "–" : formatMib(mib, locale));
  const three = (of: (number | null | undefined)[], show: (value: number | null | undefined) => string) =>
    of.map(show).join(" / ");
  return (
    <>
      {used.advice.map((advice) => (
        <p className="help-line" key={advice.action}>
          <strong>{t("gpu_use.advice")}</strong> {sentence(advice.sentence)}
        </p>
      ))}
      <Facts
        items={[
          [
            t("gpu_use.compute"),
            three(
              [figures.compute_permille_p50, figures.compute_permille_p95, figures.compute_permille_max],
              percent,
            ),
          ],
          [
            t("gpu_use.memory"),
            three(
              [figures.memory_used_mib_p50, figures.memory_used_mib_p95, figures.memory_used_mib_max],
              memory,
            ),
          ],
          [
            t("gpu_use.computed"),
            t("nodes.free_of_cell", { free: n(used.gpus_computed), all: n(used.gpus_held) }),
          ],
          [t("gpu_use.last_busy"), figures.last_busy_at && <When key="busy" at={figures.last_busy_at} />],
        ]}
      />
      <UseChart
        label={t("gpu_use.label", { name: job.name })}
        bucketSecs={used.bucket_secs}
        points={used.points.map((point) => ({
          at: point.at,
          mean: point.compute_permille_mean == null ? null : point.compute_permille_mean / 10,
          max: point.compute_permille_max / 10,
          memory_mib: point.memory_used_mib_max,
        }))}
      />
    </>
  );
}
