import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Form, Input, InputNumber, Select } from "antd";
import { useState } from "react";
import { createQueue, deleteQueue } from "../../api/admin";
import { listQueues } from "../../api/operations";
import { KINDS, type Kind, type Queue, type Team } from "../../api/views";
import { ActButton } from "../../components/act-button";
import { Answer, Nothing } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { SubHead } from "../../components/page";
import { DataTable } from "../../components/table";
import { QueueMark } from "../../components/tags";
import { useText } from "../../lib/use-text";

/** The team's queues; each opens its own page. */
export function TeamQueues({ team, mayEdit }: { team: Team; mayEdit: boolean }) {
  const { t, n, word } = useText();
  const client = useQueryClient();
  const [making, setMaking] = useState(false);
  const queues = useQuery({
    queryKey: ["queues", "team", team.slug],
    queryFn: () => listQueues({ team: team.slug }),
  });
  const own = (queues.data ?? []).filter((queue) => queue.team.id === team.id);
  const remove = async (queue: Queue) => {
    await deleteQueue(queue);
    await client.invalidateQueries({ queryKey: ["queues"] });
  };
  return (
    <>
      <SubHead
        title={t("nav.queues")}
        act={mayEdit && !making ? t("queues.new") : null}
        onAct={() => setMaking(true)}
      />
      {making && <QueueForm team={team} onClose={() => setMaking(false)} />}
      <Answer of={queues}>
        {() =>
          own.length === 0 ? (
            <Nothing why={t("queues.no_queue")} next={t("queues.no_queue_next")} />
          ) : (
            <DataTable
              label={t("nav.queues")}
              rows={own}
              rowKey={(queue) => queue.id}
              columns={[
                {
                  key: "name",
                  head: t("field.name"),
                  wide: true,
                  cell: (queue) => (
                    <Link to="/queues/$id" params={{ id: queue.id }}>
                      {queue.name}
                    </Link>
                  ),
                },
                { key: "state", head: t("field.state"), cell: (queue) => <QueueMark state={queue.state} /> },
                {
                  key: "kinds",
                  head: t("queue.kinds"),
                  cell: (queue) =>
                    queue.allowed_kinds
                      ? queue.allowed_kinds.map((kind) => word("kind", kind)).join(t("quota.separator"))
                      : t("queue.all_kinds"),
                },
                {
                  key: "jobs",
                  head: t("nav.jobs"),
                  number: true,
                  cell: (queue) =>
                    t("queues.counts", { running: n(queue.counts.running), queued: n(queue.counts.queued) }),
                },
                {
                  key: "acts",
                  head: t("nodes.actions"),
                  cell: (queue) =>
                    mayEdit && (
                      <ActButton
                        label={t("action.delete")}
                        of={queue.name}
                        ask={t("queues.ask_delete", { queue: queue.name })}
                        text={t("queues.delete_text")}
                        run={() => remove(queue)}
                      />
                    ),
                },
              ]}
            />
          )
        }
      </Answer>
    </>
  );
}

type Values = {
  slug: string;
  name: string;
  order: Queue["order"];
  allowed_kinds: Kind[];
  max_running_jobs?: number | null;
  max_running_gpus?: number | null;
  max_running_jobs_per_user?: number | null;
};
const LIMITS = ["max_running_jobs", "max_running_gpus", "max_running_jobs_per_user"] as const;
const ORDERS = ["fifo_with_backfill", "strict_fifo"] as const;

function QueueForm({ team, onClose }: { team: Team; onClose: () => void }) {
  const { t, word } = useText();
  const client = useQueryClient();
  const save = async (values: Values, key: string) => {
    const { allowed_kinds, ...rest } = values;
    await createQueue(
      { ...rest, team: team.slug, allowed_kinds: allowed_kinds.length ? allowed_kinds : null },
      key,
    );
    await client.invalidateQueries({ queryKey: ["queues"] });
    onClose();
  };
  const required = { required: true, whitespace: true, message: t("form.required") };
  return (
    <FormPanel<Values>
      title={t("queues.new")}
      okText={t("queues.create")}
      initial={{ slug: `${team.slug}-`, name: "", order: "fifo_with_backfill", allowed_kinds: [] }}
      onSubmit={save}
      onClose={onClose}
    >
      <div className="form-row">
        <Form.Item<Values> name="slug" label={t("field.slug")} extra={t("form.slug")} rules={[required]}>
          <Input autoComplete="off" maxLength={64} />
        </Form.Item>
        <Form.Item<Values> name="name" label={t("field.name")} rules={[required]}>
          <Input maxLength={100} />
        </Form.Item>
        <Form.Item<Values> name="order" label={t("queue.order")}>
          <Select options={ORDERS.map((value) => ({ value, label: word("queue_order", value) }))} />
        </Form.Item>
      </div>
      <div className="form-row">
        <Form.Item<Values> name="allowed_kinds" label={t("queue.kinds")}>
          <Select
            mode="multiple"
            placeholder={t("queue.all_kinds")}
            options={KINDS.map((value) => ({ value, label: word("kind", value) }))}
          />
        </Form.Item>
        {LIMITS.map((name) => (
          <Form.Item<Values> key={name} name={name} label={t(`queue.${name}`)}>
            <InputNumber min={0} precision={0} placeholder={t("queue.unlimited")} />
          </Form.Item>
        ))}
      </div>
    </FormPanel>
  );
}
