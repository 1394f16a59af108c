import type { ProblemBody } from "./views";

/** An answer that says no, as the server put it (RFC 9457), or a failure to reach it (`unreachable`). */
export class Problem extends Error {
  constructor(readonly body: ProblemBody) {
    super(body.detail ?? body.title);
    this.name = "Problem";
  }
  get status() {
    return this.body.status;
  }
  get code() {
    return this.body.code;
  }
  get unreachable() {
    return this.body.code === "unreachable";
  }
  /** The detail, unless it only repeats the fields: then it is said once, with them. */
  get ownDetail() {
    const { detail, errors = [] } = this.body;
    const repeats = errors.length > 0 && errors.every((one) => one.detail && detail?.includes(one.detail));
    return repeats ? undefined : detail;
  }
}

export function unreachable(cause: unknown): Problem {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new Problem({ type: "about:blank", title: "Unreachable", status: 0, code: "unreachable", detail });
}

/** Reads the problem of a reply; a reply that carries none (a proxy's page) still becomes one. */
export async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get("x-request-id");
  try {
    const body = (await response.json()) as ProblemBody;
    if (typeof body.code === "string") return new Problem({ request_id: requestId, ...body });
  } catch {
    // Not JSON: falls through to what the status line says.
  }
  return new Problem({
    type: "about:blank",
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    code: `http_${response.status}`,
    request_id: requestId,
  });
}

/** The form field an error's JSON pointer names: `/gpus` → `gpus`, `/env/A` → `env`. */
export function fieldOf(pointer: string): string {
  return pointer.split("/")[1] ?? "";
}
