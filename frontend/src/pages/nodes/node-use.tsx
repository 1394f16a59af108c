import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type NodeUse, showNodeUse } from "../../api/use";
import type { Node } from "../../api/views";
import { Answer, Nothing } from "../../components/feedback";
import { UseChart, type UsePoint } from "../../components/use-chart";
import { useText } from "../../lib/use-text";

const HOURS = 24;

/** What each GPU does now; none where no sample has come for five minutes. */
export function useNodeUse(node: Node) {
  return useQuery({
    queryKey: ["nodes", node.id, "use"],
    queryFn: () => showNodeUse(node.name, HOURS),
    refetchInterval: 30_000,
  });
}

/** A node's GPUs together over the last day, by the hour. */
export function NodeUseChart({ node }: { node: Node }) {
  const { t } = useText();
  const used = useNodeUse(node);
  return (
    <>
      <h3>{t("gpu_use.title")}</h3>
      <Answer of={used}>{(data) => <Drawn node={node} used={data} />}</Answer>
    </>
  );
}

function Drawn({ node, used }: { node: Node; used: NodeUse }) {
  const { t } = useText();
  const points = useMemo(() => together(used), [used]);
  if (points.length === 0) return <Nothing why={t("gpu_use.none")} next={t("gpu_use.none_next")} />;
  return (
    <UseChart label={t("gpu_use.label", { name: node.name })} bucketSecs={used.bucket_secs} points={points} />
  );
}

/** The mean over GPUs, weighed by their samples, and the most of any. */
export function together(used: NodeUse): UsePoint[] {
  const hours = new Map<string, { samples: number; sum: number; max: number; memory_mib: number }>();
  for (const point of used.gpus.flatMap((gpu) => gpu.points)) {
    const hour = hours.get(point.at) ?? { samples: 0, sum: 0, max: 0, memory_mib: 0 };
    if (point.compute_permille_mean != null) {
      hour.samples += point.samples;
      hour.sum += point.samples * point.compute_permille_mean;
    }
    hour.max = Math.max(hour.max, point.compute_permille_max);
    hour.memory_mib = Math.max(hour.memory_mib, point.memory_used_mib_max);
    hours.set(point.at, hour);
  }
  return [...hours.entries()]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([at, hour]) => ({
      at,
      mean: hour.samples === 0 ? null : Math.round(hour.sum / hour.samples) / 10,
      max: hour.max / 10,
      memory_mib: hour.memory_mib,
    }));
}
