// The policy document as text that people edit.
import type { ProblemBody } from "../api/views";

export const textOf = (document: unknown) => JSON.stringify(document, null, 2);

export type Parsed = { document: Record<string, unknown> } | { line: number | null; message: string };

/** The document in the text, or where and why it is none. */
export function parsePolicy(text: string): Parsed {
  try {
    const document: unknown = JSON.parse(text);
    if (document && typeof document === "object" && !Array.isArray(document))
      return { document: document as Record<string, unknown> };
    return { line: 1, message: "{ … }" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const place = /position (\d+)/.exec(message);
    const line = place ? text.slice(0, Number(place[1])).split("\n").length : null;
    return { line, message };
  }
}

const PLACE = /\/changes\/\d+\/policy/g;
/** A dry run's refusal as saving would have been refused: pointers into the document. */
export function asDocument(body: ProblemBody): ProblemBody {
  return {
    ...body,
    ...(body.detail && { detail: body.detail.replace(PLACE, "") }),
    ...(body.errors && {
      errors: body.errors.map((one) => ({ ...one, pointer: one.pointer.replace(PLACE, "") || "/" })),
    }),
  };
}
