import { Button } from "antd";
import { useState } from "react";
import { useConfirm } from "./confirm";
import { ProblemAlert } from "./feedback";

type Props = {
  label: string;
  /** What it acts on: the button's whole name to readers. */
  of: string;
  /** Asked before it is done; nothing is asked where this is left out. */
  ask?: string;
  text?: string;
  danger?: boolean;
  run: () => Promise<unknown>;
  disabled?: boolean;
};

/** One act in a row of a table, asked back where it takes something away. */
export function ActButton({ label, of, ask, text, danger = true, run, disabled = false }: Props) {
  const confirm = useConfirm();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      await run();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const start = () =>
    ask
      ? confirm({ title: ask, ...(text && { content: text }), okText: label, danger, onOk: act })
      : void act();
  return (
    <>
      <Button size="small" loading={busy} disabled={disabled} aria-label={`${label} ${of}`} onClick={start}>
        {label}
      </Button>
      {error ? <ProblemAlert error={error} /> : null}
    </>
  );
}
