/** The nodes on which members lie, each once. */
export const nodeNames = (members: { name: string }[]) =>
  [...new Set(members.map((node) => node.name))].join(", ");
