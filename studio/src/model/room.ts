/** What a room looks like after each step of a run, from the scene before and the facts of the steps. */

import type { RoomObject, Scene } from "../api";
import { type Changes, observed, type RunDocument, type StoryStep } from "./story";
import { words } from "./trace";

export interface RoomState {
  objects: Map<string, RoomObject>;
  agent: { x: number; z: number; yaw: number };
  held: string | null;
  /** Number of the step after which each object was last in view; 0 is the beginning. */
  seen: Map<string, number>;
}

/** What AI2-THOR calls visible: this near, in metres, and within this angle of the view's middle. */
const NEAR = 1.5;
const ANGLE = 45;

/** Height at which the robot holds a thing, above its head: from above, it is seen too. */
const HAND = 1;

const WORDS: Record<string, string> = {
  opened: "open",
  toggled: "on",
  sliced: "sliced",
  cracked: "cracked",
  cooked: "cooked",
  hot: "hot",
  cold: "cold",
  dirty: "dirty",
  broken: "broken",
};

function start(scene: Scene): RoomState {
  const objects = new Map(scene.objects.map((one) => [one.name, one]));
  const seen = new Map(scene.objects.map((one) => [one.name, 0]));
  return { objects, agent: scene.agent, held: scene.held, seen };
}

/** Return the state after each step, beginning with the one before the first. */
export function roomStates(run: RunDocument): RoomState[] {
  if (run.before === null) {
    return [];
  }
  const pieces = new Map((run.after?.objects ?? []).map((one) => [one.name, one]));
  const states = [start(run.before)];
  for (const step of run.story.steps) {
    const before = states[states.length - 1] as RoomState;
    const next = changed({ ...before, agent: step.pose ?? before.agent }, observed(step), pieces);
    next.seen = looked(next, run.sight, step.number);
    states.push(next);
  }
  return states;
}

/** Return where the model of the world would have things after a step; null where it is not known. */
export function expectedState(before: RoomState, run: RunDocument, at: number): RoomState | null {
  const step = run.story.steps[at - 1];
  if (!step?.expected) {
    return null;
  }
  const pieces = new Map((run.after?.objects ?? []).map((one) => [one.name, one]));
  return changed({ ...before, agent: step.pose ?? before.agent }, step.expected, pieces);
}

/** Return the names of things that are elsewhere, or otherwise, than the robot expects. */
export function differing(one: RoomState, other: RoomState): string[] {
  return [...one.objects.values()]
    .filter((mine) => {
      const theirs = other.objects.get(mine.name);
      return (
        theirs === undefined ||
        mine.place !== theirs.place ||
        [...mine.state].sort().join() !== [...theirs.state].sort().join() ||
        (one.held === mine.name) !== (other.held === mine.name)
      );
    })
    .map((mine) => mine.name);
}

function changed(state: RoomState, [added, deleted]: Changes, pieces: Map<string, RoomObject>): RoomState {
  const next = { ...state, objects: new Map(state.objects) };
  for (const fact of deleted) {
    ended(next, words(fact));
  }
  // Pieces must be there before they are put anywhere.
  const begins = (fact: string) => fact.startsWith("(present ");
  for (const fact of [...added.filter(begins), ...added.filter((one) => !begins(one))]) {
    begun(next, words(fact), pieces);
  }
  if (next.held !== null && next.objects.has(next.held)) {
    move(next, next.held, { x: next.agent.x, y: HAND, z: next.agent.z });
  }
  return next;
}

function ended(state: RoomState, [name = "", first = "", second]: string[]): void {
  const thing = state.objects.get(first);
  if (!thing) {
    return;
  }
  if (name === "holding" && state.held === first) {
    state.held = null;
    move(state, first, { x: state.agent.x, z: state.agent.z, y: 0.02 });
  } else if ((name === "on" || name === "in") && thing.place === second) {
    state.objects.set(first, { ...thing, place: null });
  } else if (name === "present") {
    state.objects.delete(first);
  } else if (name === "filled") {
    const kept = thing.state.filter((word) => !word.startsWith("filled"));
    state.objects.set(first, { ...thing, state: kept });
  } else if (WORDS[name]) {
    state.objects.set(first, { ...thing, state: thing.state.filter((word) => word !== WORDS[name]) });
  }
}

