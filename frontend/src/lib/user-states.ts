/** States of a person; the API document has them as text. */
export const USER_STATES = ["active", "disabled"] as const;
