import { Alert, Button, Empty, Skeleton } from "antd";
import type { ReactNode } from "react";
import { Problem } from "../api/problem";
import { useText } from "../lib/use-text";

/** What the server said no to, with the id to quote when asking about it. */
export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useText();
  const problem = error instanceof Problem ? error : null;
  const title = problem
    ? t(`problem.${problem.code}`, { defaultValue: problem.body.title, ...problem.body.params })
    : t("problem.unknown");
  const detail = problem?.unreachable ? t("problem.unreachable_next") : problem?.ownDetail;
  return (
    <Alert
      className="problem"
      type="error"
      showIcon
      role="alert"
      title={title}
      description={
        <>
          {detail && detail !== title && <div>{detail}</div>}
          {problem?.body.errors?.map((one) => (
            <div key={one.pointer + one.code}>
              <code>{one.pointer}</code> {one.detail}
            </div>
          ))}
          {problem?.body.request_id && (
            <div className="quiet">
              {t("problem.request_id")} <code>{problem.body.request_id}</code>
            </div>
          )}
        </>
      }
      action={onRetry && <Button onClick={onRetry}>{t("action.retry")}</Button>}
    />
  );
}

/** Nothing to show: why that is, and what to do next. */
export function Nothing({ why, next }: { why: ReactNode; next?: ReactNode }) {
  return (
    <Empty
      className="nothing"
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={
        <>
          <div>{why}</div>
          {next && <div className="next">{next}</div>}
        </>
      }
    />
  );
}

type Loaded<Data> = { data: Data | undefined; error: unknown; isPending: boolean; refetch: () => unknown };
/** The answer, or that it is being fetched, or what went wrong; an old answer stays in view beside an error. */
export function Answer<Data>({ of, children }: { of: Loaded<Data>; children: (data: Data) => ReactNode }) {
  if (of.data !== undefined) {
    return (
      <>
        {of.error ? <ProblemAlert error={of.error} onRetry={() => of.refetch()} /> : null}
        {children(of.data)}
      </>
    );
  }
  if (of.error) return <ProblemAlert error={of.error} onRetry={() => of.refetch()} />;
  return <Skeleton active title={false} paragraph={{ rows: 4 }} />;
}
