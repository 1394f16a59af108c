// The question what a submission would do now, made of the form, and its refusal back on the form's fields.
import type { JobSpec, ProblemBody, WhatIf } from "../api/views";

/** What a plan does not look at may still be missing while one asks. */
export function questionOf(spec: JobSpec): JobSpec {
  return {
    ...spec,
    name: spec.name || "what-if",
    command: spec.command.length > 0 ? spec.command : ["true"],
  };
}

const PLACE = /\/changes\/\d+\/submit/g;
/** The refusal as the submission itself would have been refused: pointers into the job. */
export function asSubmission(body: ProblemBody): ProblemBody {
  if (!body.errors) return body;
  return {
    ...body,
    ...(body.detail && { detail: body.detail.replace(PLACE, "") }),
    errors: body.errors.map((one) => ({ ...one, pointer: one.pointer.replace(PLACE, "") || "/" })),
  };
}

/** Whether anything at all would differ from today, besides the imagined jobs themselves. */
export function touchesOthers(answer: WhatIf): boolean {
  const imaginedStarts = answer.starts.items.filter((start) => start.job.imagined).length;
  return (
    answer.starts.total > imaginedStarts ||
    answer.lost_starts.total > 0 ||
    answer.evictions.total > 0 ||
    answer.spared.total > 0 ||
    answer.loans.total > 0 ||
    answer.reasons.items.some((one) => !one.job.imagined)
  );
}
