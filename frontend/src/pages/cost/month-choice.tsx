import { Labelled } from "../../components/labelled";
import { isMonth } from "../../lib/money";
import { useText } from "../../lib/use-text";

/** A month in UTC, as the ledger counts its days. */
export function MonthChoice({ value, onChange }: { value: string; onChange: (month: string) => void }) {
  const { t } = useText();
  return (
    <Labelled label={t("cost.month")}>
      <input
        type="month"
        className="moment"
        value={value}
        onChange={(event) => isMonth(event.target.value) && onChange(event.target.value)}
      />
    </Labelled>
  );
}