function begun(
  state: RoomState,
  [name = "", first = "", second]: string[],
  pieces: Map<string, RoomObject>,
): void {
  if (name === "present") {
    const piece = pieces.get(first);
    if (piece) {
      state.objects.set(first, piece);
    }
    return;
  }
  const thing = state.objects.get(first);
  if (!thing) {
    return;
  }
  if (name === "holding") {
    state.held = first;
    state.objects.set(first, { ...thing, place: null });
  } else if ((name === "on" || name === "in") && second !== undefined) {
    const place = state.objects.get(second);
    state.objects.set(first, { ...thing, place: second });
    state.held = state.held === first ? null : state.held;
    if (place && place.kind !== "floor") {
      move(state, first, laid(thing, place, state, name === "in"));
    }
  } else if (name === "contains" || (name === "filled" && !filling(thing))) {
    const kept = thing.state.filter((word) => !word.startsWith("filled"));
    state.objects.set(first, { ...thing, state: [...kept, `filled with ${second ?? "something"}`] });
  } else if (WORDS[name] && !thing.state.includes(WORDS[name])) {
    state.objects.set(first, { ...thing, state: [...thing.state, WORDS[name]] });
  }
}

/** Return what a thing is filled with; empty for nothing. */
export function filling(one: RoomObject): string {
  return one.state.find((word) => word.startsWith("filled with "))?.slice("filled with ".length) ?? "";
}

/** Return when each object was last in view, after a step. */
function looked(state: RoomState, sight: string, step: number): Map<string, number> {
  const seen = new Map(state.seen);
  for (const one of state.objects.values()) {
    if (inView(one, state, sight)) {
      seen.set(one.name, step);
    }
  }
  return seen;
}

function inView(one: RoomObject, state: RoomState, sight: string): boolean {
  if (sight !== "doors" && sight !== "visible") {
    return true;
  }
  for (let inside = one.place; inside !== null; ) {
    const place = state.objects.get(inside);
    if (!place) {
      break;
    }
    if (place.kind === "storage" && one.enclosed && !place.state.includes("open")) {
      return false;
    }
    inside = place.place;
  }
  if (sight === "doors" || state.held === one.name) {
    return true;
  }
  const [x, z] = nearest(one.box, state.agent);
  const [dx, dz] = [x - state.agent.x, z - state.agent.z];
  const turn = (Math.atan2(dx, dz) * 180) / Math.PI - state.agent.yaw;
  const off = Math.abs(((((turn + 180) % 360) + 360) % 360) - 180);
  return Math.hypot(dx, dz) <= NEAR && (off <= ANGLE || Math.hypot(dx, dz) < 0.3);
}

function nearest(box: RoomObject["box"], to: { x: number; z: number }): [number, number] {
  return [Math.min(Math.max(to.x, box[0]), box[3]), Math.min(Math.max(to.z, box[2]), box[5])];
}

export function middle(box: RoomObject["box"]): [number, number] {
  return [(box[0] + box[3]) / 2, (box[2] + box[5]) / 2];
}

interface Spot {
  /** The middle of a thing, seen from above. */
  x: number;
  z: number;
  /** Height of its lower side. */
  y: number;
}

/** Return the names of what is on or in a thing, directly or not. */
export function contentsOf(state: RoomState, name: string): Set<string> {
  const found = new Set([name]);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const one of state.objects.values()) {
      if (one.place !== null && found.has(one.place) && one.name !== state.held) {
        found.add(one.name);
      }
    }
  }
  found.delete(name);
  return found;
}

/** Move a thing with all that is on it or in it. */
function move(state: RoomState, name: string, to: Spot): void {
  const thing = state.objects.get(name) as RoomObject;
  const [x, z] = middle(thing.box);
  const by = [to.x - x, to.y - thing.box[1], to.z - z];
  for (const other of [name, ...contentsOf(state, name)]) {
    const one = state.objects.get(other) as RoomObject;
    const box = one.box.map((edge, axis) => edge + (by[axis % 3] as number)) as RoomObject["box"];
    state.objects.set(other, { ...one, box });
  }
}

