import type { AuditEvent } from "../../api/audit";
import { fieldChanges } from "../../lib/json-diff";
import { useText } from "../../lib/use-text";

/** What an event changed, field by field: before → after, with words and signs, not by colour alone. */
export function Changes({ event, most }: { event: AuditEvent; most?: number }) {
  const { t } = useText();
  const all = fieldChanges(event.before, event.after);
  if (all.length === 0) return <span className="quiet">–</span>;
  const shown = most ? all.slice(0, most) : all;
  return (
    <>
      <dl className="changes">
        {shown.map(({ path, before, after }) => (
          <div key={path}>
            <dt>{path}</dt>
            <dd>
              {before !== null && (
                <>
                  <span className="hidden">{t("eviction.before")} </span>
                  <del>{before}</del>{" "}
                </>
              )}
              {before !== null && after !== null && <span aria-hidden="true">→ </span>}
              {after !== null && (
                <>
                  <span className="hidden">{t("eviction.after")} </span>
                  <ins>{after}</ins>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {all.length > shown.length && (
        <span className="quiet">{t("whatif.more", { count: all.length - shown.length })}</span>
      )}
    </>
  );
}
