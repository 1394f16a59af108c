import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useId, useState } from "react";
import { listJobs, listQueues } from "../api/operations";
import { useText } from "../lib/use-text";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
type Hit = { key: string; label: string; kind: string; go: () => void };

/** Finds jobs by name or id, and queues; Enter without a choice lists the jobs whose name contains the text. */
export function SearchBox() {
  const { t } = useText();
  const navigate = useNavigate();
  const listId = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(-1);
  const [open, setOpen] = useState(false);
  const wanted = useDeferredValue(text.trim());
  const jobs = useQuery({
    queryKey: ["jobs", "search", wanted],
    queryFn: () => listJobs({ name_contains: wanted }, null, 6),
    enabled: wanted.length >= 2 && !UUID.test(wanted),
  });
  const queues = useQuery({ queryKey: ["queues"], queryFn: () => listQueues(), enabled: wanted.length >= 2 });

  const close = () => {
    setOpen(false);
    setAt(-1);
  };
  const hits: Hit[] = [];
  if (UUID.test(wanted)) {
    hits.push({
      key: wanted,
      label: wanted,
      kind: t("search.job_by_id"),
      go: () => void navigate({ to: "/jobs/$id", params: { id: wanted } }),
    });
  }
  for (const job of jobs.data?.items ?? []) {
    hits.push({
      key: job.id,
      label: job.name,
      kind: t("search.job"),
      go: () => void navigate({ to: "/jobs/$id", params: { id: job.id } }),
    });
  }
  for (const queue of queues.data ?? []) {
    if (wanted.length < 2 || !`${queue.slug} ${queue.name}`.toLowerCase().includes(wanted.toLowerCase()))
      continue;
    hits.push({
      key: queue.id,
      label: queue.name,
      kind: t("search.queue"),
      go: () => void navigate({ to: "/queues/$id", params: { id: queue.id } }),
    });
  }
  const shown = open && wanted.length >= 2 ? hits.slice(0, 10) : [];
  const choose = (hit: Hit | undefined) => {
    close();
    if (hit) hit.go();
    else if (wanted) void navigate({ to: "/jobs", search: { name_contains: wanted } });
  };
  const onKeyDown = (event: React.KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, -1));
    else if (event.key === "Enter") choose(shown[at]);
    else if (event.key === "Escape") {
      close();
      event.currentTarget.blur();
    } else return;
    event.preventDefault();
  };
  return (
    <search className="search">
      <input
        id="search"
        type="text"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={at >= 0 ? `${listId}-${at}` : undefined}
        aria-label={t("search.label")}
        placeholder={t("search.placeholder")}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setOpen(true);
          setAt(-1);
        }}
        onFocus={() => setOpen(true)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label={t("search.results")} hidden={shown.length === 0}>
        {shown.map((hit, index) => (
          <div
            key={hit.key}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(hit);
            }}
          >
            <span>{hit.label}</span>
            <span className="quiet">{hit.kind}</span>
          </div>
        ))}
      </div>
    </search>
  );
}
