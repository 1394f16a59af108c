import { useQueryClient } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { removeNode } from "../../api/admin";
import { actOnNode } from "../../api/operations";
import type { Node } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { useConfirm } from "../../components/confirm";
import { ProblemAlert } from "../../components/feedback";
import { useText } from "../../lib/use-text";
import { isAdmin, useMe } from "../../session";

type Act = "cordon" | "uncordon" | "drain";

/** For platform admins: take a node out of scheduling, empty it, or put it back. */
export function NodeActions({ node }: { node: Node }) {
  const { t } = useText();
  const confirm = useConfirm();
  const client = useQueryClient();
  const me = useMe();
  const [error, setError] = useState<unknown>(null);
  if (!isAdmin(me.data) || node.state === "removed") return null;
  if (node.state === "lost") return <Remove node={node} />;
  const run = async (act: Act) => {
    setError(null);
    try {
      await actOnNode(node.id, act);
    } catch (problem) {
      setError(problem);
    }
    void client.invalidateQueries({ queryKey: ["nodes"] });
  };
  const drain = () =>
    confirm({
      title: t("nodes.ask_drain", { node: node.name }),
      content: t("nodes.drain_text"),
      okText: t("nodes.drain"),
      danger: true,
      onOk: () => run("drain"),
    });
  const named = (act: Act) => ({ "aria-label": `${t(`nodes.${act}`)} ${node.name}` });
  return (
    <div className="node-actions">
      {node.state === "ready" ? (
        <Button size="small" {...named("cordon")} onClick={() => void run("cordon")}>
          {t("nodes.cordon")}
        </Button>
      ) : (
        <Button size="small" {...named("uncordon")} onClick={() => void run("uncordon")}>
          {t("nodes.uncordon")}
        </Button>
      )}
      {node.state !== "draining" && (
        <Button size="small" {...named("drain")} onClick={drain}>
          {t("nodes.drain")}
        </Button>
      )}
      {error ? <ProblemAlert error={error} /> : null}
    </div>
  );
}

/** A lost node that will not come back: its credential goes with it, its history stays. */
function Remove({ node }: { node: Node }) {
  const { t } = useText();
  const client = useQueryClient();
  return (
    <div className="node-actions">
      <ActButton
        label={t("nodes.remove")}
        of={node.name}
        ask={t("nodes.ask_remove", { node: node.name })}
        text={t("nodes.remove_text")}
        run={async () => {
          await removeNode(node.id);
          await client.invalidateQueries({ queryKey: ["nodes"] });
        }}
      />
    </div>
  );
}
