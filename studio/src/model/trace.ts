/** States, differences and causes of a plan, from what each step needs and changes. */

import type { Trace, TracedStep } from "../api";
import { decimal, valueAt } from "./curves";

/** A step with its start and duration. */
export interface NamedSpan {
  action: string;
  start: number;
  length: number;
}

/** Return a text, shortened with an ellipsis. */
export function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Return the numbers at the time of a change, as facts. */
function numbersAfter(trace: Trace, count: number): string[] {
  const time = count === 0 ? 0 : (trace.steps[count - 1]?.time ?? count);
  return trace.curves.flatMap((curve) => {
    const value = valueAt(curve, time);
    return value === null ? [] : [`(= ${curve.fluent} ${decimal(value)})`];
  });
}

/** Return the facts and numbers after the first `count` changes, sorted. */
export function stateAfter(trace: Trace, count: number): string[] {
  const facts = new Set(
    trace.curves.length > 0 ? trace.initial.filter((fact) => !fact.startsWith("(= ")) : trace.initial,
  );
  for (const fact of numbersAfter(trace, count)) {
    facts.add(fact);
  }
  for (const step of trace.steps.slice(0, count)) {
    if (!step.ok) {
      break;
    }
    for (const fact of step.deleted) {
      facts.delete(fact);
    }
    for (const fact of step.added) {
      facts.add(fact);
    }
  }
  return [...facts].sort();
}

/** A fact that one step makes true and a later one needs. */
export interface Cause {
  fact: string;
  from: number;
  to: number;
}

/** Return all causes of a plan; step 0 is the initial state. */
export function causes(trace: Trace): Cause[] {
  return trace.steps.flatMap((step) =>
    step.needs
      .filter((need) => need.made_true_by !== null && need.made_true_by !== step.step)
      .map((need) => ({ fact: need.condition, from: need.made_true_by as number, to: step.step })),
  );
}

const groups = new WeakMap<Cause[], Map<number, number[]>>();

/** Return, for each step, the steps that make its conditions true; the initial state is left out. */
function grouped(all: Cause[]): Map<number, number[]> {
  const known = groups.get(all);
  if (known) {
    return known;
  }
  const found = new Map<number, number[]>();
  for (const { from, to } of all) {
    if (from > 0) {
      found.set(to, [...(found.get(to) ?? []), from]);
    }
  }
  groups.set(all, found);
  return found;
}

/** Return the steps that a step depends on, directly or not, with itself. */
export function chain(all: Cause[], step: number): Set<number> {
  const before = grouped(all);
  const found = new Set([step]);
  // A set is walked in the order of its members, including those that are added meanwhile.
  for (const here of found) {
    for (const from of before.get(here) ?? []) {
      found.add(from);
    }
  }
  return found;
}

/** Return name and arguments of a ground action or fact: `(on a b)` becomes `["on", "a", "b"]`. */
export function words(text: string): string[] {
  return text
    .replace(/^\(|\)$/g, "")
    .trim()
    .split(/\s+/)
    .filter(Boolean);
}

/** Return an action as a person reads it: `pick-up a`. */
export function spoken(action: string): string {
  return words(action).join(" ");
}

export interface Placed {
  step: TracedStep;
  column: number;
  row: number;
}

/** Place steps in columns: each step is to the right of those that it depends on. */
export function layout(trace: Trace, all: Cause[]): Placed[] {
  const columns = new Map<number, number>();
  const used = new Map<number, number>();
  const placed: Placed[] = [];
  for (const step of trace.steps) {
    if (step.step === 0 || columns.has(step.step)) {
      continue;
    }
    const before = grouped(all).get(step.step) ?? [];
    const column = Math.max(-1, ...before.map((from) => columns.get(from) ?? -1)) + 1;
    columns.set(step.step, column);
    const row = used.get(column) ?? 0;
    used.set(column, row + 1);
    placed.push({ step, column, row });
  }
  return placed;
}

export interface Pair {
  left: string | null;
  right: string | null;
}

/** Align two plans by their longest common subsequence. */
export function align(left: string[], right: string[]): Pair[] {
  const best = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  const at = (row: number, column: number) => best[row]?.[column] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = best[i] as number[];
      row[j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: Pair[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      pairs.push({ left: left[i++] ?? null, right: right[j++] ?? null });
    } else if (j >= right.length || (i < left.length && at(i + 1, j) >= at(i, j + 1))) {
      pairs.push({ left: left[i++] ?? null, right: null });
    } else {
      pairs.push({ left: null, right: right[j++] ?? null });
    }
  }
  return pairs;
}

/** Return the steps of a plan text: one per list in parentheses, without comments. */
export function stepsOf(plan: string): string[] {
  if (plan.includes("==>")) {
    return actionLines(plan).map(([, action]) => `(${action})`);
  }
  return plan
    .split("\n")
    .map((line) => line.replace(/;.*/, ""))
    .flatMap((line) => line.match(/\([^()]*\)/g) ?? [])
    .map((step) => step.toLowerCase().replace(/\s+/g, " ").replace("( ", "(").replace(" )", ")"));
}

/** Return the 1-based line of each step in a plan text. */
export function linesOfSteps(plan: string): number[] {
  if (plan.includes("==>")) {
    return actionLines(plan).map(([line]) => line);
  }
  return plan.split("\n").flatMap((line, index) => {
    const found = line.replace(/;.*/, "").match(/\([^()]*\)/g) ?? [];
    return found.map(() => index + 1);
  });
}

/** Return line and action of each step of a plan with its decomposition: `4 load van1 lamp`. */
function actionLines(plan: string): [number, string][] {
  const lines = plan.split("\n").map((line) => line.trim());
  const first = lines.indexOf("==>");
  const found: [number, string][] = [];
  for (const [index, line] of lines.entries()) {
    const action = line.match(/^\d+\s+([^;>]*)$/)?.[1];
    if (index > first && line.startsWith("root")) {
      break;
    }
    if (index > first && action) {
      found.push([index + 1, action.toLowerCase().split(/\s+/).join(" ")]);
    }
  }
  return found;
}

/** Return the parts of a fact, a comparison or an action: `(not (on a b))` is not, `on`, `a b`. */
export function literalParts(text: string): { not: boolean; name: string; rest: string } {
  const inner = text.match(/^\(not (\(.*\))\)$/s)?.[1];
  const [name = "", ...rest] = words(inner ?? text);
  const flat = rest.join(" ");
  if (name === "=" && flat.startsWith("(")) {
    const end = flat.indexOf(")");
    return { not: inner !== undefined, name: flat.slice(1, end), rest: `= ${flat.slice(end + 1).trim()}` };
  }
  return { not: inner !== undefined, name, rest: flat };
}
