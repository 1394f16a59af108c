import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Segmented } from "antd";
import { useMemo } from "react";
import { listNodes } from "../api/operations";
import type { Node } from "../api/views";
import { Choose, ChoosePool, ChooseWord } from "../components/choose";
import { Answer, Nothing } from "../components/feedback";
import { Page } from "../components/page";
import { DataTable } from "../components/table";
import { Since } from "../components/when";
import { compareNames, formatMib } from "../lib/format";
import { freeOf, largestPlaceable, MAP_VIEWS } from "../lib/gpu-map";
import { useText } from "../lib/use-text";
import { GpuMap } from "./nodes/gpu-map";
import { NodeActions } from "./nodes/node-actions";
import { NodePanel } from "./nodes/node-panel";

const STATES = ["ready", "cordoned", "draining", "lost"] as const;

export function NodesPage() {
  const { t, locale } = useText();
  const search = useSearch({ from: "/nodes" });
  const navigate = useNavigate({ from: "/nodes" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const nodes = useQuery({
    queryKey: ["nodes", search.pool ?? "", search.state ?? ""],
    queryFn: () => listNodes({ pool: search.pool, state: search.state }),
    refetchInterval: 10_000,
  });
  const sorted = useMemo(
    () => [...(nodes.data ?? [])].sort((a, b) => compareNames(a.name, b.name, locale)),
    [nodes.data, locale],
  );
  const chosen = sorted.find((node) => node.name === search.node);
  return (
    <Page title={t("nav.nodes")}>
      <div className="filters">
        <ChoosePool value={search.pool} onChange={(pool) => set({ pool })} />
        <ChooseWord
          label={t("field.state")}
          group="node_state"
          values={STATES}
          value={search.state}
          onChange={(state) => set({ state: state as (typeof STATES)[number] })}
        />
        <Choose
          label={t("nodes.choose")}
          value={search.node}
          options={sorted.map((node) => ({ value: node.name, label: node.name }))}
          onChange={(node) => set({ node })}
        />
        {!search.show && (
          <Segmented
            aria-label={t("nodes.by")}
            name="map-view"
            value={search.by ?? "owner"}
            options={MAP_VIEWS.map((value) => ({ value, label: t(`map_view.${value}`) }))}
            onChange={(by) => set({ by: by === "owner" ? undefined : by })}
          />
        )}
        <Button
          aria-pressed={search.show === "table"}
          onClick={() => set({ show: search.show ? undefined : "table" })}
        >
          {search.show ? t("nodes.show_map") : t("action.show_table")}
        </Button>
      </div>
      <Answer of={nodes}>
        {() => {
          const all = sorted;
          if (all.length === 0) {
            const filtered = search.pool || search.state;
            return (
              <Nothing
                why={t(filtered ? "nodes.none_match" : "nodes.none")}
                next={filtered ? <Link to="/nodes">{t("action.clear_filters")}</Link> : t("nodes.none_next")}
              />
            );
          }
          return (
            <>
              <Summary nodes={all} />
              {chosen && <NodePanel key={chosen.id} node={chosen} onClose={() => set({ node: undefined })} />}
              {search.show ? (
                <NodeTable nodes={all} onChoose={(node) => set({ node: node.name })} />
              ) : (
                <GpuMap
                  nodes={all}
                  view={search.by ?? "owner"}
                  chosen={chosen?.id}
                  onChoose={(node) => set({ node: node.name })}
                />
              )}
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

/** "free 37, largest on one node 8": the two figures whose difference is fragmentation. */
function Summary({ nodes }: { nodes: Node[] }) {
  const { t, n } = useText();
  const free = nodes.map(freeOf);
  return (
    <p className="verdict">
      {t("nodes.summary", {
        free: n(free.reduce((all, one) => all + one, 0)),
        largest: n(largestPlaceable(nodes)),
      })}
    </p>
  );
}

function NodeTable({ nodes, onChoose }: { nodes: Node[]; onChoose: (node: Node) => void }) {
  const { t, n, word, locale } = useText();
  return (
    <DataTable
      label={t("nav.nodes")}
      windowed
      rows={nodes}
      rowKey={(node) => node.id}
      columns={[
        { key: "name", head: t("field.node"), cell: (node) => <span className="name">{node.name}</span> },
        { key: "pool", head: t("field.pool"), cell: (node) => node.pool.slug },
        {
          key: "state",
          head: t("field.state"),
          cell: (node) => (
            <>
              {word("node_state", node.state)}{" "}
              {node.state_note && <span className="quiet">{node.state_note}</span>}
            </>
          ),
        },
        {
          key: "gpus",
          head: t("nodes.free_of"),
          number: true,
          cell: (node) => t("nodes.free_of_cell", { free: n(freeOf(node)), all: n(node.gpus.length) }),
        },
        {
          key: "memory",
          head: t("nodes.free_memory"),
          number: true,
          cell: (node) => formatMib(node.free_memory_mib, locale),
        },
        {
          key: "cpu",
          head: t("nodes.free_cpu"),
          number: true,
          cell: (node) => n(node.free_cpu_milli / 1000),
        },
        { key: "seen", head: t("nodes.last_seen"), cell: (node) => <Since from={node.last_seen_at} /> },
        {
          key: "acts",
          head: t("nodes.actions"),
          wide: true,
          cell: (node) => (
            <div className="row-actions">
              <Button
                size="small"
                aria-label={`${t("nodes.details")} ${node.name}`}
                onClick={() => onChoose(node)}
              >
                {t("nodes.details")}
              </Button>
              <NodeActions node={node} />
            </div>
          ),
        },
      ]}
    />
  );
}
