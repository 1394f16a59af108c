import { useEffect, useMemo, useRef, useState } from "react";
import type { Node } from "../../api/views";
import {
  type GpuState,
  hit,
  layoutOf,
  type MapView,
  type Owner,
  ownersOf,
  SQUARE_PX,
  squareAt,
  stateOf,
} from "../../lib/gpu-map";
import { useText } from "../../lib/use-text";
import { useDark } from "../../settings/preferences";

const STATES = ["used", "shared", "free", "out", "bad"] as const;
type Square = { fill: string; edge: string; ink: string; letter: string };
type Props = { nodes: Node[]; view: MapView; chosen: string | undefined; onChoose: (node: Node) => void };

/**
 * Node × GPU on a canvas, so that thousands of GPUs draw at once. Each square has a letter beside its colour.
 * What a pointer does here, the node chooser and the table do by keyboard.
 */
export function GpuMap({ nodes, view, chosen, onChoose }: Props) {
  const { t, n, word, locale } = useText();
  const dark = useDark();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const owners = useMemo(() => ownersOf(nodes, locale), [nodes, locale]);
  const layout = useMemo(() => layoutOf(nodes, width), [nodes, width]);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const scale = window.devicePixelRatio || 1;
    element.width = layout.width * scale;
    element.height = layout.height * scale;
    context.scale(scale, scale);
    context.clearRect(0, 0, layout.width, layout.height);
    const font = getComputedStyle(document.body).fontFamily;
    context.textBaseline = "middle";
    nodes.forEach((node, at) => {
      const cell = layout.cells[at];
      if (!cell) return;
      const room = layout.cellWidth - 14;
      context.font = `${node.id === chosen ? "bold " : ""}12px ${font}`;
      context.textAlign = "left";
      context.fillStyle = node.state === "ready" ? color("--ink") : color("--bad-text");
      const name = node.state === "ready" ? node.name : `${node.name} · ${word("node_state", node.state)}`;
      context.fillText(name, cell.left, cell.top + 8, room);
      if (node.id === chosen) {
        context.strokeStyle = color("--link");
        context.lineWidth = 2;
        context.strokeRect(cell.left + 1, cell.top + layout.cellHeight - 6, room - 4, 1);
      }
      context.font = `bold 10px ${font}`;
      context.textAlign = "center";
      node.gpus.forEach((gpu, index) => {
        const state = stateOf(node, gpu);
        const team = gpu.jobs[0]?.team.id;
        const square = squareOf(state, view, team ? owners.get(team) : undefined, color, (letter) =>
          t(`gpu_letter.${letter}`),
        );
        const { left, top } = squareAt(cell, index);
        context.fillStyle = square.fill;
        context.fillRect(left, top, SQUARE_PX, SQUARE_PX);
        context.strokeStyle = square.edge;
        context.lineWidth = 1;
        context.strokeRect(left + 0.5, top + 0.5, SQUARE_PX - 1, SQUARE_PX - 1);
        context.fillStyle = square.ink;
        context.fillText(square.letter, left + SQUARE_PX / 2, top + SQUARE_PX / 2 + 0.5);
      });
    });
    element.dataset.drawn = String(nodes.length);
  }, [nodes, layout, owners, view, chosen, width, t, word, dark]);

  const at = (event: React.MouseEvent) => {
    const place = canvas.current?.getBoundingClientRect();
    return place ? hit(layout, event.clientX - place.left, event.clientY - place.top) : null;
  };
  const count = (state: GpuState) =>
    nodes.reduce((all, node) => all + node.gpus.filter((gpu) => stateOf(node, gpu) === state).length, 0);
  return (
    <>
      <Legend view={view} owners={[...owners.values()]} />
      <div ref={box}>
        <canvas
          ref={canvas}
          className="gpu-canvas"
          role="img"
          style={{ width: "100%", height: layout.height }}
          aria-label={t("nodes.map_label", {
            nodes: n(nodes.length),
            used: n(count("used")),
            shared: n(count("shared")),
            free: n(count("free")),
            bad: n(count("bad") + count("out")),
          })}
          onClick={(event) => {
            const node = nodes[at(event)?.node ?? -1];
            if (node) onChoose(node);
          }}
          onMouseMove={(event) => {
            const found = at(event);
            const node = found ? nodes[found.node] : undefined;
            const gpu = found?.gpu != null ? node?.gpus[found.gpu] : undefined;
            event.currentTarget.style.cursor = node ? "pointer" : "default";
            event.currentTarget.title = [
              node?.name,
              gpu && `${gpu.index} · ${gpu.model}`,
              node && gpu && t(`gpu_state.${stateOf(node, gpu)}`),
              gpu?.jobs.map((job) => `${job.name} (${job.team.name})`).join(", "),
              gpu?.health_detail,
            ]
              .filter(Boolean)
              .join(" · ");
          }}
        />
      </div>
    </>
  );
}

/** A square's look: by owner a held GPU has its team's colour and letter; by health only what is broken stands out. */
function squareOf(
  state: GpuState,
  view: MapView,
  owner: Owner | undefined,
  color: (name: string) => string,
  letterOf: (state: GpuState) => string,
): Square {
  const plain = { fill: color("--card"), edge: color("--free"), ink: color("--quiet") };
  if (state === "bad")
    return {
      fill: color("--bad-ground"),
      edge: color("--bad"),
      ink: color("--bad-text"),
      letter: letterOf("bad"),
    };
  if (view === "health") return { ...plain, letter: state === "out" ? letterOf("out") : "" };
  if (state === "free" || state === "out") return { ...plain, letter: letterOf(state) };
  if (view === "owner" && owner) {
    // Dark letters on the light colours, white on the two dark ones.
    const ink = owner.color === "#0072B2" || owner.color === "#009E73" ? "#fff" : "#111";
    return { fill: owner.color, edge: owner.color, ink, letter: owner.letter };
  }
  const fill = state === "shared" ? "#56B4E9" : "#0072B2";
  return { fill, edge: fill, ink: state === "shared" ? "#111" : "#fff", letter: letterOf(state) };
}

function Legend({ view, owners }: { view: MapView; owners: Owner[] }) {
  const { t, n } = useText();
  const states =
    view === "owner"
      ? (["free", "out", "bad"] as const)
      : view === "health"
        ? (["out", "bad"] as const)
        : STATES;
  return (
    <ul className="quota-legend map-legend">
      {view === "owner" &&
        owners.map((owner) => (
          <li key={owner.id}>
            <span
              className="gpu"
              style={{
                background: owner.color,
                color: owner.color === "#0072B2" || owner.color === "#009E73" ? "#fff" : "#111",
              }}
              aria-hidden="true"
            >
              {owner.letter}
            </span>
            {t("nodes.owner", { team: owner.name, gpus: n(owner.gpus) })}
          </li>
        ))}
      {states.map((state) => (
        <li key={state}>
          <span className={`gpu gpu-${state}`} aria-hidden="true">
            {t(`gpu_letter.${state}`)}
          </span>
          {t(`gpu_state.${state}`)}
        </li>
      ))}
    </ul>
  );
}

function useWidth(box: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
