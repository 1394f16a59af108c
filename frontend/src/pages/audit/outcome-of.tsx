import type { AuditEvent } from "../../api/audit";
import { CrossIcon } from "../../components/icons";
import { Mark } from "../../components/tags";
import { useText } from "../../lib/use-text";

/** Denied attempts stand out; how many like it were counted and not written stands beside. */
export function OutcomeOf({ event }: { event: AuditEvent }) {
  const { t, n, word } = useText();
  if (event.outcome === "allowed") return null;
  const detail = event.detail as { unrecorded?: number } | null | undefined;
  return (
    <>
      <Mark tone="bad" icon={<CrossIcon />}>
        {word("audit_outcome", event.outcome)}
      </Mark>
      {detail?.unrecorded ? (
        <div className="quiet">
          {t("audit.unrecorded", { count: detail.unrecorded, shown: n(detail.unrecorded) })}
        </div>
      ) : null}
    </>
  );
}
