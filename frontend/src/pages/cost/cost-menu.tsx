import { Link } from "@tanstack/react-router";
import { useText } from "../../lib/use-text";

const PLACES = [
  { to: "/cost", key: "use", exact: true },
  { to: "/cost/budgets", key: "budgets", exact: false },
  { to: "/cost/months", key: "months", exact: false },
  { to: "/cost/prices", key: "prices", exact: false },
  { to: "/cost/exports", key: "exports", exact: false },
] as const;

export function CostMenu() {
  const { t } = useText();
  return (
    <nav aria-label={t("nav.cost")}>
      <ul className="sub-menu">
        {PLACES.map((place) => (
          <li key={place.key}>
            <Link to={place.to} activeOptions={{ exact: place.exact, includeSearch: false }}>
              {t(`cost_menu.${place.key}`)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
