import { Link } from "@tanstack/react-router";
import { useText } from "../../lib/use-text";

export const ADMIN_PLACES = [
  { to: "/admin/policy", key: "policy" },
  { to: "/admin/people", key: "people" },
  { to: "/admin/teams", key: "teams" },
  { to: "/admin/pools", key: "pools" },
  { to: "/admin/webhooks", key: "webhooks" },
  { to: "/admin/oidc", key: "oidc" },
  { to: "/admin/workload", key: "workload" },
] as const;

/** The way between the pages of rules and people. */
export function AdminMenu() {
  const { t } = useText();
  return (
    <nav aria-label={t("nav.admin")}>
      <ul className="sub-menu">
        {ADMIN_PLACES.map((place) => (
          <li key={place.key}>
            <Link to={place.to} activeOptions={{ includeSearch: false }}>
              {t(`admin.${place.key}`)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
