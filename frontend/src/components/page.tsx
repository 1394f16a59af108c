import { Button, Typography } from "antd";
import { type ReactNode, useEffect } from "react";

/** A page's frame: its heading (also the tab's title), what one can do on it, and its body. */
export function Page(props: { title: string; extra?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${props.title} · Reeve`;
  }, [props.title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          <Typography.Title level={1}>{props.title}</Typography.Title>
          {props.extra}
        </div>
        {props.actions && <div className="page-actions">{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}

export function Section(props: {
  title: string;
  extra?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`section ${props.className ?? ""}`}>
      <div className="section-head">
        <Typography.Title level={2}>{props.title}</Typography.Title>
        {props.extra}
      </div>
      {props.children}
    </section>
  );
}

/** A part of a section: its heading, and the one thing that can be begun there. */
export function SubHead(props: { title: string; act?: string | null; onAct?: () => void }) {
  return (
    <div className="sub-head">
      <h3>{props.title}</h3>
      {props.act && (
        <Button size="small" onClick={props.onAct}>
          {props.act}
        </Button>
      )}
    </div>
  );
}

/** Facts as a list of terms; empty ones are left out. */
export function Facts({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {items
        .filter(([, value]) => value != null && value !== undefined && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
