import { Input, InputNumber, Select } from "antd";
import { type Kind, PRIORITY_CLASSES } from "../../api/views";
import { Labelled } from "../../components/labelled";
import { DAYS, type KindRules, NEW_WINDOW, type TimeWindow } from "../../lib/policy-form";
import { useText } from "../../lib/use-text";

type Props = {
  kind: Kind;
  rules: KindRules;
  /** What is left empty comes from the places above. */
  inherits: boolean;
  readOnly: boolean;
  onRule: <Name extends keyof KindRules>(name: Name, value: KindRules[Name] | undefined) => void;
};
const CLASSES = ["default_priority", "ceiling"] as const;
const SECONDS = ["min_runtime_secs", "grace_secs"] as const;

/** One kind's rules at a place. */
export function KindFields({ kind, rules, inherits, readOnly, onRule }: Props) {
  const { t, word, duration } = useText();
  const empty = inherits ? t("policy.inherited") : "";
  return (
    <fieldset className="kind-fields">
      <legend>{word("kind", kind)}</legend>
      <div className="form-row">
        {CLASSES.map((name) => (
          <Labelled key={name} label={word("rule_name", name)}>
            <Select
              disabled={readOnly}
              allowClear={inherits}
              placeholder={empty}
              value={rules[name]}
              options={PRIORITY_CLASSES.map((value) => ({ value, label: word("priority", value) }))}
              onChange={(value) => onRule(name, value ?? undefined)}
            />
          </Labelled>
        ))}
        {SECONDS.map((name) => (
          <Labelled
            key={name}
            label={t("policy.in_seconds", { name: word("rule_name", name) })}
            hint={rules[name] === undefined ? undefined : duration(rules[name] ?? 0)}
          >
            <InputNumber
              disabled={readOnly}
              min={0}
              precision={0}
              placeholder={empty}
              value={rules[name] ?? null}
              onChange={(value) => onRule(name, value ?? (inherits ? undefined : 0))}
            />
          </Labelled>
        ))}
        <Labelled label={word("rule_name", "may_borrow")}>
          <Select
            disabled={readOnly}
            allowClear={inherits}
            placeholder={empty}
            value={rules.may_borrow === undefined ? undefined : rules.may_borrow ? "yes" : "no"}
            options={[
              { value: "yes", label: t("word.yes") },
              { value: "no", label: t("word.no") },
            ]}
            onChange={(value) => onRule("may_borrow", value === undefined ? undefined : value === "yes")}
          />
        </Labelled>
        <WindowChoice rules={rules} inherits={inherits} readOnly={readOnly} onRule={onRule} />
      </div>
      {rules.time_window && (
        <WindowFields
          window={rules.time_window}
          readOnly={readOnly}
          onChange={(window) => onRule("time_window", window)}
        />
      )}
    </fieldset>
  );
}

/** At any time, only in a window, or as the places above say. */
function WindowChoice({ rules, inherits, readOnly, onRule }: Omit<Props, "kind">) {
  const { t, word } = useText();
  const lifted = rules.time_window === null || (!inherits && rules.time_window === undefined);
  const value = rules.time_window ? "window" : lifted ? "any" : "inherited";
  const choose = (next: string) => {
    if (next === "window") onRule("time_window", NEW_WINDOW);
    // At the installation "any time" is nothing said; below it lifts what is inherited.
    else onRule("time_window", next === "any" && inherits ? null : undefined);
  };
  return (
    <Labelled label={word("rule_name", "time_window")}>
      <Select
        disabled={readOnly}
        value={value}
        options={[
          ...(inherits ? [{ value: "inherited", label: t("policy.inherited") }] : []),
          { value: "any", label: t("policy.any_time") },
          { value: "window", label: t("policy.in_window") },
        ]}
        onChange={choose}
      />
    </Labelled>
  );
}

type WindowProps = { window: TimeWindow; readOnly: boolean; onChange: (window: TimeWindow) => void };
function WindowFields({ window, readOnly, onChange }: WindowProps) {
  const { t, word } = useText();
  const time = (name: "from" | "until") => (
    <Labelled label={t(`policy.window_${name}`)}>
      <input
        type="time"
        className="moment"
        disabled={readOnly}
        value={window[name]}
        onChange={(event) => event.target.value && onChange({ ...window, [name]: event.target.value })}
      />
    </Labelled>
  );
  return (
    <div className="form-row">
      {time("from")}
      {time("until")}
      <Labelled label={t("policy.window_days")}>
        <Select
          mode="multiple"
          disabled={readOnly}
          placeholder={t("policy.every_day")}
          value={window.days ?? []}
          options={DAYS.map((value) => ({ value, label: word("day", value) }))}
          onChange={(days: string[]) => {
            const { days: _, ...rest } = window;
            onChange(days.length ? { ...rest, days: DAYS.filter((day) => days.includes(day)) } : rest);
          }}
        />
      </Labelled>
      <Labelled label={t("policy.window_zone")}>
        <Input
          disabled={readOnly}
          value={window.zone ?? "UTC"}
          onChange={(event) => onChange({ ...window, zone: event.target.value })}
        />
      </Labelled>
    </div>
  );
}
