import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskNode } from "../src/api";
import { openedDown, rowsOf, stepsBelow } from "../src/model/tasks";

function node(task: string, children: number[], step: number | null = null): TaskNode {
  return { task, method: step === null && task ? "m" : null, step, children };
}

const NODES = [
  node("", [1, 2]),
  node("(deliver)", [3, 4]),
  node("(wait)", []),
  node("(go)", [], 1),
  node("(drop)", [], 2),
];

test("a folded task hides what is below it", () => {
  assert.deepEqual(
    rowsOf(NODES, new Set()).map((row) => row.node),
    [1, 2],
  );
  const rows = rowsOf(NODES, openedDown(NODES, 2));
  assert.deepEqual(
    rows.map((row) => [row.node, row.depth]),
    [
      [1, 0],
      [3, 1],
      [4, 1],
      [2, 0],
    ],
  );
});

test("each task knows its steps", () => {
  assert.deepEqual(stepsBelow(NODES), [[1, 2], [1, 2], null, [1, 1], [2, 2]]);
});

test("a tree of 20,000 levels is no trouble", () => {
  const deep = Array.from({ length: 20_000 }, (_, at) =>
    at < 19_999 ? node("(t)", [at + 1]) : node("(a)", [], 1),
  );
  assert.equal(rowsOf(deep, openedDown(deep, Number.POSITIVE_INFINITY)).length, 19_999);
  assert.deepEqual(stepsBelow(deep)[0], [1, 1]);
});
