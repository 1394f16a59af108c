import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { listApprovals } from "../../api/approvals";
import type { Need } from "../../api/views";
import { AlertIcon } from "../../components/icons";
import { Section } from "../../components/page";
import { useText } from "../../lib/use-text";

/** What waits for the reader. Nothing waiting is said too: an empty place would leave doubt. */
export function NeedsYou({ items }: { items: Need[] }) {
  const { t, n, duration } = useText();
  const navigate = useNavigate();
  const words = (item: Need) => {
    const figures: Record<string, string> = {};
    for (const [name, value] of Object.entries(item.params))
      figures[name] = typeof value === "number" ? n(value) : String(value);
    figures.waited = duration(Number(item.params.secs ?? 0));
    // Somebody of its own team may leave for it too: then nothing of it is lent.
    const key = item.type === "reclaim_due" && item.params.lent === 0 ? "leaving_for" : item.type;
    return t(`needs.${key}`, { defaultValue: t("needs.other", { what: item.type }), ...figures });
  };
  // Decisions are asked for apart: they are the reader's own, whatever the pools do.
  const approvals = useQuery({
    queryKey: ["approvals", "first"],
    queryFn: () => listApprovals(null),
    refetchInterval: 60_000,
    retry: false,
  });
  const deciding = approvals.data?.items.length ?? 0;
  if (items.length === 0 && deciding === 0) return <p className="quiet needs-none">{t("needs.none")}</p>;
  return (
    <Section title={t("needs.title")} className="needs">
      <ul>
        {deciding > 0 && (
          <li>
            <AlertIcon />{" "}
            <Link to="/approvals">
              {approvals.data?.next_cursor
                ? t("needs.approvals_more", { count: deciding })
                : t("needs.approvals", { count: deciding })}
            </Link>
          </li>
        )}
        {items.map((item) => (
          <li key={words(item)}>
            <AlertIcon />{" "}
            <a
              href={item.link}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                void navigate({ href: item.link });
              }}
            >
              {words(item)}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
