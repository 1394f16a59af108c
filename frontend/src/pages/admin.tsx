import { Link } from "@tanstack/react-router";
import { Page } from "../components/page";
import { useText } from "../lib/use-text";
import { ADMIN_PLACES } from "./admin/admin-menu";

/** Which rules hold and who may do what: each place with the question it answers. */
export function AdminPage() {
  const { t } = useText();
  return (
    <Page title={t("nav.admin")}>
      <div className="tiles">
        {ADMIN_PLACES.map((place) => (
          <section className="tile" key={place.key} aria-labelledby={`admin-${place.key}`}>
            <h2 id={`admin-${place.key}`}>
              <Link to={place.to}>{t(`admin.${place.key}`)}</Link>
            </h2>
            <p>{t(`admin_about.${place.key}`)}</p>
          </section>
        ))}
      </div>
    </Page>
  );
}
