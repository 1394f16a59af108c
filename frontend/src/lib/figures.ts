// The numbers of an explanation, each with its name and unit: the unit stands last in a number's name, GPUs without one.

export type Figure = { name: string; value: number; unit: "gpus" | "secs" | "count" };

const COUNTS = [
  "replicas",
  "replicas_that_fit",
  "replicas_in_best_place",
  "ahead",
  "used_jobs",
  "cap_jobs",
  "jobs",
];
/** What is asked for comes first, then what there is: the order in which people compare. */
const ORDER = [
  "asks",
  "replicas",
  "must_borrow",
  "used",
  "guaranteed",
  "cap",
  "to_borrow",
  "free",
  "best_node",
];

export function figuresOf(numbers: Record<string, number>): Figure[] {
  const place = (name: string) => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return Object.entries(numbers)
    .map(([key, value]): Figure => {
      if (key.endsWith("_milli")) return { name: key.slice(0, -6), value: value / 1000, unit: "gpus" };
      if (key.endsWith("_secs")) return { name: key.slice(0, -5), value, unit: "secs" };
      return { name: key, value, unit: COUNTS.includes(key) ? "count" : "gpus" };
    })
    .sort((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name));
}
