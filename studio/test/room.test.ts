import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomObject, RunData } from "../src/api";
import { people, roomStates, told } from "../src/model/room";

function thing(name: string, type: string, x: number, kind = "small"): RoomObject {
  return { name, type, kind, box: [x, 0.9, 0, x + 0.1, 1, 0.1], state: [], place: null, enclosed: false };
}

function event(step: number, action: string, success = true) {
  return { event: "step", step, action, success, error: success ? "" : "too far" };
}

const RUN: RunData = {
  name: "r",
  about: { request: "put the mug on the table" },
  before: {
    scene: "FloorPlan1",
    agent: { x: 0, z: 0, yaw: 0 },
    held: null,
    objects: [
      thing("mug-1", "Mug", 1),
      thing("coffeemachine-1", "CoffeeMachine", 2, "appliance"),
      thing("table-1", "DiningTable", 3, "surface"),
    ],
    grid: [
      [0, 0],
      [2.9, 0.5],
    ],
  },
  after: null,
  events: [
    event(1, "(pick_up mug-1)"),
    event(2, "(navigate_to_obj table-1)"),
    event(3, "(put_on mug-1 table-1)"),
    event(4, "(toggle_on coffeemachine-1)"),
    event(5, "(open coffeemachine-1)", false),
  ],
};

test("things and the robot move by the steps that succeeded", () => {
  const states = roomStates(RUN);
  assert.equal(states.length, 6);
  assert.equal(states[1]?.held, "mug-1");
  assert.deepEqual([states[2]?.agent.x, states[2]?.agent.z], [2.9, 0.5]);
  assert.equal(states[3]?.objects.get("mug-1")?.place, "table-1");
  assert.equal(states[3]?.objects.get("mug-1")?.box[1], 1);
  assert.deepEqual(states[4]?.objects.get("coffeemachine-1")?.state, ["on"]);
  assert.deepEqual(states[5]?.objects, states[4]?.objects);
  assert.equal(states[0]?.objects.get("mug-1")?.place, null);
});

test("things have the names of people, with a number only where two are alike", () => {
  const names = people([...(RUN.before?.objects ?? []), thing("mug-2", "Mug", 5)]);
  assert.equal(names.get("mug-1"), "mug 1");
  assert.equal(names.get("coffeemachine-1"), "coffee machine");
  assert.equal(told("(put_on mug-1 coffeemachine-1)", names), "put mug 1 on the coffee machine");
  assert.equal(told("(wipe_down table-1)", names), "wipe down dining table");
});
