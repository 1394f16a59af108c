import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Button, Segmented } from "antd";
import { useId } from "react";
import { listQueues } from "../../api/operations";
import { KINDS } from "../../api/views";
import { Choose, ChoosePool, ChooseTeam, ChooseWord } from "../../components/choose";
import { localText } from "../../lib/moment";
import { LANES_PX, type RowSize } from "../../lib/timeline/find";
import { PAINTS, type PaintBy } from "../../lib/timeline/paint";
import { pan, spanOf, type View, viewOf, WINDOWS, type Window, zoom } from "../../lib/timeline/view";
import { useText } from "../../lib/use-text";
import type { TimelineSearch } from "../../router";

type Props = {
  pool: string;
  view: View;
  /** The window that follows now; null = a span of the reader's own. */
  window: Window | null;
  set: (change: Partial<TimelineSearch>) => void;
  setView: (view: View) => void;
};

/** Which pool and whose runs, which span of time, and how they are shown. */
export function Toolbar(props: Props) {
  return (
    <>
      <Filters {...props} />
      <Span {...props} />
    </>
  );
}

function Filters({ pool, set }: Props) {
  const { t } = useText();
  const search = useSearch({ from: "/timeline" });
  const queues = useQuery({
    queryKey: ["queues", "team", search.team ?? ""],
    queryFn: () => listQueues(search.team ? { team: search.team } : {}),
  });
  const sizes = Object.keys(LANES_PX) as RowSize[];
  return (
    <div className="filters">
      <ChoosePool value={pool} onChange={(next) => set({ pool: next })} all={false} />
      <ChooseTeam value={search.team} onChange={(team) => set({ team, queue: undefined })} />
      <Choose
        label={t("field.queue")}
        value={search.queue}
        options={(queues.data ?? []).map((queue) => ({ value: queue.slug, label: queue.name }))}
        onChange={(queue) => set({ queue })}
      />
      <ChooseWord
        label={t("field.kind")}
        group="kind"
        values={KINDS}
        value={search.kind}
        onChange={(kind) => set({ kind: kind as TimelineSearch["kind"] })}
      />
      {!search.show && (
        <>
          <Segmented<PaintBy>
            aria-label={t("nodes.by")}
            name="timeline-by"
            value={search.by ?? "team"}
            options={PAINTS.map((value) => ({ value, label: t(`field.${value}`) }))}
            onChange={(by) => set({ by: by === "team" ? undefined : by })}
          />
          <Segmented<RowSize>
            aria-label={t("timeline.rows")}
            name="timeline-rows"
            value={search.rows ?? "nodes"}
            options={sizes.map((value) => ({ value, label: t(`timeline.rows_${value}`) }))}
            onChange={(rows) => set({ rows: rows === "nodes" ? undefined : rows })}
          />
        </>
      )}
      <Button
        aria-pressed={search.show === "table"}
        onClick={() => set({ show: search.show ? undefined : "table" })}
      >
        {search.show ? t("action.show_chart") : t("action.show_table")}
      </Button>
    </div>
  );
}

function Span({ view, window, set, setView }: Props) {
  const { t } = useText();
  const options = [
    ...WINDOWS.map((value) => ({ value: value as Window | "custom", label: t(`timeline.window_${value}`) })),
    { value: "custom" as const, label: t("timeline.window_custom") },
  ];
  const choose = (next: Window | "custom") =>
    next === "custom" ? setView(view) : set({ window: next, from: undefined, to: undefined });
  const step = spanOf(view) / 2;
  return (
    <div className="filters">
      <Segmented
        aria-label={t("timeline.window")}
        name="timeline-window"
        value={window ?? "custom"}
        options={options}
        onChange={choose}
      />
      <span className="button-row">
        <Button aria-label={t("timeline.earlier")} onClick={() => setView(pan(view, -step))}>
          ◀
        </Button>
        <Button aria-label={t("timeline.later")} onClick={() => setView(pan(view, step))}>
          ▶
        </Button>
        <Button aria-label={t("timeline.zoom_in")} onClick={() => setView(zoom(view, 0.5))}>
          +
        </Button>
        <Button aria-label={t("timeline.zoom_out")} onClick={() => setView(zoom(view, 2))}>
          −
        </Button>
        <Button disabled={window !== null} onClick={() => set({ from: undefined, to: undefined })}>
          {t("timeline.now")}
        </Button>
      </span>
      {window === null && <Custom key={`${view.from}-${view.to}`} view={view} setView={setView} />}
    </div>
  );
}

/** Both ends as the reader writes them, on the reader's own clock. */
function Custom({ view, setView }: Pick<Props, "view" | "setView">) {
  const { t } = useText();
  const id = useId();
  const change = (from: string, to: string) => {
    const next = viewOf(from, to);
    if (next) setView(next);
  };
  return (
    <span className="button-row">
      <label htmlFor={`${id}-from`}>{t("timeline.from")}</label>
      <input
        id={`${id}-from`}
        type="datetime-local"
        className="moment"
        defaultValue={localText(view.from)}
        max={localText(view.to)}
        onBlur={(event) => change(event.target.value, localText(view.to))}
      />
      <label htmlFor={`${id}-to`}>{t("timeline.to")}</label>
      <input
        id={`${id}-to`}
        type="datetime-local"
        className="moment"
        defaultValue={localText(view.to)}
        min={localText(view.from)}
        onBlur={(event) => change(localText(view.from), event.target.value)}
      />
    </span>
  );
}
