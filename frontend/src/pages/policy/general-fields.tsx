import { InputNumber, Select } from "antd";
import { PRIORITY_CLASSES } from "../../api/views";
import { Labelled } from "../../components/labelled";
import {
  CLASS_VALUES,
  type Doc,
  PLACEMENTS,
  PREEMPTIONS,
  partOf,
  RECLAIMS,
  SURPLUS_ORDERS,
  withField,
  withPart,
} from "../../lib/policy-form";
import { useText } from "../../lib/use-text";

type Props = { doc: Doc; onChange: (doc: Doc) => void; readOnly: boolean };
const CHOICES = [
  { name: "reclaim", words: RECLAIMS },
  { name: "preempt_within_team", words: PREEMPTIONS },
  { name: "surplus_order", words: SURPLUS_ORDERS },
  { name: "placement", words: PLACEMENTS },
] as const;

/** Rules of the whole installation. */
export function GeneralFields({ doc, onChange, readOnly }: Props) {
  const { t, word } = useText();
  const number = (name: string) => (typeof doc[name] === "number" ? (doc[name] as number) : null);
  return (
    <div className="form-row">
      {CHOICES.map(({ name, words }) => (
        <Labelled key={name} label={word("policy_field", name)}>
          <Select
            disabled={readOnly}
            value={doc[name] as string}
            options={words.map((value) => ({ value, label: t(`policy_choice.${name}_${value}`) }))}
            onChange={(value) => onChange(withField(doc, name, value))}
          />
        </Labelled>
      ))}
      <BorrowPreemption doc={doc} onChange={onChange} readOnly={readOnly} />
      <Labelled label={word("policy_field", "nomination_timeout_secs")}>
        <InputNumber
          disabled={readOnly}
          min={1}
          precision={0}
          value={number("nomination_timeout_secs")}
          onChange={(value) => onChange(withField(doc, "nomination_timeout_secs", value ?? undefined))}
        />
      </Labelled>
      <Labelled label={word("policy_field", "max_evictions_per_job_per_day")}>
        <InputNumber
          disabled={readOnly}
          min={0}
          precision={0}
          value={number("max_evictions_per_job_per_day")}
          onChange={(value) => onChange(withField(doc, "max_evictions_per_job_per_day", value ?? undefined))}
        />
      </Labelled>
      {CAPPED.map((one) => (
        <Capped key={one.part} {...one} doc={doc} onChange={onChange} readOnly={readOnly} />
      ))}
      <Backfill doc={doc} onChange={onChange} readOnly={readOnly} />
    </div>
  );
}

/** Whose loans priority may take across teams: up to a class, none, or a number of the installation's own. */
function BorrowPreemption({ doc, onChange, readOnly }: Props) {
  const { t, n, word } = useText();
  const most = doc.borrow_preemption_max_priority;
  const known = PRIORITY_CLASSES.map((name) => ({
    value: String(CLASS_VALUES[name]),
    label: `${word("priority", name)} (${n(CLASS_VALUES[name])})`,
  }));
  const own =
    typeof most === "number" && !known.some((one) => one.value === String(most))
      ? [{ value: String(most), label: n(most) }]
      : [];
  return (
    <Labelled label={word("policy_field", "borrow_preemption_max_priority")}>
      <Select
        disabled={readOnly}
        value={typeof most === "number" ? String(most) : "off"}
        options={[{ value: "off", label: t("policy.off") }, ...known, ...own]}
        onChange={(value) =>
          onChange(withField(doc, "borrow_preemption_max_priority", value === "off" ? null : Number(value)))
        }
      />
    </Labelled>
  );
}

const ON_OFF = ["off", "on"] as const;

/** What evicts running work at a capped rate, and is off unless wanted. */
const CAPPED = [
  { part: "rebalance", cap: "max_evictions_per_hour" },
  { part: "consolidation", cap: "max_moves_per_hour" },
] as const;

function Capped({ part, cap, doc, onChange, readOnly }: Props & (typeof CAPPED)[number]) {
  const { t, word } = useText();
  const { mode, [cap]: most } = partOf(doc, part);
  return (
    <>
      <Labelled label={word("policy_field", part)}>
        <Select
          disabled={readOnly}
          value={mode as string}
          options={ON_OFF.map((value) => ({ value, label: t(`policy.${value}`) }))}
          onChange={(next) =>
            onChange(withField(doc, part, next === "on" ? { mode: next, [cap]: 4 } : { mode: next }))
          }
        />
      </Labelled>
      {mode === "on" && (
        <Labelled label={word("policy_field", cap)}>
          <InputNumber
            disabled={readOnly}
            min={0}
            precision={0}
            placeholder={t("queue.unlimited")}
            value={typeof most === "number" ? most : null}
            onChange={(value) => onChange(withPart(doc, part, cap, value))}
          />
        </Labelled>
      )}
    </>
  );
}

const BACKFILL_NUMBERS = ["planned_jobs", "starvation_limit_secs", "window_secs"] as const;
const BACKFILL_ON = {
  mode: "on",
  planned_jobs: 4,
  starvation_limit_secs: 12 * 3600,
  window_secs: 24 * 3600,
};

function Backfill({ doc, onChange, readOnly }: Props) {
  const { t, word } = useText();
  const part = partOf(doc, "backfill");
  return (
    <>
      <Labelled label={word("policy_field", "backfill")}>
        <Select
          disabled={readOnly}
          value={part.mode as string}
          options={ON_OFF.map((value) => ({ value, label: t(`policy.${value}`) }))}
          onChange={(mode) => onChange(withField(doc, "backfill", mode === "on" ? BACKFILL_ON : { mode }))}
        />
      </Labelled>
      {part.mode === "on" &&
        BACKFILL_NUMBERS.map((name) => (
          <Labelled key={name} label={word("policy_field", name)}>
            <InputNumber
              disabled={readOnly}
              min={0}
              precision={0}
              placeholder={name === "starvation_limit_secs" ? t("policy.never") : ""}
              value={typeof part[name] === "number" ? (part[name] as number) : null}
              onChange={(value) =>
                onChange(
                  withPart(
                    doc,
                    "backfill",
                    name,
                    // Only here nothing means "never"; elsewhere it means the default.
                    name === "starvation_limit_secs" ? value : (value ?? undefined),
                  ),
                )
              }
            />
          </Labelled>
        ))}
    </>
  );
}
