import { Link } from "@tanstack/react-router";
import { useText } from "../lib/use-text";

export const PLACES = [
  { to: "/", key: "overview", exact: true },
  { to: "/queues", key: "queues", exact: false },
  { to: "/jobs", key: "jobs", exact: false },
  { to: "/approvals", key: "approvals", exact: false },
  { to: "/reclaims", key: "reclaims", exact: false },
  { to: "/nodes", key: "nodes", exact: false },
  { to: "/idle", key: "idle", exact: false },
  { to: "/timeline", key: "timeline", exact: false },
  { to: "/calendar", key: "calendar", exact: false },
  { to: "/cost", key: "cost", exact: false },
  { to: "/audit", key: "audit", exact: false },
  { to: "/admin", key: "admin", exact: false },
] as const;

export function MainMenu() {
  const { t } = useText();
  return (
    <>
      <Link to="/" className="brand" aria-label={t("nav.home")}>
        <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="6" fill="#0072B2" />
          <path d="M5 8h13v6H5zM5 18h8v6H5z" fill="#fff" />
          <path d="M18 8h9v6h-9z" fill="#E69F00" />
          <path d="M13 18h14v6H13z" fill="#56B4E9" />
        </svg>
        <span translate="no" className="brand-name">
          {t("nav.product")}
        </span>
      </Link>
      <nav aria-label={t("nav.main")}>
        <ul className="main-menu">
          {PLACES.map((place) => (
            <li key={place.key}>
              <Link to={place.to} activeOptions={{ exact: place.exact, includeSearch: false }}>
                {t(`nav.${place.key}`)}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}