/** Return where a thing is on or in a place, beside what is there already. */
function laid(thing: RoomObject, place: RoomObject, state: RoomState, inside: boolean): Spot {
  const w = thing.box[3] - thing.box[0];
  const there = [...state.objects.values()].filter(
    (one) => one.place === place.name && one.name !== thing.name,
  );
  const [cx, cz] = middle(place.box);
  const width = place.box[3] - place.box[0] - w;
  const free = [0, 0.25, -0.25, 0.4, -0.4].find((part) =>
    there.every((one) => Math.abs(middle(one.box)[0] - (cx + part * width)) > w),
  );
  const x = cx + (free ?? 0) * Math.max(0, width);
  const y = inside || place.kind === "floor" ? place.box[1] + 0.02 : place.box[4];
  return { x, y, z: cz };
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

function the(name: string, names: Map<string, string>): string {
  const known = names.get(name);
  if (known === undefined) {
    return name;
  }
  return /\d$/.test(known) ? known : `the ${known}`;
}

/** Return a sentence in which things have the names that people use. */
export function named(text: string, names: Map<string, string>): string {
  return text.replace(/[A-Za-z_]+-\d+\b/g, (name) => the(name, names));
}

/** Return what happened at a step, in words; each event is told once. */
export function remarksOf(step: StoryStep, names: Map<string, string>): { event: string; text: string }[] {
  const failure = step.remarks.find((one) => one.event === "failure");
  const reason = (failure?.text || failure?.title || "").replace(/\.?( \(violated .*\))?$/s, "");
  return step.remarks
    .filter((one) => one.event !== "replanning" || !failure)
    .map(({ event, title, text }) => {
      if (event === "failure") {
        return { event, text: named((text || title).replace(/ \(violated .*\)$/s, ""), names) };
      }
      // Without the reason again that the failure has told.
      const rest =
        reason && text.startsWith(reason) ? text.slice(reason.length).replace(/^[.;: ]+/, "") : text;
      return { event, text: named(rest ? `${title}: ${rest}` : title, names) };
    });
}

/** Return an action in words: `(put_on mug-1 table-1)` becomes "put the mug on the table". */
export function told(action: string, names: Map<string, string>): string {
  const [name = "", ...args] = words(action);
  const [first = "", second = ""] = args.map((one) => the(one, names));
  const sentence: Record<string, string> = {
    navigate_to_obj: `go to ${first}`,
    pick_up: `pick up ${first}`,
    put_on: `put ${first} on ${second}`,
    put_in: `put ${first} in ${second}`,
    open_obj: `open ${first}`,
    close_obj: `close ${first}`,
    toggle_on: `switch on ${first}`,
    toggle_off: `switch off ${first}`,
    slice_obj: `slice ${first}`,
    crack_obj: `crack ${first}`,
    pour: `pour ${first} into ${second}`,
  };
  return sentence[name] ?? [name.replaceAll("_", " "), ...args.map((one) => names.get(one) ?? one)].join(" ");
}

/** Return a fact in words: `(not (on mug-1 table-1))` becomes "the mug is not on the table". */
export function factWords(fact: string, names: Map<string, string>, holds = true): string {
  const negated = /^\(not (\(.*\))\)$/.exec(fact);
  if (negated?.[1]) {
    return factWords(negated[1], names, !holds);
  }
  const [name = "", ...args] = words(fact);
  const [first = "", second = ""] = args.map((one) => the(one, names));
  const no = holds ? "" : "not ";
  const sentence: Record<string, string> = {
    holding: `the robot ${holds ? "holds" : "does not hold"} ${first}`,
    hand_empty: `the hand is ${no}empty`,
    near: `the robot is ${no}near ${first}`,
    on: `${first} is ${no}on ${second}`,
    in: `${first} is ${no}in ${second}`,
    contains: `${first} ${holds ? "contains" : "does not contain"} ${second}`,
    filled: `${first} is ${no}filled`,
    opened: `${first} is ${no}open`,
    toggled: `${first} is ${no}on`,
    present: `there is ${holds ? "" : "no longer "}${first}`,
  };
  if (args.length === 1 && names.has(args[0] ?? "") && !sentence[name]) {
    return WORDS[name] ? `${first} is ${no}${WORDS[name]}` : `${first}: ${no}${name.replaceAll("_", " ")}`;
  }
  return sentence[name] ?? `${no}${fact}`;
}
