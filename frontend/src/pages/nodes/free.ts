import type { Node } from "../../api/views";

/** GPUs that a job could get on the node now, shares counted as parts. */
export function freeOf(node: Node): number {
  if (node.state !== "ready") return 0;
  return node.gpus.reduce((all, gpu) => all + (gpu.health === "healthy" ? gpu.free_milli : 0), 0) / 1000;
}
