import type { AuditStatus } from "../../api/audit";
import { AlertIcon, CheckIcon } from "../../components/icons";
import { Mark } from "../../components/tags";
import { When } from "../../components/when";
import { useText } from "../../lib/use-text";

/** "verified to 81,204", or that the chain does not hold after it. */
export function VerifiedBadge({ status }: { status: AuditStatus }) {
  const { t, n } = useText();
  if (status.broken)
    return (
      <Mark tone="bad" icon={<AlertIcon />}>
        {t("audit.broken", { position: n(status.verified_position) })} {status.broken}
      </Mark>
    );
  return (
    <Mark tone="good" icon={<CheckIcon />}>
      {t("audit.verified_to", { position: n(status.verified_position) })}{" "}
      {status.verified_at && <When at={status.verified_at} short />}
    </Mark>
  );
}
