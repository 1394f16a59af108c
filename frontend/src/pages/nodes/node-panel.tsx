import { useQueryClient } from "@tanstack/react-query";
import { Button, Input } from "antd";
import { useId, useState } from "react";
import { editNode } from "../../api/operations";
import type { Node } from "../../api/views";
import { ProblemAlert } from "../../components/feedback";
import { JobLink } from "../../components/links";
import { Facts, Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { Since } from "../../components/when";
import { formatPairs, parsePairs } from "../../lib/command-line";
import { formatMib } from "../../lib/format";
import { heldOf, stateOf } from "../../lib/gpu-map";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";
import { NodeActions } from "./node-actions";
import { NodeUseChart, useNodeUse } from "./node-use";

/** One node: what it has, what runs on each GPU, how far a drain is, its labels. */
export function NodePanel({ node, onClose }: { node: Node; onClose: () => void }) {
  const { t, n, word, locale } = useText();
  const me = useMe();
  const used = useNodeUse(node);
  const now = new Map(used.data?.gpus.map((gpu) => [gpu.index, gpu.now]));
  const busy = (index: number) => {
    const permille = now.get(index)?.compute_permille;
    return permille == null ? "–" : t("gpu_use.percent", { value: n(permille / 10) });
  };
  const pairs = (of: Record<string, string>) => formatPairs(of).replaceAll("\n", " ");
  return (
    <Section
      title={node.name}
      className="node-panel"
      extra={
        <Button size="small" onClick={onClose}>
          {t("nodes.close")}
        </Button>
      }
    >
      {node.state === "draining" && <DrainProgress node={node} />}
      <Facts
        items={[
          [t("field.state"), `${word("node_state", node.state)} ${node.state_note ?? ""}`],
          [t("field.pool"), node.pool.slug],
          [
            t("nodes.free_cpu"),
            t("nodes.free_of_cell", { free: n(node.free_cpu_milli / 1000), all: n(node.cpu_milli / 1000) }),
          ],
          [
            t("nodes.free_memory"),
            t("nodes.free_of_cell", {
              free: formatMib(node.free_memory_mib, locale),
              all: formatMib(node.memory_mib, locale),
            }),
          ],
          [t("nodes.topology"), pairs(node.topology)],
          [t("submit.rdma"), node.rdma ? t("word.yes") : null],
          [t("nodes.agent"), node.agent_version],
          [t("nodes.last_seen"), node.last_seen_at && <Since key="seen" from={node.last_seen_at} />],
          [t("job.labels"), isAdmin(me.data) ? null : pairs(node.labels)],
        ]}
      />
      <DataTable
        label={t("nodes.gpus_of", { node: node.name })}
        maxHeight
        rows={node.gpus}
        rowKey={(gpu) => gpu.id}
        columns={[
          { key: "index", head: t("nodes.gpu"), number: true, cell: (gpu) => n(gpu.index) },
          { key: "model", head: t("submit.gpu_model"), cell: (gpu) => gpu.model },
          { key: "memory", head: t("submit.gpu_memory_mib"), number: true, cell: (gpu) => n(gpu.memory_mib) },
          {
            key: "state",
            head: t("field.state"),
            cell: (gpu) => `${t(`gpu_state.${stateOf(node, gpu)}`)} ${gpu.health_detail ?? ""}`,
          },
          { key: "busy", head: t("gpu_use.now"), number: true, cell: (gpu) => busy(gpu.index) },
          {
            key: "jobs",
            head: t("nav.jobs"),
            wide: true,
            cell: (gpu) =>
              gpu.jobs.length === 0 ? (
                <span className="quiet">–</span>
              ) : (
                gpu.jobs.map((job) => (
                  <div key={job.id}>
                    <JobLink job={job} withTeam />
                  </div>
                ))
              ),
          },
        ]}
      />
      <NodeUseChart node={node} />
      {isAdmin(me.data) && (
        <>
          <Labels key={node.id} node={node} />
          <NodeActions node={node} />
        </>
      )}
    </Section>
  );
}

/** How many GPUs a drain still waits for; read from the node itself, so that it survives a reload. */
function DrainProgress({ node }: { node: Node }) {
  const { t, n } = useText();
  const held = heldOf(node);
  const all = node.gpus.length;
  const done = held === 0;
  return (
    <p className="verdict">
      <progress max={all} value={all - held} aria-label={t("nodes.drain")} />{" "}
      {done ? t("nodes.drained") : t("nodes.drain_left", { held: n(held), all: n(all) })}
    </p>
  );
}

function Labels({ node }: { node: Node }) {
  const { t } = useText();
  const client = useQueryClient();
  const [text, setText] = useState(formatPairs(node.labels));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const { pairs, bad } = parsePairs(text);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await editNode(node, { labels: pairs });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: ["nodes"] });
    }
  };
  return (
    <div className="labels">
      <label htmlFor={id}>{t("submit.labels")}</label>
      <Input.TextArea
        id={id}
        className="code"
        rows={3}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {bad && <p className="bad-text">{t("submit.bad_pair", { line: bad })}</p>}
      {error ? <ProblemAlert error={error} /> : null}
      <Button
        onClick={() => void save()}
        loading={busy}
        disabled={bad != null || text.trim() === formatPairs(node.labels)}
      >
        {t("nodes.save_labels")}
      </Button>
    </div>
  );
}
