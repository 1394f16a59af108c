import { cloneElement, type ReactElement, useId } from "react";

type Props = { label: string; hint?: string | undefined; children: ReactElement<{ id?: string }> };

/** One control with its label above, outside of a form. */
export function Labelled({ label, hint, children }: Props) {
  const id = useId();
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, { id })}
      {hint && <div className="quiet hint">{hint}</div>}
    </div>
  );
}
