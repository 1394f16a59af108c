import type { Gpu, Node } from "../../api/views";
import { useText } from "../../lib/use-text";
import { NodeActions } from "./node-actions";

type State = "out" | "bad" | "free" | "used" | "shared";

/** A GPU that nothing can be put on, whatever it holds, is never shown as free. */
function stateOf(node: Node, gpu: Gpu): State {
  if (gpu.health !== "healthy") return "bad";
  if (gpu.free_milli < 1000) return gpu.free_milli === 0 ? "used" : "shared";
  return node.state === "ready" ? "free" : "out";
}

/** Node × GPU: what is free, held, shared or sick. Each square has a letter beside its colour. */
export function GpuMap({ nodes }: { nodes: Node[] }) {
  const { t, n, word } = useText();
  return (
    <>
      <ul className="quota-legend">
        {(["used", "shared", "free", "out", "bad"] as const).map((state) => (
          <li key={state}>
            <span className={`gpu gpu-${state}`} aria-hidden="true">
              {t(`gpu_letter.${state}`)}
            </span>
            {t(`gpu_state.${state}`)}
          </li>
        ))}
      </ul>
      <ul className="gpu-map">
        {nodes.map((node) => (
          <li key={node.id} className={`node node-${node.state}`}>
            <div className="node-head">
              <strong>{node.name}</strong> <span className="quiet">{node.pool.slug}</span>
              {node.state !== "ready" && <span className="bad-text"> {word("node_state", node.state)}</span>}
            </div>
            <div className="gpus" role="img" aria-label={label(node, t, n)}>
              {node.gpus.map((gpu) => {
                const state = stateOf(node, gpu);
                const jobs = gpu.jobs.map((job) => `${job.name} (${job.team.name})`).join(", ");
                return (
                  <span
                    key={gpu.id}
                    className={`gpu gpu-${state}`}
                    title={`${gpu.index} · ${gpu.model} · ${t(`gpu_state.${state}`)}${jobs && ` · ${jobs}`}${gpu.health_detail ? ` · ${gpu.health_detail}` : ""}`}
                  >
                    {t(`gpu_letter.${state}`)}
                  </span>
                );
              })}
            </div>
            <NodeActions node={node} />
          </li>
        ))}
      </ul>
    </>
  );
}

type Text = ReturnType<typeof useText>;
function label(node: Node, t: Text["t"], n: Text["n"]): string {
  const count = (state: State) => node.gpus.filter((gpu) => stateOf(node, gpu) === state).length;
  return t("nodes.map_label", {
    node: node.name,
    used: n(count("used")),
    shared: n(count("shared")),
    free: n(count("free")),
    bad: n(count("bad") + count("out")),
  });
}
