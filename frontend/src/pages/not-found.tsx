import { Link } from "@tanstack/react-router";
import { Nothing } from "../components/feedback";
import { Page } from "../components/page";
import { useText } from "../lib/use-text";

export function NotFoundPage() {
  const { t } = useText();
  return (
    <Page title={t("not_found.title")}>
      <Nothing why={t("not_found.why")} next={<Link to="/">{t("not_found.next")}</Link>} />
    </Page>
  );
}
