import type { Loan } from "../api/views";

export type LoanStep = { at: string; borrowed: number; lent: number };

/** A team's borrowed and lent GPUs over time, from the intervals of its loans, as steps between `from` and `to`. */
export function loanSteps(loans: Loan[], teamId: string, from: string, to: string): LoanStep[] {
  const changes = new Map<number, { borrowed: number; lent: number }>();
  const start = Date.parse(from);
  const add = (at: number, kind: "borrowed" | "lent", gpus: number) => {
    const when = Math.max(at, start);
    const change = changes.get(when) ?? { borrowed: 0, lent: 0 };
    change[kind] += gpus;
    changes.set(when, change);
  };
  for (const loan of loans) {
    const kind = loan.borrower.id === teamId ? "borrowed" : loan.lender?.id === teamId ? "lent" : null;
    const end = loan.ended_at == null ? null : Date.parse(loan.ended_at);
    if (!kind || (end != null && end <= start)) continue;
    add(Date.parse(loan.started_at), kind, loan.gpus);
    if (end != null) add(end, kind, -loan.gpus);
  }
  let borrowed = 0;
  let lent = 0;
  const steps: LoanStep[] = changes.has(start) ? [] : [{ at: new Date(start).toISOString(), borrowed, lent }];
  for (const at of [...changes.keys()].sort((a, b) => a - b)) {
    borrowed += changes.get(at)?.borrowed ?? 0;
    lent += changes.get(at)?.lent ?? 0;
    steps.push({ at: new Date(at).toISOString(), borrowed, lent });
  }
  steps.push({ at: to, borrowed, lent });
  return steps;
}
