/** Decompositions as rows of a tree; no function recurses, since trees may be deep. */

import type { TaskNode } from "../api";

export interface TaskRow {
  node: number;
  depth: number;
  parent: number;
}

/** Return the nodes that are shown, in order, without the root. */
export function rowsOf(nodes: TaskNode[], open: Set<number>): TaskRow[] {
  const rows: TaskRow[] = [];
  const waiting = (nodes[0]?.children ?? []).map((node) => ({ node, depth: 0, parent: 0 })).reverse();
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    if (open.has(row.node)) {
      const { node, depth } = row;
      const below = (nodes[node]?.children ?? []).map((child) => ({
        node: child,
        depth: depth + 1,
        parent: node,
      }));
      waiting.push(...below.reverse());
    }
  }
  return rows;
}

/** Return the nodes with children above a depth. */
export function openedDown(nodes: TaskNode[], depth: number): Set<number> {
  const inner = new Set([...nodes.keys()].filter((node) => (nodes[node]?.children.length ?? 0) > 0));
  if (depth === Number.POSITIVE_INFINITY) {
    return inner;
  }
  const all = rowsOf(nodes, inner);
  return new Set(all.filter((row) => row.depth < depth && inner.has(row.node)).map((row) => row.node));
}

/** Return the first and the last step below each node; null if there is none. */
export function stepsBelow(nodes: TaskNode[]): ([number, number] | null)[] {
  const found = nodes.map((one): [number, number] | null =>
    one.step === null ? null : [one.step, one.step],
  );
  // Parents come before their children.
  for (let node = nodes.length - 1; node >= 0; node--) {
    for (const child of nodes[node]?.children ?? []) {
      const [own, inner] = [found[node], found[child]];
      if (inner) {
        found[node] = own ? [Math.min(own[0], inner[0]), Math.max(own[1], inner[1])] : [...inner];
      }
    }
  }
  return found;
}
