import { useMutation } from "@tanstack/react-query";
import { Button, type FormInstance } from "antd";
import { askWhatIf } from "../../api/operations";
import { Problem } from "../../api/problem";
import type { WhatIf, WhatIfOutcome } from "../../api/views";
import { ProblemAlert } from "../../components/feedback";
import { AlertIcon, CheckIcon, ClockIcon } from "../../components/icons";
import { Section } from "../../components/page";
import { WhatIfDifference } from "../../components/what-if-difference";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";
import { asSubmission, questionOf, touchesOthers } from "../../lib/what-if";
import { type FormValues, specOf } from "./spec";

type Props = {
  form: FormInstance<FormValues>;
  values: FormValues | undefined;
  /** Puts what is wrong on the form's fields. */
  onRefused: (problem: Problem) => void;
};
/** What a plan looks at, and what the form checks by itself before asking. */
const NEEDED: (keyof FormValues)[] = [
  "team",
  "gpus",
  "min_replicas",
  "max_replicas",
  "node_labels",
  "env",
  "labels",
];

/** Asks the planner itself what would become of the job now, and of whom else. Nothing is submitted by asking. */
export function WhatIfPanel({ form, values, onRefused }: Props) {
  const { t } = useText();
  const question = values ? JSON.stringify(questionOf(specOf(values))) : "";
  const asked = useMutation({
    mutationFn: async (spec: string) => {
      try {
        return { spec, answer: await askWhatIf([{ submit: JSON.parse(spec) }]) };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const problem = new Problem(asSubmission(error.body));
        onRefused(problem);
        throw problem;
      }
    },
  });
  const ask = async () => {
    const wrong = await form.validateFields(NEEDED).then(
      () => null,
      (failed: { errorFields: { name: (string | number)[] }[] }) => failed.errorFields[0]?.name ?? [],
    );
    if (wrong) form.scrollToField(wrong, { focus: true });
    else asked.mutate(question);
  };
  const stale = asked.data !== undefined && asked.data.spec !== question;
  return (
    <Section title={t("whatif.title")} className="what-if">
      <p className="quiet">{t("whatif.no_write")}</p>
      <Button onClick={() => void ask()} loading={asked.isPending}>
        {t(asked.data ? "whatif.ask_again" : "whatif.ask")}
      </Button>
      <div aria-live="polite">
        {asked.error ? <ProblemAlert error={asked.error} /> : null}
        {asked.data && !asked.error && (
          <div className={stale ? "stale-answer" : undefined}>
            {stale && <p className="flag">{t("whatif.stale")}</p>}
            <Answered answer={asked.data.answer} />
          </div>
        )}
      </div>
    </Section>
  );
}

function Answered({ answer }: { answer: WhatIf }) {
  const { t } = useText();
  return (
    <>
      {answer.submitted.map((outcome, at) => (
        <Outcome key={at} outcome={outcome} />
      ))}
      {!touchesOthers(answer) && <p>{t("whatif.nobody_else")}</p>}
      <WhatIfDifference answer={answer} />
      {!answer.at_rest && <p className="bad-text">{t("whatif.not_at_rest")}</p>}
      <p className="quiet">
        {t("verdict.as_of")} <When at={answer.as_of} short />
      </p>
    </>
  );
}

const LOOKS = { starts: CheckIcon, starts_after_evictions: AlertIcon, waits: ClockIcon } as const;

/** One sentence: where it starts, or why it waits, until when, and the smallest change that helps. */
function Outcome({ outcome }: { outcome: WhatIfOutcome }) {
  const { t, n, sentence } = useText();
  const Icon = LOOKS[outcome.outcome as keyof typeof LOOKS] ?? ClockIcon;
  const { start } = outcome;
  return (
    <>
      <p className={`verdict outcome-${outcome.outcome}`}>
        <Icon />{" "}
        {start
          ? t(start.at_once ? "whatif.starts_now" : "whatif.starts_after", {
              gpus: n(start.gpus),
              pool: start.pool?.slug ?? "",
              nodes: start.nodes.map((node) => node.name).join(" "),
            })
          : `${t("whatif.waits")} ${sentence(outcome.verdict?.sentence)}`}
      </p>
      {outcome.help && outcome.help.action !== "wait" && (
        <p className="help-line">
          <strong>{t("verdict.help")}</strong> {sentence(outcome.help.sentence)}
        </p>
      )}
      {!start && outcome.expected_start && (
        <p className="help-line">
          <strong>{t("verdict.expected_start")}</strong> {sentence(outcome.expected_start.sentence)}
        </p>
      )}
      {!start && outcome.position != null && (
        <p className="quiet">{t("verdict.position", { position: n(outcome.position) })}</p>
      )}
    </>
  );
}
