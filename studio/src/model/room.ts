/** What the robot has done to its room after each step, from the scene before and the run's events. */

import type { RoomObject, RunData, Scene } from "../api";
import { words } from "./trace";

export interface RoomStep {
  number: number;
  action: string;
  success: boolean;
  asExpected: boolean;
  error: string;
  remarks: string[];
}

export interface RoomState {
  objects: Map<string, RoomObject>;
  agent: { x: number; z: number; yaw: number };
  held: string | null;
}

interface StepEvent {
  step: number;
  action: string;
  success: boolean;
  error?: string;
  difference?: { missing?: string[]; unexpected?: string[] };
  failures?: { explanation?: string }[];
}

/** Return the executed steps of a run. */
export function stepsOfRun(run: RunData): RoomStep[] {
  return run.events
    .filter((event) => event.event === "step")
    .map((event) => {
      const step = event as unknown as StepEvent;
      const wrong = [...(step.difference?.missing ?? []), ...(step.difference?.unexpected ?? [])];
      return {
        number: step.step,
        action: step.action,
        success: step.success,
        asExpected: step.success && wrong.length === 0,
        error: step.error ?? "",
        remarks: (step.failures ?? []).map((one) => one.explanation ?? "").filter(Boolean),
      };
    });
}

function start(scene: Scene): RoomState {
  const objects = new Map(scene.objects.map((one) => [one.name, { ...one, state: [...one.state] }]));
  return { objects, agent: { ...scene.agent }, held: scene.held };
}

function copy(state: RoomState): RoomState {
  const objects = new Map([...state.objects].map(([name, one]) => [name, { ...one, state: [...one.state] }]));
  return { objects, agent: { ...state.agent }, held: state.held };
}

/** Return the state after each step, beginning with the one before the first. */
export function roomStates(run: RunData): RoomState[] {
  if (run.before === null) {
    return [];
  }
  const grid = run.before.grid;
  const states = [start(run.before)];
  for (const step of stepsOfRun(run)) {
    const next = copy(states[states.length - 1] as RoomState);
    if (step.success) {
      applied(next, words(step.action), grid);
    }
    states.push(next);
  }
  return states;
}

function applied(state: RoomState, [name, first, second]: string[], grid: [number, number][]): void {
  const thing = first === undefined ? undefined : state.objects.get(first);
  if (thing === undefined) {
    return;
  }
  if (name === "navigate_to_obj") {
    state.agent = besides(thing, grid, state.agent);
  } else if (name === "pick_up") {
    state.held = thing.name;
    thing.place = null;
  } else if ((name === "put_on" || name === "put_in") && second !== undefined) {
    const place = state.objects.get(second);
    state.held = null;
    thing.place = second;
    if (place !== undefined) {
      thing.box = laid(thing, place, state);
    }
  } else if (name === "open" || name === "close") {
    flag(thing, "open", name === "open");
  } else if (name === "toggle_on" || name === "toggle_off") {
    flag(thing, "on", name === "toggle_on");
  } else if (name === "slice") {
    flag(thing, "sliced", true);
  }
}

function flag(thing: RoomObject, word: string, value: boolean): void {
  thing.state = thing.state.filter((one) => one !== word);
  if (value) {
    thing.state.push(word);
  }
}

/** Return the pose at the walkable point nearest to a thing, turned towards it. */
function besides(thing: RoomObject, grid: [number, number][], from: RoomState["agent"]): RoomState["agent"] {
  const [x, z] = middle(thing.box);
  const near = grid.length > 0 ? grid : [[from.x, from.z] as [number, number]];
  let best = near[0] as [number, number];
  for (const point of near) {
    if (Math.hypot(point[0] - x, point[1] - z) < Math.hypot(best[0] - x, best[1] - z)) {
      best = point;
    }
  }
  return { x: best[0], z: best[1], yaw: (Math.atan2(x - best[0], z - best[1]) * 180) / Math.PI };
}

export function middle(box: RoomObject["box"]): [number, number] {
  return [(box[0] + box[3]) / 2, (box[2] + box[5]) / 2];
}

/** Return the box of a thing on or in a place, beside what is there already. */
function laid(thing: RoomObject, place: RoomObject, state: RoomState): RoomObject["box"] {
  const size = [thing.box[3] - thing.box[0], thing.box[4] - thing.box[1], thing.box[5] - thing.box[2]];
  const there = [...state.objects.values()].filter((one) => one.place === place.name && one !== thing);
  const [cx, cz] = middle(place.box);
  const width = place.box[3] - place.box[0] - (size[0] as number);
  const free = [0, 0.25, -0.25, 0.4, -0.4].find((part) =>
    there.every((one) => Math.abs(middle(one.box)[0] - (cx + part * width)) > (size[0] as number)),
  );
  const x = cx + (free ?? 0) * Math.max(0, width);
  const inside = place.state.includes("open") || place.kind === "storage" || place.kind === "basin";
  const y = inside ? place.box[1] + 0.02 : place.box[4];
  const [w, h, d] = size as [number, number, number];
  return [x - w / 2, y, cz - d / 2, x + w / 2, y + h, cz + d / 2];
}

/** Return names as people say them: `mug-1` is "mug" while there is only one, else "mug 1". */
export function people(objects: Iterable<{ name: string; type: string }>): Map<string, string> {
  const all = [...objects];
  const count = new Map<string, number>();
  for (const one of all) {
    count.set(one.type, (count.get(one.type) ?? 0) + 1);
  }
  return new Map(
    all.map((one) => {
      const kind = one.type.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
      const number = (count.get(one.type) ?? 0) > 1 ? one.name.replace(/^.*-(\d+)$/, " $1") : "";
      return [one.name, kind + number];
    }),
  );
}

/** Return an action in words: `(put_on mug-1 table-1)` becomes "put the mug on the table". */
export function told(action: string, names: Map<string, string>): string {
  const [name = "", ...args] = words(action);
  const [first, second] = args.map((one) => {
    const known = names.get(one) ?? one;
    return /\d$/.test(known) ? known : `the ${known}`;
  });
  const sentence: Record<string, string> = {
    navigate_to_obj: `go to ${first}`,
    pick_up: `pick up ${first}`,
    put_on: `put ${first} on ${second}`,
    put_in: `put ${first} in ${second}`,
    open: `open ${first}`,
    close: `close ${first}`,
    toggle_on: `switch on ${first}`,
    toggle_off: `switch off ${first}`,
    slice: `slice ${first}`,
    pour: `pour ${first} into ${second}`,
  };
  return sentence[name] ?? [name.replaceAll("_", " "), ...args.map((one) => names.get(one) ?? one)].join(" ");
}
