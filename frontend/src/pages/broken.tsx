import type { ErrorComponentProps } from "@tanstack/react-router";
import { Button } from "antd";
import { ProblemAlert } from "../components/feedback";
import { Page } from "../components/page";
import { useText } from "../lib/use-text";

/** A page that failed to draw: what it was, and the way on. The frame around it stays. */
export function BrokenPage({ error, reset }: ErrorComponentProps) {
  const { t } = useText();
  return (
    <Page title={t("broken.title")}>
      <ProblemAlert error={error} />
      <pre className="command">{error instanceof Error ? error.message : String(error)}</pre>
      <Button onClick={reset}>{t("action.retry")}</Button>
    </Page>
  );
}
