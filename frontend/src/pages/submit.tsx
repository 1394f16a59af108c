import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Form } from "antd";
import { useRef, useState } from "react";
import { newKey } from "../api/client";
import { showJob, submitJob } from "../api/operations";
import { fieldOf, Problem } from "../api/problem";
import type { Job } from "../api/views";
import { Answer, ProblemAlert } from "../components/feedback";
import { ButtonLink } from "../components/links";
import { Page } from "../components/page";
import { useText } from "../lib/use-text";
import { useMe } from "../session";
import { AskNowPanel } from "./submit/ask-now-panel";
import { MainFields } from "./submit/main-fields";
import { MoreFields } from "./submit/more-fields";
import { type FormValues, fieldForPointer, specOf, valuesOf } from "./submit/spec";
import { WhatIfPanel } from "./submit/what-if-panel";

/** Submits a job; `?from=<job>` begins with a copy of that one. */
export function SubmitPage() {
  const { t } = useText();
  const { from } = useSearch({ from: "/jobs/new" });
  const source = useQuery({ queryKey: ["job", from], queryFn: () => showJob(from ?? ""), enabled: !!from });
  return (
    <Page title={from ? t("submit.clone_title") : t("submit.title")}>
      {from ? (
        <Answer of={source}>{(job) => <SubmitForm key={from} copy={job} />}</Answer>
      ) : (
        <SubmitForm key="new" copy={null} />
      )}
    </Page>
  );
}

const MAIN_FIELDS = ["name", "team", "queue", "kind", "priority", "gpus", "replicas", "command"];

function SubmitForm({ copy }: { copy: Job | null }) {
  const { t } = useText();
  const navigate = useNavigate();
  const client = useQueryClient();
  const search = useSearch({ from: "/jobs/new" });
  const me = useMe();
  const [form] = Form.useForm<FormValues>();
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [more, setMore] = useState(copy != null);
  // The same content sent again (a lost reply) carries the same key: the server makes one job of it.
  const sent = useRef({ content: "", key: "" });
  const values = Form.useWatch([], form);
  const team = search.team ?? me.data?.memberships[0]?.team.slug;

  const submit = async (given: FormValues) => {
    const spec = specOf(given);
    const content = JSON.stringify(spec);
    if (sent.current.content !== content) sent.current = { content, key: newKey() };
    setBusy(true);
    setError(null);
    try {
      const job = await submitJob(spec, sent.current.key);
      client.setQueryData(["job", job.id], job);
      void client.invalidateQueries({ queryKey: ["jobs"] });
      void navigate({ to: "/jobs/$id", params: { id: job.id } });
    } catch (problem) {
      setError(problem);
      if (problem instanceof Problem) showOnFields(problem);
    } finally {
      setBusy(false);
    }
  };
  /** A fault in what is folded away must not stay hidden. */
  const openFor = (names: string[]) => {
    if (names.some((name) => !MAIN_FIELDS.includes(name))) setMore(true);
  };
  const showOnFields = (problem: Problem) => {
    const fields = (problem.body.errors ?? [])
      .filter((one) => fieldOf(one.pointer) !== "")
      .map((one) => ({ name: fieldForPointer(fieldOf(one.pointer)), errors: [one.detail] }));
    form.setFields(fields);
    openFor(fields.map((field) => String(field.name)));
    const first = fields[0];
    if (first) form.scrollToField(first.name, { focus: true });
  };
  return (
    <Form<FormValues>
      form={form}
      className="submit"
      layout="vertical"
      scrollToFirstError={{ focus: true }}
      initialValues={copy ? valuesOf(copy) : { ...valuesOf(null), team, queue: search.queue }}
      onFinish={submit}
      onFinishFailed={({ errorFields }) => openFor(errorFields.map((field) => String(field.name[0])))}
      disabled={busy}
    >
      <div className="submit-fields">
        <MainFields team={values?.team} />
        <MoreFields open={more} onOpen={setMore} />
        {error ? <ProblemAlert error={error} /> : null}
        <AskInstead error={error} values={values} />
        <Button type="primary" htmlType="submit" size="large" loading={busy}>
          {t("submit.button")}
        </Button>
      </div>
      <aside className="ask-now" aria-label={t("ask.aside")}>
        <WhatIfPanel form={form} values={values} onRefused={showOnFields} />
        <AskNowPanel values={values} />
      </aside>
    </Form>
  );
}

/** Refused for its priority or a budget: the way to ask for it. */
function AskInstead({ error, values }: { error: unknown; values: FormValues | undefined }) {
  const { t } = useText();
  const code = error instanceof Problem ? error.code : "";
  if (!values?.team) return null;
  if (code === "priority_above_ceiling")
    return (
      <p className="help-line">
        {t("submit.ask_text")}{" "}
        <ButtonLink
          to="/approvals/new"
          search={{
            asks_for: "priority",
            team: values.team,
            queue: values.queue,
            kind: values.kind,
            level: values.priority,
          }}
        >
          {t("submit.ask_priority")}
        </ButtonLink>
      </p>
    );
  const budget = error instanceof Problem ? error.body.params?.budget : undefined;
  if (code === "budget_exhausted" || code === "budget_needs_approval")
    return (
      <p className="help-line">
        {t("submit.ask_text")}{" "}
        <ButtonLink
          to="/approvals/new"
          search={{
            asks_for: "budget",
            team: values.team,
            ...(typeof budget === "string" && { budget }),
          }}
        >
          {t("budget.ask_exception")}
        </ButtonLink>
      </p>
    );
  return null;
}
