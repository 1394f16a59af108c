import { type CSSProperties, useCallback } from "react";
import type { Bar, Picture } from "../../lib/timeline/bars";
import { useText } from "../../lib/use-text";

type Text = ReturnType<typeof useText>;

/** A bar's name: its job's, or its team's where the reader may not see the job. */
export function useBarName() {
  const { t } = useText();
  return useCallback(
    (bar: Bar) => {
      if (bar.reservation) return t("timeline.reserved_for", { team: bar.reservation.team.name });
      if (bar.maintenance) return bar.maintenance.note || t("timeline.mark.maintenance");
      const job = bar.run?.job ?? bar.planned?.job;
      return job?.name ?? t("timeline.foreign_job_of", { team: job?.team.name ?? "" });
    },
    [t],
  );
}

/** What a bar says, line by line: for the card, and for those who hear it. */
export function barText(bar: Bar, picture: Picture, text: Text): string[] {
  const { t, n, word, dateTime, duration, sentence } = text;
  const iso = (ms: number) => new Date(ms).toISOString();
  const slot = bar.reservation ?? bar.maintenance;
  if (slot) {
    const span = {
      from: dateTime(slot.starts_at),
      to: dateTime(slot.ends_at),
      duration: duration((bar.to - bar.from) / 1000),
    };
    return [
      bar.reservation
        ? t("timeline.reserved_for", { team: bar.reservation.team.name })
        : t("timeline.maintenance_of", { node: picture.rows[bar.row]?.name ?? "" }),
      ...(bar.reservation
        ? [t("timeline.reserved_gpus", { gpus: n(bar.gpus), pool: bar.reservation.pool.slug })]
        : []),
      t("timeline.card_span", span),
      ...(slot.note ? [slot.note] : []),
      t("event.by", { who: slot.created_by.display_name }),
    ];
  }
  const job = bar.run?.job ?? bar.planned?.job;
  const node = picture.rows[bar.row]?.name ?? "";
  const indices = Array.from({ length: bar.lanes }, (_, at) => bar.lane + at).join(" ");
  const lines = [
    job?.name ?? t("timeline.foreign_job"),
    `${job?.team.name ?? ""} · ${word("kind", bar.kind)}`,
    t("timeline.card_place", { node, indices, gpus: n(bar.gpus) }),
  ];
  const { run, planned } = bar;
  if (run) {
    lines.push(`${word("run_state", run.state)} · ${t("job.run", { number: n(run.number) })}`);
    const until = bar.to === Number.POSITIVE_INFINITY ? Date.now() : bar.to;
    const open = bar.to === Number.POSITIVE_INFINITY;
    lines.push(
      t(open ? "timeline.card_since" : "timeline.card_span", {
        from: dateTime(iso(bar.from)),
        to: dateTime(iso(until)),
        duration: duration((until - bar.from) / 1000),
      }),
    );
    if (bar.ghost !== null)
      lines.push(
        t(run.leave_by ? "timeline.card_leave" : "timeline.card_limit", { at: dateTime(iso(bar.ghost)) }),
      );
    if (run.borrowed_gpus) lines.push(t("timeline.card_borrowed", { gpus: n(run.borrowed_gpus) }));
    const left = run.evictions.find((one) => one.id === bar.evictionId);
    if (left)
      lines.push(
        t("timeline.card_evicted", {
          cause: word("cause", left.cause),
          outcome: word("outcome", left.outcome),
        }),
      );
  }
  if (planned) {
    lines.push(t("timeline.card_planned", { at: dateTime(iso(bar.from)) }));
    lines.push(
      planned.ends_by
        ? t("timeline.card_ends", { at: dateTime(planned.ends_by) })
        : t("timeline.card_no_limit"),
    );
    if (planned.sentence) lines.push(sentence(planned.sentence));
  }
  return lines;
}

/** The card beside the bar under the pointer or in focus. It takes no pointer: the bar beneath stays reachable. */
export function BarCard({ bar, picture, at }: { bar: Bar; picture: Picture; at: CSSProperties }) {
  const text = useText();
  const [name, ...lines] = barText(bar, picture, text);
  return (
    <div className="bar-card" style={at} aria-hidden="true">
      <strong>{name}</strong>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
