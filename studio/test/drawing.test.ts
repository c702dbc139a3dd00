import assert from "node:assert/strict";
import { test } from "node:test";
import { type Box, Drawer, type DrawingRule, graphSpots } from "../src/model/drawing";

function rule(fact: string, verb: string, ...terms: string[]): DrawingRule {
  return { fact: fact.split(" "), types: [], verb, terms };
}

function look(type: string, verb: string, term: string): DrawingRule {
  return { fact: [], types: [type], verb, terms: [term] };
}

function boxes(drawer: Drawer, state: string[]): Record<string, Box> {
  return Object.fromEntries(drawer.picture(state).boxes.map((box) => [box.name, box]));
}

const BLOCKS = {
  things: ["hand"],
  rules: [rule("on ?x ?y", "above", "?x", "?y"), rule("holding ?x", "inside", "?x", "hand")],
};
const OBJECTS = { a: ["object"], b: ["object"], c: ["object"] };

test("a block stands on another, and a held one is in the hand", () => {
  const state = ["(on a b)", "(holding c)"];
  const { a, b, c, hand } = boxes(new Drawer(BLOCKS, OBJECTS, [], [state]), state);
  assert.ok(a && b && c && hand);
  assert.equal(a.y + a.height, b.y);
  assert.equal(a.x, b.x);
  assert.ok(c.x >= hand.x && c.x + c.width <= hand.x + hand.width);
  assert.ok(c.y >= hand.y && c.y + c.height <= hand.y + hand.height);
});

test("things that stand on each other in a circle are drawn all the same", () => {
  const state = ["(on a b)", "(on b c)", "(on c a)"];
  const found = boxes(new Drawer(BLOCKS, OBJECTS, [], [state]), state);
  assert.deepEqual(Object.keys(found).sort(), ["a", "b", "c", "hand"]);
});

test("cells lie beside and below each other, and keep their places", () => {
  const rules = {
    things: ["keeper"],
    rules: [
      rule("next ?x ?y right", "right-of", "?y", "?x"),
      rule("next ?x ?y down", "below", "?y", "?x"),
      rule("at ?x", "inside", "keeper", "?x"),
      look("way", "hide", "true"),
    ],
  };
  const objects = { a: ["cell"], b: ["cell"], c: ["cell"], right: ["way"], down: ["way"] };
  const states = [["(at a)"], ["(at b)"]];
  const drawer = new Drawer(rules, objects, ["(next a b right)", "(next a c down)"], states);
  const [first, second] = states.map((state) => boxes(drawer, state));
  assert.ok(first?.a && first.b && first.c && first.keeper && second?.a && second.keeper);
  assert.ok(first.b.x >= first.a.x + first.a.width && first.b.y === first.a.y);
  assert.ok(first.c.y >= first.a.y + first.a.height && first.c.x === first.a.x);
  assert.equal(first.right, undefined);
  assert.deepEqual([first.a.x, first.a.y, first.a.width], [second.a.x, second.a.y, second.a.width]);
  assert.ok(second.keeper.x > first.keeper.x);
});

test("numbers and names give columns and rows", () => {
  const rules = {
    things: [],
    rules: [rule("= x ?l ?n", "column", "?l", "?n"), look("spot", "cell", "p{column}-{row}")],
  };
  const state = ["(= (x l) 2)", "(= (x k) 1)"];
  const found = boxes(
    new Drawer(rules, { l: ["object"], k: ["object"], "p3-1": ["spot"], "p3-2": ["spot"] }, [], [state]),
    state,
  );
  assert.ok(found.l && found.k && found.l.x > found.k.x);
  assert.ok(found["p3-1"] && found["p3-2"] && found["p3-2"].y > found["p3-1"].y);
});

test("linked things do not overlap", () => {
  const names = Array.from({ length: 14 }, (_, at) => `p${at}`);
  const links = names.map((name, at): [string, string] => [name, names[(at * 3 + 1) % 14] as string]);
  const sizes = new Map(names.map((name) => [name, { width: 100, height: 60 }]));
  const spots = [...graphSpots(links, sizes).values()];
  for (const [at, [x, y]] of spots.entries()) {
    for (const [x2, y2] of spots.slice(at + 1)) {
      assert.ok(Math.abs(x - x2) >= 100 || Math.abs(y - y2) >= 60);
    }
  }
});
