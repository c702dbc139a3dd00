import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomObject } from "../src/api";
import { differing, expectedState, factWords, people, remarksOf, roomStates, told } from "../src/model/room";
import type { RunDocument, StoryStep } from "../src/model/story";

function thing(name: string, type: string, x: number, kind = "small"): RoomObject {
  return { name, type, kind, box: [x, 0.9, 0, x + 0.1, 1, 0.1], state: [], place: null, enclosed: false };
}

function step(number: number, action: string, added: string[], deleted: string[] = []): StoryStep {
  return {
    number,
    action,
    plan: 0,
    block: 0,
    success: true,
    error: "",
    as_expected: true,
    missing: [],
    unexpected: [],
    expected: [added, deleted],
    sent: [],
    unseen: [],
    heard: [],
    remarks: [],
    pose: null,
    changed: [],
  };
}

const DROP: StoryStep = {
  ...step(2, "(navigate_to_obj table-1)", ["(near table-1)"]),
  as_expected: false,
  missing: ["(holding mug-1)"],
  unexpected: ["(on mug-1 floor-1)", "(hand_empty)"],
  pose: { x: 2.9, z: 0.5, yaw: 90 },
};

const RUN: RunDocument = {
  kind: "run",
  name: "r",
  sight: "visible",
  before: {
    scene: "FloorPlan1",
    agent: { x: 0.8, z: 0, yaw: 90 },
    held: null,
    objects: [
      thing("mug-1", "Mug", 1),
      thing("coffeemachine-1", "CoffeeMachine", 5, "appliance"),
      thing("table-1", "DiningTable", 3, "surface"),
      thing("floor-1", "Floor", 0, "floor"),
    ],
    grid: [],
  },
  after: null,
  story: {
    request: "put the mug on the table",
    scene: "FloorPlan1",
    facts: [],
    reached: true,
    outcome: "The goal is reached.",
    plans: [],
    steps: [
      step(1, "(pick_up mug-1)", ["(holding mug-1)"], ["(hand_empty)"]),
      DROP,
      step(3, "(pick_up mug-1)", ["(holding mug-1)"], ["(hand_empty)", "(on mug-1 floor-1)"]),
      step(
        4,
        "(put_on mug-1 table-1)",
        ["(on mug-1 table-1)", "(contains mug-1 coffee)"],
        ["(holding mug-1)"],
      ),
      step(5, "(open_obj coffeemachine-1)", ["(opened coffeemachine-1)"]),
    ],
    note: "",
    simulated: false,
    state: "finished",
    turns: [],
    asked: [],
  },
};

test("things and the robot move by what was observed", () => {
  const states = roomStates(RUN);
  assert.equal(states.length, 6);
  assert.equal(states[1]?.held, "mug-1");
  assert.equal(states[2]?.held, null);
  assert.equal(states[2]?.objects.get("mug-1")?.place, "floor-1");
  assert.deepEqual([states[2]?.agent.x, states[2]?.agent.z], [2.9, 0.5]);
  assert.equal(states[4]?.objects.get("mug-1")?.place, "table-1");
  assert.equal(states[4]?.objects.get("mug-1")?.box[1], 1);
  assert.deepEqual(states[4]?.objects.get("mug-1")?.state, ["filled with coffee"]);
  assert.deepEqual(states[5]?.objects.get("coffeemachine-1")?.state, ["open"]);
  assert.equal(states[0]?.objects.get("mug-1")?.place, null);
});

test("what was expected differs from what happened", () => {
  const states = roomStates(RUN);
  const [before, after] = [states[1], states[2]];
  assert.ok(before && after);
  const expected = expectedState(before, RUN, 2);
  assert.equal(expected?.held, "mug-1");
  assert.deepEqual(expected && differing(expected, after), ["mug-1"]);
});

test("a thing that is out of view was seen at an earlier step", () => {
  const states = roomStates(RUN);
  assert.equal(states[1]?.seen.get("mug-1"), 1);
  assert.equal(states[5]?.seen.get("coffeemachine-1"), 0);
  const all = roomStates({ ...RUN, sight: "omniscient" });
  assert.equal(all[5]?.seen.get("coffeemachine-1"), 5);
});

test("facts are said in words", () => {
  const names = people(RUN.before?.objects ?? []);
  assert.equal(factWords("(not (on mug-1 table-1))", names), "the mug is not on the dining table");
  assert.equal(factWords("(warm_liquid mug-1)", names), "the mug: warm liquid");
  assert.equal(factWords("(odd <b> mug-1)", names), "(odd <b> mug-1)");
});

test("things have the names of people, with a number only where two are alike", () => {
  const names = people([...(RUN.before?.objects ?? []), thing("mug-2", "Mug", 5)]);
  assert.equal(names.get("mug-1"), "mug 1");
  assert.equal(names.get("coffeemachine-1"), "coffee machine");
  assert.equal(told("(put_on mug-1 coffeemachine-1)", names), "put mug 1 on the coffee machine");
  assert.equal(told("(wipe_down table-1)", names), "wipe down dining table");
});

test("what happened is told once, with the names that people use", () => {
  const names = people([thing("mug-1", "Mug", 0), thing("floor-1", "Floor", 0, "floor")]);
  const reason = "mug-1 is no longer in the hand; it is now on floor-1.";
  const remarks = [
    { event: "failure", title: "dropped", text: `${reason} (violated (holding mug-1))` },
    { event: "replanning", title: "replanning", text: `1: ${reason}` },
    { event: "recovery", title: "recovery: satisfy", text: `${reason} outcome: a new plan` },
  ];
  const told = remarksOf({ ...step(1, "(wait)", []), remarks }, names).map((one) => one.text);
  assert.deepEqual(told, [
    "the mug is no longer in the hand; it is now on the floor.",
    "recovery: satisfy: outcome: a new plan",
  ]);
});

test("what is carried takes along what is in it", () => {
  const [pan, egg] = [thing("pan-1", "Pan", 0), { ...thing("egg-1", "Egg", 0), place: "pan-1" }];
  const stove = thing("stove-1", "Stove", 5, "surface");
  const scene = {
    scene: "s",
    agent: { x: 0, z: 0, yaw: 0 },
    held: null,
    objects: [pan, egg, stove],
    grid: [],
  };
  const steps = [
    step(1, "(pick_up pan-1)", ["(holding pan-1)"]),
    step(2, "(put_on pan-1 stove-1)", ["(on pan-1 stove-1)"], ["(holding pan-1)"]),
  ];
  const story = { steps, plans: [], asked: [], turns: [], facts: [] };
  const run = {
    kind: "run",
    name: "r",
    sight: "",
    before: scene,
    after: null,
    story,
  } as unknown as RunDocument;
  const last = roomStates(run).at(-1)?.objects;
  assert.ok(Math.abs((last?.get("egg-1")?.box[0] ?? 0) - 5) < 0.2);
});
