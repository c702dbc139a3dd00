import assert from "node:assert/strict";
import { test } from "node:test";
import { changes, extent, pathOf, valueAt } from "../src/model/curves";

const LEVEL = {
  fluent: "(level)",
  pieces: [
    { from: 0, to: 5, first: 2, last: 17, coefficients: [2, 3] },
    { from: 5, to: 9, first: 17, last: 9, coefficients: [17, 0, -0.5] },
    { from: 9, to: 9, first: 4, last: 4, coefficients: [4] },
  ],
};

test("values follow the pieces; a jump counts from its own time", () => {
  assert.equal(valueAt(LEVEL, 1), 5);
  assert.equal(valueAt(LEVEL, 7), 15);
  assert.equal(valueAt(LEVEL, 9), 4);
  assert.equal(valueAt(LEVEL, 10), null);
});

test("the range contains what a curve reaches between its ends", () => {
  const arch = { fluent: "(h)", pieces: [{ from: 0, to: 2, first: 0, last: 0, coefficients: [0, 2, -1] }] };
  assert.deepEqual(extent(arch), [0, 1]);
  assert.equal(changes(arch), true);
  assert.equal(
    changes({ fluent: "(c)", pieces: [{ from: 0, to: 1, first: 3, last: 3, coefficients: [3] }] }),
    false,
  );
});

test("a parabola is an exact curve: its control points give its values", () => {
  const piece = LEVEL.pieces[1];
  assert.ok(piece);
  const path = pathOf(
    piece,
    (time) => time,
    (value) => value,
  );
  const numbers = (path.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  const ys = numbers.filter((_, at) => at % 2 === 1);
  const middle = ((ys[0] ?? 0) + 3 * (ys[1] ?? 0) + 3 * (ys[2] ?? 0) + (ys[3] ?? 0)) / 8;
  assert.ok(Math.abs(middle - 15) < 0.02);
});

test("bounds are joined by lines", () => {
  const piece = {
    from: 0,
    to: 2,
    first: 1,
    last: 3,
    formula: "e^t",
    bounds: [
      [0, 1, 1],
      [1, 2, 2],
      [2, 3, 3],
    ] as [number, number, number][],
  };
  assert.equal(
    pathOf(
      piece,
      (time) => time,
      (value) => value,
    ),
    "M0,1 L1,2 2,3",
  );
  assert.equal(valueAt({ fluent: "(f)", pieces: [piece] }, 0.5), 1.5);
});
