import { useQuery } from "@tanstack/react-query";
import { showJobRules } from "../../api/operations";
import type { Job, JobRules } from "../../api/views";
import { Answer } from "../../components/feedback";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { useText } from "../../lib/use-text";

type Rule = JobRules["rules"][number];

/** The rules of its kind as they hold for it, each with the queue, team or installation that sets it. */
export function Rules({ job }: { job: Job }) {
  const { t, n, word } = useText();
  const rules = useQuery({
    queryKey: ["job", job.id, "rules"],
    queryFn: () => showJobRules(job.id),
    staleTime: 60_000,
  });
  return (
    <Section title={t("rules.title")}>
      <Answer of={rules}>
        {(data) => (
          <>
            <DataTable
              label={t("rules.title")}
              rows={data.rules}
              rowKey={(rule) => rule.name}
              columns={[
                { key: "name", head: t("eviction.rule"), cell: (rule) => word("rule_name", rule.name) },
                { key: "value", head: t("rules.value"), cell: (rule) => <RuleValue rule={rule} /> },
                {
                  key: "from",
                  head: t("rules.from"),
                  wide: true,
                  cell: (rule) => `${word("rule_level", rule.level)} ${rule.slug ?? ""}`,
                },
              ]}
            />
            <p className="quiet">
              {data.policy_version === 0
                ? t("rules.defaults")
                : t("rules.version", { version: n(data.policy_version) })}
            </p>
          </>
        )}
      </Answer>
    </Section>
  );
}

type TimeWindow = { from?: string; until?: string; zone?: string; days?: string[] };

export function RuleValue({ rule }: { rule: Rule }) {
  const { t, n, word, duration } = useText();
  const value: unknown = rule.value;
  if (rule.name === "idle_action") return <>{word("idle_action", String(value))}</>;
  if (typeof value === "number" && rule.name.endsWith("_permille"))
    return <>{t("gpu_use.percent", { value: n(value / 10) })}</>;
  if (typeof value === "number" && rule.name.endsWith("_secs")) return <>{duration(value)}</>;
  if (typeof value === "boolean") return <>{t(value ? "word.yes" : "word.no")}</>;
  if (typeof value === "string") return <>{word("priority", value)}</>;
  if (value == null) return <span className="quiet">{t("rules.none")}</span>;
  const window = value as TimeWindow;
  const days = window.days?.map((day) => word("day", day)).join(" ");
  return <>{[`${window.from}–${window.until}`, window.zone, days].filter(Boolean).join(" · ")}</>;
}
