import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunLog } from "../src/api";
import {
  absence,
  decisions,
  inWords,
  parameterWords,
  placeTools,
  rateClass,
  rateWords,
  type ToolGraph,
  toolLinks,
} from "../src/model/tools";

const NONE = { last_success: null, last_failure: null, weight: 0.5 };

function tool(name: string, needs: string[], gives: string[], successes = 0, failures = 0) {
  return { name, needs, takes: needs, gives, successes, failures, ...NONE };
}

function link(source: string, target: string, successes = 0) {
  return { source, target, successes, failures: 0, ...NONE };
}

const GRAPH: ToolGraph = {
  tools: [tool("find_user", ["email"], ["user"], 9, 1), tool("list_orders", ["user"], ["order"], 1, 3)],
  inputs: [link("email", "find_user"), link("user", "list_orders")],
  outputs: [link("find_user", "user"), link("list_orders", "order")],
  calls: [link("find_user", "list_orders", 4)],
  passes: [],
  absent: [{ name: "list_orders", trial: false, gone: false }],
};

test("names are read as words", () => {
  assert.equal(inWords("find_customerById"), "find customer by id");
  assert.equal(parameterWords('["list_parcels", "[]", "parcel_id"]'), "parcel id");
  assert.equal(parameterWords("[broken"), "[broken");
});

test("a tool stands to the right of those whose results it needs", () => {
  const columns = Object.fromEntries(placeTools(GRAPH, 10).map((one) => [one.tool.name, one.column]));
  assert.deepEqual(columns, { find_user: 0, list_orders: 1 });
});

test("a value that was passed on links tools whose schemas name it differently", () => {
  const passed = { ...GRAPH, outputs: [link("find_user", "found")], passes: [link("found", "user", 2)] };
  const columns = placeTools(passed, 10).map((one) => [one.tool.name, one.column]);
  assert.deepEqual(columns, [
    ["find_user", 0],
    ["list_orders", 1],
  ]);
});

test("tools that need each other are placed too", () => {
  const cycle = {
    ...GRAPH,
    tools: [tool("a", ["x"], ["y"]), tool("b", ["y"], ["x"])],
    outputs: [link("a", "y"), link("b", "x")],
  };
  assert.equal(placeTools(cycle, 10).length, 2);
});

test("rates are told in words and by class", () => {
  const [first, second] = GRAPH.tools;
  assert.equal(first && rateWords(first), "9 of 10 calls succeeded");
  assert.equal(first && rateClass(first), "good");
  assert.equal(second && rateClass(second), "bad");
  assert.equal(absence(GRAPH, "list_orders"), "removed: it failed often");
  assert.equal(absence(GRAPH, "find_user"), "");
});

test("links that no call took are only possible", () => {
  assert.deepEqual(toolLinks({ ...GRAPH, calls: [] }).possible, [["find_user", "list_orders"]]);
  assert.deepEqual(toolLinks(GRAPH).possible, []);
});

test("each call says where its arguments come from", () => {
  const run: RunLog = {
    name: "r",
    about: { verdict: "Done." },
    events: [
      { event: "plan", plan: { optimal: true, blocks: [{ actions: [{ action: "call-find_user" }] }] } },
      { event: "step", action: "(call-find_user)", success: true, sent: [{ action: "find_user" }] },
      { event: "step", action: "(call-list_orders)", success: true, sent: [{ action: "list_orders" }] },
      { event: "replanning", reason: "(call-list_orders) left order_id_of_pay unknown." },
      { event: "plan", plan: { blocks: [] } },
      { event: "finished", reached: true },
    ],
    calls: [
      {
        tool: "find_user",
        arguments: { email: "b@x.org" },
        error: "",
        sources: [],
        origins: { email: { source: "request" } },
      },
      {
        tool: "list_orders",
        arguments: { user: "U1" },
        error: "",
        sources: [],
        origins: { user: { source: "result", call: 0, path: ["user"] } },
      },
    ],
  };
  const found = decisions(run);
  assert.deepEqual(
    found.map((one) => one.kind),
    ["plan", "call", "call", "plan", "end"],
  );
  assert.deepEqual(found[0]?.steps, ["find user"]);
  assert.equal(found[1]?.arguments[0]?.why, "stated in the request");
  assert.equal(found[2]?.arguments[0]?.why, "result of call 1, find user");
  assert.equal(found[3]?.why, "list orders left order id of pay unknown.");
  assert.equal(found[4]?.why, "Done.");
});
