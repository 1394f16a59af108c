import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listQueues, showEffectivePolicy } from "../../api/operations";
import type { JobRules } from "../../api/views";
import { Choose, ChooseTeam } from "../../components/choose";
import { Answer } from "../../components/feedback";
import { Section } from "../../components/page";
import { DataTable } from "../../components/table";
import { useText } from "../../lib/use-text";
import { RuleValue } from "../job/rules";

type Rule = JobRules["rules"][number];

/** The rules as they come out at one place: installation, a team, or a queue of it; what a place sets itself stands out. */
export function EffectiveRules({ version }: { version: number }) {
  const { t, word } = useText();
  const [team, setTeam] = useState<string | undefined>();
  const [queue, setQueue] = useState<string | undefined>();
  const queues = useQuery({
    queryKey: ["queues", "team", team ?? ""],
    queryFn: () => listQueues(team ? { team } : {}),
  });
  const place = queue ? { queue } : team ? { team } : {};
  const effective = useQuery({
    queryKey: ["policy-effective", version, JSON.stringify(place)],
    queryFn: () => showEffectivePolicy(place),
  });
  const names = effective.data?.kinds[0]?.rules.map((rule) => rule.name) ?? [];
  const from = (rule: Rule) =>
    rule.level === "installation" ? null : (
      <div className="quiet">{`${word("rule_level", rule.level)} ${rule.slug}`}</div>
    );
  return (
    <Section
      title={t("policy.effective")}
      extra={
        <span className="button-row">
          <ChooseTeam
            value={team}
            onChange={(next) => {
              setTeam(next);
              setQueue(undefined);
            }}
          />
          <Choose
            label={t("field.queue")}
            value={queue}
            options={(queues.data ?? []).map((one) => ({ value: one.slug, label: one.name }))}
            onChange={setQueue}
          />
        </span>
      }
    >
      <Answer of={effective}>
        {(data) => (
          <DataTable
            label={t("policy.effective")}
            rows={data.kinds}
            rowKey={(row) => row.kind}
            columns={[
              {
                key: "kind",
                head: t("field.kind"),
                cell: (row) => <strong>{word("kind", row.kind)}</strong>,
              },
              ...names.map((name) => ({
                key: name,
                head: word("rule_name", name),
                cell: (row: JobRules) => {
                  const rule = row.rules.find((one) => one.name === name);
                  return rule ? (
                    <>
                      <RuleValue rule={rule} />
                      {from(rule)}
                    </>
                  ) : null;
                },
              })),
            ]}
          />
        )}
      </Answer>
    </Section>
  );
}
