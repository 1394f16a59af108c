import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Form } from "antd";
import { useEffect } from "react";
import { previewRequest, requestEscalation } from "../../api/approvals";
import { listQuotas, showJob } from "../../api/operations";
import { Problem } from "../../api/problem";
import { ProblemAlert } from "../../components/feedback";
import { FormPanel } from "../../components/form-panel";
import { JobLink } from "../../components/links";
import { Page, Section } from "../../components/page";
import { QuotaLegend } from "../../components/quota-bar";
import { type RequestValues, requestOf } from "../../lib/request";
import { useText } from "../../lib/use-text";
import { useMe } from "../../session";
import { PreviewBody } from "./preview";
import { RequestFields } from "./request-fields";

const NEEDED: (keyof RequestValues)[] = [
  "team",
  "level",
  "pool",
  "guaranteed_gpus",
  "gpu_hours",
  "budget",
  "amount",
  "minutes",
  "reason",
];

/** Asks for more than the rules give. Before it is sent, what it would do and who would decide can be seen. */
export function RequestPage() {
  const { t } = useText();
  const search = useSearch({ from: "/approvals/new" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const me = useMe();
  const [form] = Form.useForm<RequestValues>();
  const values = Form.useWatch([], form);
  const job = useQuery({
    queryKey: ["job", search.job ?? ""],
    queryFn: () => showJob(search.job ?? ""),
    enabled: !!search.job,
  });
  const team = job.data?.team.slug ?? search.team ?? me.data?.memberships[0]?.team.slug;
  useEffect(() => {
    if (job.data) form.setFieldValue("team", job.data.team.slug);
  }, [job.data, form]);
  const send = async (given: RequestValues, key: string) => {
    const made = await requestEscalation(requestOf({ ...given, job: search.job }), key);
    client.setQueryData(["escalation", made.id], made);
    void client.invalidateQueries({ queryKey: ["escalations"] });
    void client.invalidateQueries({ queryKey: ["approvals"] });
    await navigate({ to: "/approvals/$id", params: { id: made.id } });
  };
  return (
    <Page title={t("approval.ask")}>
      <FormPanel<RequestValues>
        form={form}
        title={t(`asks_for.${search.asks_for ?? "priority"}`)}
        okText={t("approval.send")}
        initial={{
          asks_for: search.asks_for ?? "priority",
          team,
          queue: search.queue,
          kinds: search.kind ? [search.kind] : [],
          level: search.level ?? "high",
          scope: "team",
          pool: search.pool,
          budget: search.budget,
          minutes: search.asks_for === "quota" ? null : 120,
          starts_at: "",
          reason: "",
          break_glass: false,
        }}
        fieldFor={(name) => (name === "duration_secs" ? "minutes" : name)}
        onSubmit={send}
        onClose={() => window.history.back()}
      >
        {job.data && (
          <p>
            {t("approval.for_job")} <JobLink job={job.data} withTeam />
          </p>
        )}
        {job.error ? <ProblemAlert error={job.error} /> : null}
        <RequestFields values={values} ofJob={!!search.job} />
      </FormPanel>
      <Before values={values} job={search.job} validate={() => form.validateFields(NEEDED)} />
    </Page>
  );
}

type BeforeProps = {
  values: RequestValues | undefined;
  job: string | undefined;
  validate: () => Promise<unknown>;
};
/** What it would do now, and who would decide; asked for, since the planner has to work it out. */
function Before({ values, job, validate }: BeforeProps) {
  const { t } = useText();
  const body = values ? requestOf({ ...values, job }) : null;
  // Without a reason yet, the question can still be asked.
  const question = body ? JSON.stringify({ ...body, reason: body.reason || "…" }) : "";
  const asked = useMutation({
    mutationFn: async (text: string) => ({ text, preview: await previewRequest(JSON.parse(text)) }),
  });
  const quotas = useQuery({ queryKey: ["quotas", ""], queryFn: () => listQuotas({}), staleTime: 10_000 });
  const ask = async () => {
    try {
      await validate();
    } catch {
      // Fields that the form itself finds wrong are marked there; a missing reason is none of them.
      if (question === "") return;
    }
    asked.mutate(question);
  };
  const stale = asked.data && asked.data.text !== question;
  const changed = quotas.data?.find(
    (quota) => quota.team.slug === body?.team && quota.pool.slug === body?.pool,
  );
  const quota =
    body?.guaranteed_gpus != null && changed
      ? { team: changed.team.id, pool: changed.pool.id, guaranteed_gpus: body.guaranteed_gpus }
      : null;
  return (
    <Section title={t("approval.preview")} extra={<QuotaLegend />}>
      <p className="quiet">{t("approval.preview_text")}</p>
      <Button onClick={() => void ask()} loading={asked.isPending} disabled={!body}>
        {t(asked.data ? "whatif.ask_again" : "whatif.ask")}
      </Button>
      <div aria-live="polite">
        {stale && <p className="stale-answer">{t("whatif.stale")}</p>}
        {asked.error instanceof Problem || asked.error ? <ProblemAlert error={asked.error} /> : null}
        {asked.data && !asked.error && <PreviewBody preview={asked.data.preview} quota={quota} />}
      </div>
    </Section>
  );
}
