import { CheckIcon, ClockIcon, PlayIcon } from "../../components/icons";
import { Mark } from "../../components/tags";
import { Until, useNow } from "../../components/when";
import { useText } from "../../lib/use-text";

/** Whether it is to come, holds now, or is over. */
export function SlotMark({ slot }: { slot: { starts_at: string; ends_at: string } }) {
  const { t } = useText();
  const now = useNow(15_000);
  if (Date.parse(slot.ends_at) <= now)
    return (
      <Mark tone="free" icon={<CheckIcon />}>
        {t("calendar.over")}
      </Mark>
    );
  if (Date.parse(slot.starts_at) <= now)
    return (
      <Mark tone="used" icon={<PlayIcon />}>
        {t("calendar.holds")}
      </Mark>
    );
  return (
    <Mark tone="pending" icon={<ClockIcon />}>
      {t("calendar.to_come")} <Until to={slot.starts_at} />
    </Mark>
  );
}
