import assert from "node:assert/strict";
import { test } from "node:test";
import type { Trace, TracedStep } from "../src/api";
import { align, causes, chain, layout, linesOfSteps, stateAfter, stepsOf } from "../src/model/trace";

function step(
  number: number,
  added: string[],
  deleted: string[],
  needs: [string, number][] = [],
): TracedStep {
  return {
    step: number,
    action: `(do ${number})`,
    time: null,
    ok: true,
    needs: needs.map(([condition, by]) => ({ condition, holds: true, made_true_by: by })),
    added,
    deleted,
  };
}

const TRACE: Trace = {
  initial: ["(a)"],
  steps: [step(1, ["(b)"], ["(a)"], [["(a)", 0]]), step(2, ["(c)"], []), step(3, [], ["(b)"], [["(b)", 1]])],
  spans: [],
  missing: [],
  constants: [],
  objects: {},
  curves: [],
  processes: [],
  decomposition: [],
  report: { outcome: "valid", steps: 3, executed: 3 },
};

test("states follow from the changes", () => {
  assert.deepEqual(stateAfter(TRACE, 0), ["(a)"]);
  assert.deepEqual(stateAfter(TRACE, 1), ["(b)"]);
  assert.deepEqual(stateAfter(TRACE, 3), ["(c)"]);
});

test("a step that fails changes nothing", () => {
  const failing = { ...TRACE, steps: [{ ...step(1, ["(b)"], ["(a)"]), ok: false }] };
  assert.deepEqual(stateAfter(failing, 1), ["(a)"]);
});

test("a chain holds all steps that a step depends on, and no other", () => {
  assert.deepEqual([...chain(causes(TRACE), 3)].sort(), [1, 3]);
});

test("each step is placed to the right of those it depends on", () => {
  const columns = layout(TRACE, causes(TRACE)).map((one) => one.column);
  assert.deepEqual(columns, [0, 0, 1]);
});

test("plans are aligned by what they share", () => {
  const pairs = align(["a", "b", "c"], ["b", "c", "d"]);
  assert.deepEqual(
    pairs.filter((pair) => pair.left === pair.right).map((pair) => pair.left),
    ["b", "c"],
  );
  assert.deepEqual(
    pairs.flatMap((pair) => pair.left ?? []),
    ["a", "b", "c"],
  );
  assert.deepEqual(
    pairs.flatMap((pair) => pair.right ?? []),
    ["b", "c", "d"],
  );
});

test("numbers are those of the curves at the time of the step", () => {
  const piece = { from: 0, to: 3, first: 0, last: 6, coefficients: [0, 2] };
  const counted = { ...TRACE, initial: ["(a)", "(= (n) 0)"], curves: [{ fluent: "(n)", pieces: [piece] }] };
  assert.deepEqual(stateAfter(counted, 0), ["(= (n) 0)", "(a)"]);
  assert.deepEqual(stateAfter(counted, 2), ["(= (n) 4)", "(b)", "(c)"]);
});

test("steps of a plan with its decomposition are those before the root", () => {
  const plan = "==>\n0 load van book\n1 drive van depot shop\nroot 10\n10 deliver book -> carry 0 1\n<==\n";
  assert.deepEqual(stepsOf(plan), ["(load van book)", "(drive van depot shop)"]);
  assert.deepEqual(linesOfSteps(plan), [2, 3]);
});

test("steps are read with their lines, without comments", () => {
  const text = "; (no)\n(Go a  b)\n0.5: (stay) [2] ; why\n";
  assert.deepEqual(stepsOf(text), ["(go a b)", "(stay)"]);
  assert.deepEqual(linesOfSteps(text), [2, 3]);
});
