import { useQuery } from "@tanstack/react-query";
import { Select } from "antd";
import { listPools, listTeams } from "../api/operations";
import { compareNames } from "../lib/format";
import { useText } from "../lib/use-text";

type Props = { value: string | undefined; onChange: (value: string | undefined) => void };

export function useTeams() {
  return useQuery({ queryKey: ["teams"], queryFn: listTeams, staleTime: 60_000 });
}
export function usePools() {
  return useQuery({ queryKey: ["pools"], queryFn: listPools });
}

/** One of a few words, or all. */
export function ChooseWord(props: Props & { label: string; group: string; values: readonly string[] }) {
  const { word } = useText();
  return (
    <Choose
      value={props.value}
      onChange={props.onChange}
      label={props.label}
      options={props.values.map((value) => ({ value, label: word(props.group, value) }))}
    />
  );
}

export function ChooseTeam({ value, onChange }: Props) {
  const { t, locale } = useText();
  const teams = useTeams();
  const options = (teams.data ?? [])
    .map((team) => ({ value: team.slug, label: team.name }))
    .sort((a, b) => compareNames(a.label, b.label, locale));
  return <Choose value={value} onChange={onChange} label={t("field.team")} options={options} />;
}

export function ChoosePool({ value, onChange, all = true }: Props & { all?: boolean }) {
  const { t } = useText();
  const pools = usePools();
  const options = (pools.data ?? []).map((pool) => ({ value: pool.slug, label: pool.slug }));
  return <Choose value={value} onChange={onChange} label={t("field.pool")} options={options} all={all} />;
}

type ChooseProps = Props & { label: string; options: { value: string; label: string }[]; all?: boolean };
export function Choose({ value, onChange, label, options, all = true }: ChooseProps) {
  return (
    <Select
      className="choose"
      aria-label={label}
      placeholder={label}
      allowClear={all}
      showSearch={options.length > 8 ? { optionFilterProp: "label" } : false}
      value={value}
      options={options}
      onChange={(next) => onChange(next ?? undefined)}
      popupMatchSelectWidth={false}
    />
  );
}
