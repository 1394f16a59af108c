// A request for more than the rules give, as its form has it.
import type { Request } from "../api/approvals";
import type { Kind, PriorityClass } from "../api/views";
import { momentOf } from "./moment";

export type RequestValues = {
  asks_for: "priority" | "quota" | "budget" | "never_evict";
  team?: string | undefined;
  job?: string | undefined;
  queue?: string | undefined;
  kinds: Kind[];
  level?: PriorityClass | undefined;
  scope: "team" | "platform";
  pool?: string | undefined;
  guaranteed_gpus?: number | null;
  borrow_limit_gpus?: number | null;
  gpu_hours?: number | null;
  /** A budget's id; none = high-priority GPU-hours. */
  budget?: string | undefined;
  /** In the budget's unit. */
  amount?: string | null;
  minutes?: number | null;
  starts_at?: string;
  reason: string;
  break_glass: boolean;
};

/** The request's body: only the fields that its kind of request has. */
export function requestOf(values: RequestValues): Request {
  const { asks_for, job } = values;
  const starts_at = momentOf(values.starts_at);
  const body: Request = {
    asks_for,
    reason: values.reason.trim(),
    ...(values.minutes && { duration_secs: Math.round(values.minutes * 60) }),
    ...(starts_at && { starts_at }),
    ...(values.break_glass && { break_glass: true }),
  };
  const ofJob = asks_for === "priority" || asks_for === "never_evict" ? job : undefined;
  if (ofJob) body.job = ofJob;
  else if (values.team) body.team = values.team;
  if (asks_for === "priority") {
    if (values.level) body.level = values.level;
    body.scope = values.scope;
    if (!ofJob && values.queue) body.queue = values.queue;
    if (!ofJob && values.kinds.length) body.kinds = values.kinds;
  }
  if (asks_for === "quota") {
    if (values.pool) body.pool = values.pool;
    if (values.guaranteed_gpus != null) body.guaranteed_gpus = values.guaranteed_gpus;
    if (values.borrow_limit_gpus != null) body.borrow_limit_gpus = values.borrow_limit_gpus;
  }
  if (asks_for === "budget" && values.budget) {
    body.budget = values.budget;
    if (values.amount) body.amount = String(values.amount);
  } else if (asks_for === "budget" && values.gpu_hours != null) body.gpu_hours = values.gpu_hours;
  return body;
}
