import { useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { updateQueue } from "../../api/operations";
import type { Queue } from "../../api/views";
import { useConfirm } from "../../components/confirm";
import { ProblemAlert } from "../../components/feedback";
import { useText } from "../../lib/use-text";
import { mayLead, useMe } from "../../session";

/** Opens or holds a queue. Holding stops new starts only, and is asked back first. */
export function QueueSwitch({ queue }: { queue: Queue }) {
  const { t } = useText();
  const confirm = useConfirm();
  const client = useQueryClient();
  const me = useMe();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (!mayLead(me.data, queue.team.id)) return null;
  const change = async (state: Queue["state"]) => {
    setBusy(true);
    setError(null);
    try {
      client.setQueryData(["queue", queue.id], await updateQueue(queue, { state }));
    } catch (problem) {
      setError(problem);
      void client.invalidateQueries({ queryKey: ["queue", queue.id] });
    } finally {
      setBusy(false);
    }
  };
  const hold = () =>
    confirm({
      title: t("queue.hold_title", { queue: queue.name }),
      content: t("queue.hold_text"),
      okText: t("queue.hold"),
      onOk: () => change("held"),
    });
  return (
    <>
      {error ? <ProblemAlert error={error} /> : null}
      {queue.state === "open" ? (
        <Button onClick={hold} loading={busy}>
          {t("queue.hold")}
        </Button>
      ) : (
        <Button onClick={() => void change("open")} loading={busy}>
          {t("queue.open")}
        </Button>
      )}
    </>
  );
}
